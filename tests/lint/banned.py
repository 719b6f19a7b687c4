#!/usr/bin/env python3
"""Functions we do not call: without a bound, with hidden state, or through a shell."""

import re

import tree

BANNED = {
    "strcpy": "use fh_buf_adds or snprintf", "strcat": "use fh_buf_adds", "stpcpy": "use fh_buf_adds",
    "strncpy": "it may leave the end off; use snprintf", "strncat": "use fh_buf_add",
    "sprintf": "use snprintf or fh_buf_addf", "vsprintf": "use vsnprintf or fh_buf_addf",
    "strtok": "it keeps hidden state; use strsep or strchr", "gets": "use fgets or read",
    "alloca": "the stack has no bound to report; use the heap or a fixed array",
    "system": "no shell; use the launcher", "popen": "no shell; use the launcher",
    "tmpnam": "use mkostemp", "mktemp": "use mkostemp", "atoi": "it cannot report a mistake; use strtol",
}
CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(BANNED))


def main():
    findings = []
    names = tree.c_files("src/", "include/")
    for name in names:
        text = tree.blank_comments(tree.read(name))
        for m in CALL.finditer(text):
            findings.append("%s:%d: %s: %s" % (name, text.count("\n", 0, m.start()) + 1, m.group(1), BANNED[m.group(1)]))
    tree.finish(findings, len(names))


main()
