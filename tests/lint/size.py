#!/usr/bin/env python3
"""Functions fit a screen and files a sitting.

usage: size.py files        no file above 600 lines
       size.py functions    no function above 80 lines
       size.py complexity   no function above a cyclomatic complexity of 20 (needs pmccabe)
"""

import re
import shutil
import subprocess
import sys

import tree

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 80
COMPLEXITY_MAX = 20


def files():
    findings = []
    names = [n for n in tree.tracked() if n.endswith((".c", ".h", ".py", ".sh")) or n.startswith(("script/", ".ci/"))]
    for name in names:
        n = tree.read(name).count("\n")
        if n > FILE_LINES_MAX:
            findings.append("%s:1: %d lines, at most %d: split it by job" % (name, n, FILE_LINES_MAX))
    tree.finish(findings, len(names))


def functions():
    """In our style a body starts with '{' in the first column below a line that ends in ')' and ends with '}' there."""
    findings = []
    names = tree.c_files()
    for name in names:
        lines = tree.blank_comments(tree.read(name)).split("\n")
        start = None
        for i, line in enumerate(lines):
            if line.startswith("{") and i and re.search(r"\)\s*$", lines[i - 1]):
                start = i
            elif line.startswith("}") and start is not None:
                length = i - start - 1
                if length > FUNCTION_LINES_MAX:
                    findings.append("%s:%d: a function of %d lines, at most %d: name its steps"
                                    % (name, start, length, FUNCTION_LINES_MAX))
                start = None
    tree.finish(findings, len(names))


def complexity():
    if not shutil.which("pmccabe"):
        tree.skip("pmccabe is not installed (apt-get install pmccabe)")
    names = [n for n in tree.c_files("src/") if n.endswith(".c")]
    if not names:
        tree.finish([], 0)
    out = subprocess.run(["pmccabe"] + names, cwd=tree.ROOT, stdout=subprocess.PIPE, check=True,
                         universal_newlines=True).stdout
    findings = []
    for row in out.splitlines():
        # modified, traditional, statements, first line, lines, "file(line): function"
        cells = row.split("\t")
        if len(cells) >= 6 and int(cells[0]) > COMPLEXITY_MAX:
            findings.append("%s: complexity %s, at most %d" % (cells[5], cells[0], COMPLEXITY_MAX))
    tree.finish(findings, len(names))


{"files": files, "functions": functions, "complexity": complexity}[sys.argv[1]]()
