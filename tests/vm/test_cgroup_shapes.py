#!/usr/bin/env python3
"""Control groups on every shape of host, each in a virtual machine (tests/vm/run) with the mounts of that shape.

The real tests of tests/unit/test_isolate_cgroup.c run in it; here is told which of them that shape must not skip.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "system"))

from harness import BUILD, ROOT, command, contains, equal, main, skip, test

BOOT_AND_TEST_SECONDS = 240
EVERYWHERE = {"says_when_a_group_stays_busy", "cleans_up_after_the_dead_only", "kills_all_that_live_there"}
WITH_LIMITS = EVERYWHERE | {"makes_limits_that_can_be_read_back", "counts_what_a_child_used", "sees_memory_run_out",
                            "counts_refused_forks", "moves_a_process_from_outside", "kills_without_cgroup_kill"}


def run_in(shape, *more):
    """What the tests say on a host of that shape, and the names of those that passed."""
    program = os.path.join(BUILD, "tests", "test_isolate_cgroup")
    if not os.path.exists(program):
        skip("tests/test_isolate_cgroup is not built")
    done = command(os.path.join(ROOT, "tests", "vm", "run"), "--cgroups", shape, "--timeout", "120", *more,
                   "--file", program + ":/test", "--", "exec /test", timeout=BOOT_AND_TEST_SECONDS - 10)
    if done.status == 77:
        skip(done.text.strip())
    equal(done.status, 0, "status in %r" % done.text[-3000:])
    return done.text, set(re.findall(r"\[       OK \] (\w+)", done.text))


def passes(passed, wanted):
    equal(sorted(wanted - passed), [], "skipped tests")


@test(timeout=BOOT_AND_TEST_SECONDS)
def v2_as_root_in_the_root_group():
    text, passed = run_in("v2")
    contains(text, "host: v2, groups below /sys/fs/cgroup\n")
    passes(passed, WITH_LIMITS | {"says_what_is_missing"})


@test(timeout=BOOT_AND_TEST_SECONDS)
def v2_alone_in_a_group_moves_into_a_leaf():
    text, passed = run_in("v2-alone")
    contains(text, "host: v2, groups below /sys/fs/cgroup/scope\n")
    passes(passed, WITH_LIMITS)


@test(timeout=BOOT_AND_TEST_SECONDS)
def v2_as_a_user_with_a_delegated_group():
    _, passed = run_in("v2-alone", "--user", "user")
    passes(passed, WITH_LIMITS)


@test(timeout=BOOT_AND_TEST_SECONDS)
def v2_in_a_crowded_group_says_why_there_are_no_limits():
    text, passed = run_in("v2-crowded")
    contains(text, "holds other processes, too, so it cannot hand controllers down; fix: ")
    passes(passed, EVERYWHERE)


@test(timeout=BOOT_AND_TEST_SECONDS)
def v1_alone():
    text, passed = run_in("v1")
    contains(text, "host: v1, ")
    passes(passed, WITH_LIMITS | {"makes_no_cpu_group_it_does_not_need"})


@test(timeout=BOOT_AND_TEST_SECONDS)
def hybrid():
    text, passed = run_in("hybrid")
    contains(text, "host: hybrid, ")
    passes(passed, WITH_LIMITS | {"makes_no_cpu_group_it_does_not_need"})


@test(timeout=BOOT_AND_TEST_SECONDS)
def none_mounted_says_so():
    text, _ = run_in("none")
    contains(text, "host: none, ")
    contains(text, "memory: no cgroup file system is mounted; fix: ")


main()
