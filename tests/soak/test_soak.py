#!/usr/bin/env python3
"""Many runs in a row, of every kind of end: each is told as what it was, none gets slower, nothing adds up.

FUMEHOOD_SOAK is how often the list is gone through (default 60: about a minute).
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from harness import equal, main, needs, result, test  # noqa: E402

ROUNDS = int(os.environ.get("FUMEHOOD_SOAK", "60"))
# Options and command, verdict.
ENDS = [
    (["--", "true"], "ok"),
    (["--", "false"], "exit"),
    (["--", "sh", "-c", "kill -9 $$"], "signal"),
    (["--wall", "100ms", "--", "sleep", "9"], "wall"),
    (["--output-stop", "10K", "--", "sh", "-c", "while :; do echo yyyyyyyyyyyyyyyy; done"], "output"),
    (["--", "sh", "-c", "sleep 99 & setsid sleep 98 & exit 0"], "ok"),
    (["--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do mkdir d$i; echo $i > d$i/f; done"], "ok"),
    (["--", "no-such-command"], "sandbox"),
]


def soak(*options):
    setup_ms = []
    for _ in range(ROUNDS):
        for rest, verdict in ENDS:
            got = result("run", *options, *rest)
            equal(got["verdict"], verdict, "verdict of %r" % (rest,))
        setup_ms.append(got["time_ms"]["setup"])
    if ROUNDS >= 20:
        early, late = statistics.median(setup_ms[:ROUNDS // 4]), statistics.median(setup_ms[-(ROUNDS // 4):])
        assert late < 4 * early + 20, "a set-up took %.1f ms at first and %.1f ms at last" % (early, late)


@test(timeout=600)
@needs("userns")
def many_runs_at_level_namespace():
    soak()


@test(timeout=600)
@needs("landlock")
def many_runs_at_level_process():
    # Sampled limits where there are no control groups are said in the receipt, and no matter here.
    soak("--level", "process", "--allow-weaker")


main()
