#!/usr/bin/env python3
"""A room includes only rooms listed before it; libraries stay where they belong; a header comes first in its own file."""

import os
import re

import tree

ROOMS = ["sys", "child", "base", "policy", "formats", "isolate", "run", "lib", "cli"]
# The code between clone and exec: nothing of ours but the thin system call wrappers.
CHILD_MAY = {"sys", "child"}
PUBLIC_FROM = "policy"
PUBLIC_IN_BASE = "fumehood/error.h"
LIBRARIES = {"jansson": {"formats"}, "yaml": {"formats"}, "openssl": {"base"}, "cmocka": set()}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def includes(name):
    text = tree.blank_comments(tree.read(name), strings=False)
    return [(text.count("\n", 0, m.start()) + 1, m.group(1), m.group(2)) for m in INCLUDE.finditer(text)]


def check_room(name, room, findings):
    rank = ROOMS.index(room)
    for line, quote, target in includes(name):
        where = "%s:%d" % (name, line)
        head = target.split("/")[0].split(".")[0]
        if head in LIBRARIES:
            if room not in LIBRARIES[head]:
                findings.append("%s: room '%s' may not include <%s>; it belongs to: %s"
                                % (where, room, target, ", ".join(sorted(LIBRARIES[head])) or "tests only"))
        elif head == "fumehood":
            if rank < ROOMS.index(PUBLIC_FROM) and not (room == "base" and target == PUBLIC_IN_BASE):
                findings.append("%s: public headers may be included from room '%s' on up" % (where, PUBLIC_FROM))
        elif quote == '"':
            if target.endswith(".def") or target.endswith(".inc"):
                target = target if "/" in target else "%s/%s" % (room, target)
            if "/" not in target:
                findings.append('%s: write "%s/%s": headers are named with their room' % (where, room, target))
                continue
            other = target.split("/")[0]
            if other not in ROOMS:
                findings.append("%s: '%s' is no room" % (where, other))
            elif room == "child" and other not in CHILD_MAY:
                findings.append("%s: room 'child' may include only sys and itself, not %s" % (where, target))
            elif ROOMS.index(other) > rank:
                findings.append("%s: room '%s' may not include %s: '%s' is a higher room" % (where, room, target, other))


def check_first(name, findings):
    """x.c includes x.h first, so that every header is known to stand on its own."""
    header = name[:-2] + ".h"
    if not os.path.exists(os.path.join(tree.ROOT, header)):
        return
    found = includes(name)
    if not found or found[0][2] != header[len("src/"):]:
        findings.append('%s:%d: include "%s" first' % (name, found[0][0] if found else 1, header[len("src/"):]))


def main():
    findings, looked = [], 0
    for name in tree.tracked():
        parts = name.split("/")
        if parts[0] == "src" and len(parts) > 2 and name.endswith((".c", ".h")):
            looked += 1
            if parts[1] not in ROOMS:
                findings.append("%s:1: '%s' is no room; rooms are %s" % (name, parts[1], " ".join(ROOMS)))
                continue
            check_room(name, parts[1], findings)
            if name.endswith(".c"):
                check_first(name, findings)
        elif parts[0] == "include" and name.endswith(".h"):
            looked += 1
            for line, quote, target in includes(name):
                if not target.startswith("fumehood/") and quote == '"':
                    findings.append('%s:%d: a public header includes only <system> and "fumehood/...", not %s'
                                    % (name, line, target))
    tree.finish(findings, looked)


main()
