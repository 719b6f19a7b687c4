#!/usr/bin/env python3
"""What the documents say is what the program does: flags in man pages and completion, examples that run."""

import glob
import os
import re

from harness import ROOT, command, contains, equal, fumehood, main, needs, scratch, test


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as f:
        return f.read()


def plain(roff):
    """The text of a man page, near enough to look for words in it."""
    return re.sub(r"\\f[BIR]", "", roff).replace("\\-", "-")


def verbs():
    """The commands as `fumehood --help` lists them."""
    return re.findall(r"^  (\w+) +\S", fumehood("--help").text, re.M)


def flags(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))


def complete(*words):
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fumehood; printf "%s\\n" "${COMPREPLY[@]}"'
    return command("bash", "-c", script, "-", os.path.join(ROOT, "completions", "fumehood.bash"), *words).text.split()


@test
def every_flag_of_every_command_is_in_the_man_page():
    page = plain(read("docs", "man", "fumehood.1"))
    found = verbs()
    assert len(found) >= 5, "commands of --help: %r" % found
    for verb in found:
        contains(page, "\n.B %s\n" % verb, "the page's commands")
        missing = flags(fumehood(verb, "--help").text) - flags(page) - {"--help"}
        equal(missing, set(), "flags of %s that the page lacks" % verb)


@test
def the_man_page_names_no_flag_that_is_not_there():
    known = set().union(*(flags(fumehood(verb, "--help").text) for verb in verbs())) | {"--version", "--help"}
    equal(flags(plain(read("docs", "man", "fumehood.1"))) - known, set(), "flags that no command has")


@test
@needs(lambda: None if os.path.exists("/bin/bash") else "no bash")
def the_completion_knows_commands_and_flags():
    equal(set(verbs()) - set(complete("fumehood", "")), set(), "commands that are not completed")
    for verb in verbs():
        if "python" != verb != "policy" and verb != "fs":
            equal(flags(fumehood(verb, "--help").text) - set(complete("fumehood", verb, "--")), set(),
                  "flags of %s that are not completed" % verb)
    equal(complete("fumehood", "run", "--level", "na"), ["namespace"])
    assert "--wall" not in complete("fumehood", "run", "--", "ls", "--"), "flags of the program are not ours"


@test
def the_policy_example_of_the_man_page_is_valid():
    page = plain(read("docs", "man", "fumehood-policy.5"))
    path = os.path.join(scratch(), "policy.yaml")
    with open(path, "w") as f:
        f.write(re.search(r"\.EX\n(.*?)\.EE", page, re.S).group(1))
    done = fumehood("policy", "check", path)
    equal(done.status, 0, "%r" % done)
    equal(done.text, path + ": valid\n")


@test
def every_key_of_the_schema_is_in_the_man_page():
    page = plain(read("docs", "man", "fumehood-policy.5"))
    schema = fumehood("policy", "schema").text
    keys = re.findall(r'^    "(\w+)": ?\{', schema, re.M) or re.findall(r'"(\w+)":\{"description"', schema)
    assert len(keys) > 10, "keys of the schema: %r" % keys
    for key in keys:
        assert re.search(r"^\.BR? %s( |$)" % key, page, re.M), "the page lacks the key %s" % key


@test
def every_relative_link_of_the_documents_leads_somewhere():
    pages = [os.path.relpath(p, ROOT) for p in glob.glob(ROOT + "/*.md") + glob.glob(ROOT + "/docs/*.md")]
    assert len(pages) >= 6, "pages: %r" % pages
    for name in pages:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[\w-]*)?\)", read(name)):
            target = os.path.join(ROOT, os.path.dirname(name), link)
            assert os.path.exists(target), "%s links to %s, which is not there" % (name, link)


main()
