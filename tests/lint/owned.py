#!/usr/bin/env python3
"""What is released at the end of its scope has a value before the scope can end: fh_autofd, fh_autofree, fh_autofile and
fh_autodir at their declaration, an fh_autobuf before the first return below it."""

import re

import tree

SINGLE = re.compile(r"^\s+fh_auto(?:fd|free|file|dir) ([^;=]*);")
BUFFER = re.compile(r"^\s+fh_autobuf ([^;=]*);")


def first_use(lines, start, name):
    """The line that first says the name or leaves the function."""
    for i in range(start, len(lines)):
        if re.search(r"&%s\b" % re.escape(name), lines[i]) or re.search(r"\breturn\b", lines[i]) or lines[i].startswith("}"):
            return i
    return len(lines) - 1


def main():
    findings = []
    names = [n for n in tree.c_files() if n.endswith(".c")]
    for name in names:
        lines = tree.blank_comments(tree.read(name)).split("\n")
        for i, line in enumerate(lines):
            single, buffer = SINGLE.match(line), BUFFER.match(line)
            if single:
                findings.append("%s:%d: '%s' has no value: write -1 or NULL" % (name, i + 1, single.group(1)))
            for b in buffer.group(1).split(",") if buffer else ():
                at = first_use(lines, i + 1, b.strip())
                if re.search(r"\breturn\b", lines[at]) and "fh_buf_init" not in lines[at]:
                    findings.append("%s:%d: returns before fh_buf_init(&%s)" % (name, at + 1, b.strip()))
    tree.finish(findings, len(names))


main()
