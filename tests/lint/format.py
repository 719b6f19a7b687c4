#!/usr/bin/env python3
"""C files are as clang-format 14 writes them (`script/format` does it). Other versions wrap differently and are not used."""

import os
import re
import shutil
import subprocess
import sys

import tree


def tool():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path:
            text = subprocess.run([path, "--version"], stdout=subprocess.PIPE, universal_newlines=True).stdout
            if re.search(r"version 14\.", text):
                return path
    tree.skip("clang-format 14 is not installed (apt-get install clang-format-14)")


def main():
    path = tool()
    names = tree.c_files()
    if sys.argv[1:] == ["--fix"]:
        subprocess.run([path, "-i"] + names, cwd=tree.ROOT, check=True)
        return
    findings = []
    for name in names:
        with open(os.path.join(tree.ROOT, name), "rb") as f:
            have = f.read()
        want = subprocess.run([path, name], cwd=tree.ROOT, stdout=subprocess.PIPE, check=True).stdout
        if have != want:
            same = 0
            for same, (a, b) in enumerate(zip(have.splitlines(), want.splitlines())):
                if a != b:
                    break
            findings.append("%s:%d: not formatted: run script/format" % (name, same + 1))
    tree.finish(findings, len(names))


main()
