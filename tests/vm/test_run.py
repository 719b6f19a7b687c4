#!/usr/bin/env python3
"""Whole runs in a virtual machine: Debian's own kernel, control groups v2 alone, older Landlock; what this machine is
not. The program comes along with a busybox for it to run."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "system"))

from harness import FUMEHOOD, ROOT, command, contains, equal, main, skip, test

SECONDS = 240
SETUP = "mkdir -p /usr/bin /tmp /run; cp /bin/busybox /usr/bin/busybox 2>/dev/null; "


def run_in(shape, line, *more, status=0):
    done = command(os.path.join(ROOT, "tests", "vm", "run"), "--cgroups", shape, "--timeout", "150", *more,
                   "--file", FUMEHOOD + ":/fumehood", "--", SETUP + line, timeout=SECONDS - 10)
    if done.status == 77:
        skip(done.text.strip())
    equal(done.status, status, "status in %r" % done.text[-3000:])
    return done.text


def results(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"id"')]


LIMITS = """
run() { /fumehood run --json "$@"; }
run -- /usr/bin/busybox id
run --memory 32M -- /usr/bin/busybox sh -c 'a=x; while :; do a=$a$a; done'
run --pids 5 -- /usr/bin/busybox sh -c 'for i in 1 2 3 4 5 6 7 8 9; do /usr/bin/busybox sleep 1 & done; wait'
run --cpu 300ms -- /usr/bin/busybox sh -c 'while :; do :; done'
run --wall 2s -- /usr/bin/busybox sh -c '(trap "" TERM; /usr/bin/busybox setsid /usr/bin/busybox sleep 600) & wait'
echo left: $(ls -d /sys/fs/cgroup/fumehood-*-* 2>/dev/null) $(pgrep -f "[s]leep 600")
"""


@test(timeout=SECONDS)
def limits_are_held_by_groups_of_v2():
    text = run_in("v2", LIMITS)
    told = results(text)
    equal([r["verdict"] for r in told], ["ok", "memory", "pids", "cpu", "wall"], "verdicts")
    for r in told:
        means = {axis: r["receipt"]["limits"][axis]["means"] for axis in ("cpu", "memory", "pids", "disk")}
        equal(means, {"cpu": "cgroup", "memory": "cgroup", "pids": "cgroup", "disk": "tmpfs"}, "means")
        equal((r["receipt"]["seccomp"]["mode"], r["receipt"]["landlock_abi"] > 0), (2, True), "walls")
    contains(text, "left:\n")


@test(timeout=SECONDS)
def without_groups_a_watch_holds_memory_and_time():
    told = results(run_in("none", LIMITS.replace("run --pids", "true --pids")))
    equal([r["verdict"] for r in told], ["ok", "memory", "cpu", "wall"], "verdicts")
    equal({r["receipt"]["limits"]["memory"]["means"] for r in told}, {"watch"}, "means")


@test(timeout=SECONDS)
def an_ordinary_user_with_a_delegated_group_has_it_all():
    # A shell beside it would make the group a crowded one, which hands no controllers down.
    told = results(run_in("v2-alone", "exec /fumehood run --json --memory 32M -- /usr/bin/busybox sh -c "
                          "'a=x; while :; do a=$a$a; done'", "--user", "user", status=123))
    equal([r["verdict"] for r in told], ["memory"], "verdicts")
    equal(told[0]["receipt"]["limits"]["memory"]["means"], "cgroup", "means")


main()
