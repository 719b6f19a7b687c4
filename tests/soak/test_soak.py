#!/usr/bin/env python3
"""Thousands of runs of every kind of end: each is told as what it was, none gets slower, nothing adds up.

Three ways: one after another, four at a time, and in one process through the library. FUMEHOOD_SOAK is how many runs
there are in all (default 3000: about a minute and a half on an idle machine with two processors).
"""

import concurrent.futures
import json
import os
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

import host
from harness import BUILD, FUMEHOOD, command, equal, main, needs, plain_build, scratch, test  # noqa: E402

RUNS = int(os.environ.get("FUMEHOOD_SOAK", "3000"))
# What a run of the library may leave in the memory of its process: nothing that grows with their number.
RSS_GROWTH_KB_MAX = 512
PYTHON = ["--python", "/usr/bin/python3"]


def kinds():
    """(words, verdict, status) of every kind of end."""
    folder = scratch()
    os.chmod(folder, 0o755)
    with open(os.path.join(folder, "a"), "w") as f:
        f.write("hello\n")
    own = scratch()
    flood = "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"
    orphans = "sleep 99 & setsid sleep 98 & setsid sh -c 'sleep 97 & sleep 96' & exit 0"
    level1 = ["--level", "process", "--allow-weaker"]
    rows = [
        (["run", "--", "true"], "ok", 0),
        (["run", "--", "sh", "-c", "exit 7"], "exit", 7),
        (["run", "--", "sh", "-c", "kill -9 $$"], "signal", 137),
        (["run", "--wall", "60ms", "--", "sleep", "9"], "wall", 124),
        (["run", "--memory", "24M", "--", "sh", "-c", "head -c 200M /dev/zero | tail"], "memory", 123),
        (["run", "--output-stop", "20K", "--", "sh", "-c", flood], "output", 123),
        (["run", "--", "sh", "-c", orphans], "ok", 0),
        (["run", "--", "no-such-command"], "sandbox", 127),
        (["run", "--workspace", folder, "--", "sh", "-c", "echo more >>a; mkdir d; echo x >d/f"], "ok", 0),
        (["run", "--workspace-rw", own, "--", "sh", "-c", "echo $$ >made; rm made"], "ok", 0),
        (["run", "--pids", "4", "--", "sh", "-c", "for i in 1 2 3 4 5 6; do sleep 9 & done; wait"], "pids", 123),
        (["bash", "-c", "echo {1..9}"], "ok", 0),
        (["python", *PYTHON, "-c", "print(sum(range(9)))"], "ok", 0),
        (["run", *level1, "--", "true"], "ok", 0),
        (["run", *level1, "--", "sh", "-c", orphans], "ok", 0),
        (["run", *level1, "--wall", "60ms", "--", "sleep", "9"], "wall", 124),
    ]
    return rows, [own, folder]


def one(words, verdict, status):
    """Runs it and returns how long it took to set up; an end that is told as another is a failure."""
    done = command(FUMEHOOD, words[0], "--json", *words[1:], timeout=60)
    try:
        got = json.loads(done.out)
    except ValueError:
        raise AssertionError("no result of %r: %r" % (words, done)) from None
    equal((got["verdict"], done.status), (verdict, status), "%r (%s)" % (words, got["message"]))
    return got["time_ms"]["setup"]


def cancelled(number):
    """One that is asked to end, a little later each time."""
    p = subprocess.Popen([FUMEHOOD, "run", "--json", "--", "sleep", "9"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    time.sleep(0.004 * (number % 16))
    p.send_signal(signal.SIGINT)
    out = p.communicate(timeout=20)[0]
    if p.returncode == -signal.SIGINT:
        equal(out, b"", "output of one that was ended before it began")
    else:
        equal((json.loads(out)["verdict"], p.returncode), ("cancelled", 130))
    return 0


def check_no_slower(setup_ms):
    if len(setup_ms) >= 200:
        quarter = len(setup_ms) // 4
        early, late = statistics.median(setup_ms[:quarter]), statistics.median(setup_ms[-quarter:])
        assert late < 4 * early + 20, "a set-up took %.1f ms at first and %.1f ms at last" % (early, late)


def check_nothing_is_left(before, folders):
    fds, groups = before
    equal(len(os.listdir("/proc/self/fd")), fds, "descriptors of the test")
    equal(host.descendants(os.getpid()), [], "processes")
    left = [g for g in host.run_groups() - groups if not host._group_owner_lives(g)]
    equal(left, [], "groups")
    equal(sorted(os.listdir(folders[0])), [], "files in a folder that runs worked in")
    equal(sorted(os.listdir(folders[1])), ["a"], "files in a folder that runs saw a copy of")
    with open(os.path.join(folders[1], "a")) as f:
        equal(f.read(), "hello\n", "a file that runs wrote to in their copy")


def soak(runs, at_a_time):
    rows, folders = kinds()
    before = len(os.listdir("/proc/self/fd")), host.run_groups()
    ends = len(rows) + 1

    def nth(i):
        return cancelled(i) if i % ends == len(rows) else one(*rows[i % ends])

    with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
        setup_ms = list(pool.map(nth, range(runs)))
    check_no_slower([ms for i, ms in enumerate(setup_ms) if i % ends == 0])
    check_nothing_is_left(before, folders)


def level_namespace_holds():
    return None if one_works(["run"]) else "level namespace does not hold here"


def one_works(words):
    return command(FUMEHOOD, *words, "--", "true").status == 0


def held_limits():
    """Memory and processes must be held by groups to end as told at once."""
    return host.need_cgroup()


@test(timeout=900)
@needs(level_namespace_holds, held_limits)
def runs_one_after_another():
    soak(RUNS // 3, 1)


@test(timeout=900)
@needs(level_namespace_holds, held_limits)
def runs_four_at_a_time():
    soak(RUNS // 3, 4)


def loop(level, runs):
    done = command(os.path.join(BUILD, "tests", "lib_loop"), level, str(runs), timeout=600)
    assert done.status == 0, "%r" % done
    early, late = json.loads(done.out)
    equal(late["fds"], early["fds"], "descriptors")
    equal(late["children"], early["children"], "children")
    assert late["rss_kb"] <= early["rss_kb"] + RSS_GROWTH_KB_MAX, \
        "memory went from %(rss_kb)d KiB" % early + " to %(rss_kb)d KiB in %(runs)d runs" % late


@test(timeout=900)
@needs(level_namespace_holds, plain_build)
def runs_in_one_process_leave_nothing_in_it():
    loop("namespace", RUNS // 4)


@test(timeout=900)
@needs("landlock", plain_build)
def runs_at_level_process_leave_nothing_in_their_process():
    loop("process", RUNS // 12)


main()
