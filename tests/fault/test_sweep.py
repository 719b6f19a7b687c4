#!/usr/bin/env python3
"""Every system call of a run is made to fail once: an answer comes all the same, nothing is weaker, nothing is left.

Needs the fault build (-Dfaults=true, see src/sys/fault.h). A run in which the n-th call failed may end in two ways: as a
failure of the sandbox, told in words, or, where the call was not needed, as the same run with the same protections.
"""

import errno
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from harness import between, equal, fumehood, main, needs, scratch, test  # noqa: E402

CALLS_MAX = 3000
# What the receipt says about the wall; may not change because a call failed.
WALL = ("level", "mechanisms", "not_enforced", "caps", "capabilities", "no_new_privs", "seccomp", "landlock_abi")


def count_calls(*args):
    """How many calls a run makes that can be made to fail; 0 in a build without faults."""
    path = os.path.join(scratch(), "count")
    done = fumehood(*args, env={"FUMEHOOD_FAULT_COUNT": path})
    equal(done.status, 0, "status of the run without a fault: %r" % done)
    if not os.path.exists(path):
        return 0, done
    with open(path) as f:
        return int(f.read()), done


def fault_build():
    path = os.path.join(scratch(), "count")
    fumehood("--version", env={"FUMEHOOD_FAULT_COUNT": path})
    return None if os.path.exists(path) else "not the fault build (script/test faults)"


def wall(done):
    receipt = json.loads(done.out)["receipt"]
    if receipt["level"] == "process":
        # Only who has CAP_SETPCAP can empty the bounding set, and without new privileges it has no effect.
        del receipt["capabilities"]["bounding"]
    return {k: receipt[k] for k in WALL if k in receipt}


def sweep(number, *args):
    calls, clean = count_calls(*args)
    between(calls, 20, CALLS_MAX, "calls of a run")
    strong = wall(clean)
    assert len(strong) >= 5, "the receipt lacks what is compared here: %r" % strong
    failed, wrong = 0, []
    for n in range(1, calls + 1):
        done = fumehood(*args, env={"FUMEHOOD_FAULT": "%d:%d" % (n, number)}, timeout=20)
        failed += done.status != 0
        why = objection(done, strong)
        if why:
            wrong.append("with call %d of %d failing: %s" % (n, calls, why))
    assert not wrong, "%d of %d ended wrong\n%s" % (len(wrong), calls, "\n".join(wrong[:20]))
    assert failed, "no failing call made a run fail: are faults injected at all?"


def objection(done, strong):
    """What is wrong with the outcome of a run in which one call failed; None when nothing is."""
    if done.status == 0:
        weak = wall(done)
        return None if weak == strong else "the same outcome behind another wall: %r" % {
            k: weak.get(k) for k in strong if weak.get(k) != strong[k]}
    if not done.out.strip() and not done.err.strip():
        return "status %d without a word" % done.status
    # 126 only where exec itself was the call that failed.
    if done.status not in (125, 126):
        return "status %d: %r" % (done.status, done.out[:400])
    verdict = json.loads(done.out)["verdict"] if done.out.strip() else "sandbox"
    return None if verdict == "sandbox" else "verdict %s" % verdict


@test(timeout=300)
@needs(fault_build, "userns")
def every_call_without_memory_at_level_namespace():
    sweep(errno.ENOMEM, "run", "--json", "--wall", "3s", "--", "true")


@test(timeout=300)
@needs(fault_build, "userns")
def every_call_refused_at_level_namespace():
    sweep(errno.EPERM, "run", "--json", "--wall", "3s", "--", "true")


@test(timeout=300)
@needs(fault_build, "landlock")
def every_call_without_memory_at_level_process():
    sweep(errno.ENOMEM, "run", "--json", "--wall", "3s", "--level", "process", "--", "true")


@test(timeout=300)
@needs(fault_build, "landlock")
def every_call_refused_at_level_process():
    sweep(errno.EPERM, "run", "--json", "--wall", "3s", "--level", "process", "--", "true")


main()
