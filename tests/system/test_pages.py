#!/usr/bin/env python3
"""The shell examples of the pages for each kind of reader print what the pages say.

A page holds blocks ```sh and, right behind one, ```text with all that it prints; "..." there stands for anything, also
for nothing. The blocks of a page run in order, in one folder that is empty at first, by bash, which a failure stops.
"""

import os
import re
import subprocess

from harness import FUMEHOOD, ROOT, main, scratch, test
from host import tool

PAGES = ("trainers", "agents", "operators", "reviewers")
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)


def blocks(page):
    with open(os.path.join(ROOT, "docs", page + ".md"), encoding="utf-8") as f:
        return BLOCK.findall(f.read())


def as_pattern(text):
    return ".*".join(re.escape(part) for part in text.split("..."))


def try_page(page):
    found = blocks(page)
    assert len(found) >= 2, "docs/%s.md has only %d examples" % (page, len(found))
    folder, bin_folder = scratch(), scratch()
    os.symlink(FUMEHOOD, os.path.join(bin_folder, "fumehood"))
    environment = dict(os.environ, PATH=bin_folder + ":" + os.environ["PATH"])
    for script, expected in found:
        done = subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=50)
        printed = done.stdout.decode("utf-8", "replace")
        shown = "%s\nprinted, with status %d:\n%s" % (script, done.returncode, printed)
        assert done.returncode == 0, "an example of docs/%s.md failed:\n%s" % (page, shown)
        assert re.fullmatch(as_pattern(expected), printed, re.S), "docs/%s.md promises something else:\n%s" % (page, shown)


def register(page):
    def examples():
        try_page(page)
    examples.__name__ = "the_examples_of_the_page_for_%s_do_what_it_says" % page
    test(examples)


for page in PAGES:
    register(page)
main("userns", tool("bash"))
