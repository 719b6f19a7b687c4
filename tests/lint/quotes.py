#!/usr/bin/env python3
"""Programs that a page of docs/ shows are the files they are said to be. `quotes.py --fix` copies them in.

A page quotes a file by a line `<!-- path -->` right before a fenced block.
"""

import os
import re
import sys

import tree

QUOTE = re.compile(r"(<!-- (\S+) -->\n```\w*\n)(.*?)(```\n)", re.S)


def main():
    findings, looked = [], 0
    for page in [n for n in tree.tracked() if n.startswith("docs/") and n.endswith(".md")]:
        text = tree.read(page)

        def quoted(m):
            if not os.path.isfile(os.path.join(tree.ROOT, m.group(2))):
                findings.append("%s: quotes %s, which does not exist" % (page, m.group(2)))
                return m.group(0)
            return m.group(1) + tree.read(m.group(2)) + m.group(4)

        looked += len(QUOTE.findall(text))
        right = QUOTE.sub(quoted, text)
        if right != text and sys.argv[1:] == ["--fix"]:
            with open(os.path.join(tree.ROOT, page), "w", encoding="utf-8") as f:
                f.write(right)
        elif right != text:
            findings.append("%s: a quoted program is not its file any more: run tests/lint/quotes.py --fix" % page)
    tree.finish(findings, looked)


main()
