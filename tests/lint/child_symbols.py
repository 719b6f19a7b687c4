#!/usr/bin/env python3
"""The code between clone and exec calls only what is safe there.

usage: child_symbols.py LIBFH_CHILD.a [LIBFH_SYS.a]

Every symbol that the child library needs from outside must stand in child_symbols.txt. What it takes from the sys
library is followed: the object file that defines it must keep to the same list.
"""

import os
import re
import shutil
import subprocess
import sys

import tree

LIST = "tests/lint/child_symbols.txt"
# Takes a lock, keeps hidden state, allocates, or runs other code: may never be put on the list.
NEVER = re.compile(r"^(malloc|calloc|realloc|free|strdup|asprintf|.*printf.*|f?puts|fopen.*|fclose|fwrite|fflush|exit|abort|"
                   r"atexit|getpw.*|getgr.*|setenv|putenv|getenv|syslog|pthread_.*|dl(open|sym)|opendir|readdir|strerror.*|"
                   r"perror|set(e|re|res)?[ug]id|setgroups|initgroups|fh_(?!sys_|child_).*)$")


def allowed():
    names = set()
    for number, line in enumerate(tree.read(LIST).splitlines(), 1):
        name = line.split("#")[0].strip()
        if not name:
            continue
        if NEVER.match(name):
            print("%s:%d: %s is not safe between clone and exec" % (LIST, number, name))
            sys.exit(1)
        names.add(name)
    return names


def members(archive):
    """{object file: (symbols it defines, symbols it needs)}"""
    out = subprocess.run(["nm", "-A", archive], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    objects = {}
    for line in out.splitlines():
        m = re.match(r"(.*?):\s*(?:[0-9a-fA-F]+)?\s*([A-Za-z])\s+(\S+)$", line)
        if m:
            defines, needs = objects.setdefault(m.group(1), (set(), set()))
            (needs if m.group(2) in "Uwv" else defines).add(m.group(3))
    return objects


def is_safe(symbol, names):
    # -D_FORTIFY_SOURCE turns memcpy into __memcpy_chk, which is memcpy with one comparison.
    m = re.match(r"^__(\w+)_chk$", symbol)
    return symbol in names or (m and m.group(1) in names) or symbol == "_GLOBAL_OFFSET_TABLE_"


def main():
    if not shutil.which("nm"):
        tree.skip("nm is not installed (apt-get install binutils)")
    archives = [a for a in sys.argv[1:] if os.path.exists(a)]
    if not archives:
        tree.skip("the child library is not built")
    names = allowed()
    child = members(archives[0])
    others = {}
    for a in archives[1:]:
        others.update(members(a))
    everything = dict(child)
    findings, todo, seen = [], list(child), set()
    while todo:
        obj = todo.pop()
        if obj in seen:
            continue
        seen.add(obj)
        for symbol in sorted(everything.get(obj, others.get(obj))[1]):
            if any(symbol in d for d, _ in child.values()) or is_safe(symbol, names):
                continue
            home = next((o for o, (d, _) in others.items() if symbol in d), None)
            if home:
                todo.append(home)
            else:
                findings.append("%s: needs %s, which is not in %s: is it safe between clone and exec?"
                                % (os.path.basename(obj), symbol, LIST))
    if any(re.match(r"__(asan|ubsan|tsan|msan)_", s) for _, needs in child.values() for s in needs):
        tree.skip("built with a sanitizer, which adds calls of its own")
    tree.finish(sorted(set(findings)), len(seen))


main()
