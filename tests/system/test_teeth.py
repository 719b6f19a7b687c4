#!/usr/bin/env python3
"""Each protection is switched off once, and the tests that watch over it have to notice.

Needs the build with faults (-Dfaults=true), in which FUMEHOOD_SWITCH turns a protection off; script/test faults makes it.
A test that passes with its protection off is worth nothing.
"""

import os
import re
import sys

import host
from harness import FUMEHOOD, command, main, needs, test

HERE = os.path.dirname(os.path.abspath(__file__))

# switches, file, words that choose the tests, what their failure says. Where two layers refuse the same thing both are
# off: the test must notice when the last one is gone.
BITES = [
    ("root-ro", "walls", ["every mount but four"], "BREACH: / tmpfs rw"),
    ("proc-ro", "walls", ["every mount but four"], "BREACH: /proc proc rw"),
    ("proc-ro,landlock", "walls", ["settings of the kernel"], "BREACH: what could be written"),
    ("proc-masks", "walls", ["files of proc about the host"], "what /proc and /sys tell is"),
    ("caps", "walls", ["every thread and child"], "BREACH: bounding set"),
    ("seccomp", "walls", ["every thread and child"], "BREACH: bounding set and seccomp"),
    ("no-new-privs,seccomp,landlock", "walls", ["every thread and child"], "BREACH: NoNewPrivs"),
    ("nested-userns,seccomp", "walls", ["power cannot be regained"], "BREACH: power regained"),
    ("netns", "walls_network", ["no listener of the host"], "BREACH: tripwires that fired"),
    ("netns", "walls_network", ["a loopback and nothing else"], "interfaces, routes is"),
    ("netns", "walls_network", ["what listens inside"], "BREACH: the program was reached"),
    ("seccomp", "walls_network", ["only four families"], "families that open is"),
    ("seccomp", "walls_kernel", ["privileged and exotic"], "BREACH: answers but EPERM and ENOSYS"),
    ("seccomp", "walls_kernel", ["arguments are looked at"], "is "),
    ("seccomp", "walls_kernel", ["cannot be loosened"], "verdict signal"),
    ("landlock", "level1", ["files outside cannot"], "BREACH: "),
    # As root the program has an id of its own, which holds off signals without Landlock, too.
    ("landlock", "level1", ["signals reach nobody"], "BREACH: those outside", host.need_user),
    ("landlock", "level1", ["abstract sockets outside"], "BREACH: a connection came"),
    ("seccomp", "level1", ["no socket but a local one"], "families is"),
    ("seccomp", "level1", ["objects that outlive"], "is "),
    ("rlimits", "limits", ["open files are refused"], "answers is"),
    ("rlimits", "limits", ["a file over its size"], "verdict"),
    ("limit-wall", "limits", ["real time ends a sleeper"], "its time is"),
    ("limit-cpu", "limits", ["processor time ends a busy"], "processor time is"),
    ("limit-memory", "limits", ["memory by heap"], "MiB at most"),
    ("limit-pids", "limits", ["a fork bomb is bounded"], "processes at a time is"),
    ("limit-disk", "limits", ["a big file fills"], "verdict ok"),
    ("limit-inodes", "limits", ["many small files"], "is"),
    ("limit-output_stop", "limits", ["output over its limit"], "is"),
]


def faults_build():
    with open(FUMEHOOD, "rb") as f:
        return None if b"FUMEHOOD_SWITCH" in f.read() else "this build has no switches; -Dfaults=true has"


def bite(switches, name, words, says, *wants):
    def body():
        done = command(sys.executable, "-B", os.path.join(HERE, "test_%s.py" % name), *words, env={"FUMEHOOD_SWITCH": switches},
                       timeout=100)
        text = done.text
        count = re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped$", text.strip())
        if count and count.group(3) != "0":
            raise host.Skip("the test itself is skipped here: " + text.splitlines()[0])
        if done.status != 1 or not count or count.group(1) != "0":
            raise AssertionError("the test did not notice that %s is off: %s" % (switches, text))
        fails = [x for x in text.splitlines() if x.startswith("FAIL ")]
        if not any(says in x for x in fails):
            raise AssertionError("it failed for another reason than %r: %s" % (says, text))
    body.__name__ = "without_%s_%s_fails" % (re.sub(r"\W", "_", switches), "_".join(words).replace(" ", "_"))
    test(needs(faults_build, *wants)(body), timeout=110)


for _row in BITES:
    bite(*_row)


main()
