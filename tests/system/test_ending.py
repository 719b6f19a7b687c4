#!/usr/bin/env python3
"""Every end of a run: nothing of it lives on, whatever the program did and whoever ended it; and an answer comes in time."""

import json
import os
import pty
import random
import signal
import subprocess
import termios
import time

import host
from harness import FUMEHOOD, between, contains, equal, main, result, scratch, start, test, wait_for
from inside import find_inside, gone_within, now, python, running, shell, verdict


def marked():
    """A number that finds the processes of one test on the host."""
    return str(random.randrange(10 ** 8, 10 ** 9))


def alive(mark):
    """Processes with the mark in their command line, but for those that only pass it on."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and mark in host.process_name(int(name)) and FUMEHOOD not in host.process_name(int(name)):
            state = host._stat(int(name))
            if state and state[1] not in "ZX":
                found.append(int(name))
    return found


def groups_of(pid):
    return [g for g in host.run_groups() if os.path.basename(g).split("-")[1] == str(pid)]


def check_gone(mark):
    equal(alive(mark), [], "BREACH: processes that live on")


STAY = {
    "a session of its own": "setsid sleep {0} & sleep 0.1; exit 0",
    "a double fork": "(setsid sh -c 'sleep {0} & exit' &) ; sleep 0.1; exit 0",
    "no hangup": "nohup sleep {0} >/dev/null 2>&1 & exit 0",
    "its output held open": "sleep {0} & echo done; exit 0",
    "a stopped child": "sleep {0} & kill -STOP $!; exit 0",
    "a child that ignores signals": "(trap '' TERM INT HUP QUIT; sleep {0}) & exit 0",
}


def stays(how, code):
    def body():
        mark = marked()
        began = now()
        r = verdict(shell(code.format(mark)), "ok", 0)
        between(now() - began, 0, 3, "seconds until the answer")
        check_gone(mark)
        if "echo" in code:
            equal(r["stdout"]["text"], "done\n", "what it printed")
    body.__name__ = "%s_does_not_outlive_the_run" % how.replace(" ", "_")
    return body


for _how, _code in STAY.items():
    test(stays(_how, _code))


DAEMON = """
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/"); os.umask(0)
for fd in range(3): os.close(fd)
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
time.sleep(%s)
"""


@test
def a_true_daemon_does_not_outlive_the_run():
    mark = marked()
    verdict(python(DAEMON % mark, words=[mark]), "ok", 0)
    check_gone(mark)


@test
def hundreds_of_orphans_end_with_the_run():
    mark = marked()
    r = shell("i=0; while [ $i -lt 400 ]; do (sleep %s & exit) ; i=$((i+1)); done; echo made" % mark, "--pids", "600")
    verdict(r, "ok", 0)
    equal(r["stdout"]["text"], "made\n", "output")
    check_gone(mark)


@test
def thousands_of_short_orphans_are_collected():
    verdict(shell("i=0; while [ $i -lt 2000 ]; do (: & exit) ; i=$((i+1)); done", "--pids", "40"), "ok", 0)


@test
def a_deadline_ends_all_of_them():
    mark = marked()
    code = "setsid sleep {0} & (sleep {0}; sleep {0}) & sleep {0} & kill -STOP $!; trap '' TERM; sleep {0}; sleep {0}".format(mark)
    began = now()
    verdict(shell(code, "--wall", "600ms"), "wall", 124)
    between(now() - began, 0.6, 2.6, "seconds until the answer")
    check_gone(mark)


@test
def a_main_thread_that_ends_before_the_others_is_no_end():
    r = python("""
import threading
def late():
    time.sleep(0.4); os.write(1, b"late\\n"); os._exit(5)
threading.Thread(target=late).start()
libc.syscall(%d, 0)
""" % {"x86_64": 60}.get(os.uname().machine, 93))
    verdict(r, "exit", 5)
    equal(r["stdout"]["text"], "late\n", "output")


def ended_by(sig, verb="run"):
    mark = marked()
    with running(verb, "--json", "--", "sh", "-c", "echo begun; setsid sleep %s & trap '' TERM INT HUP; sleep %s; sleep %s"
                 % (mark, mark, mark)) as p:
        wait_for("the program", lambda: len(alive(mark)) >= 2)
        time.sleep(0.1)
        inside = host.descendants(p.pid)
        began = now()
        p.send_signal(sig)
        text = p.stdout.read()
        p.wait(10)
        took = now() - began
        gone_within(inside, 1)
    return json.loads(text), p.returncode, took


@test
def a_signal_to_fumehood_ends_the_run_with_an_answer():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        r, status, took = ended_by(sig)
        verdict(r, "cancelled")
        equal((status, r["stdout"]["text"]), (128 + sig, "begun\n"), "status and output after %s" % sig)
        between(took, 0, 1.5, "seconds until the answer")


@test
def a_second_signal_changes_nothing():
    mark = marked()
    with running("run", "--json", "--", "sleep", mark) as p:
        wait_for("the program", lambda: alive(mark))
        for sig in (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            p.send_signal(sig)
        r = json.loads(p.stdout.read())
        # Which of several pending signals is seen first is the kernel's choice.
        if p.wait(5) not in (129, 130, 143):
            raise AssertionError("status %d" % p.returncode)
    verdict(r, "cancelled")
    check_gone(mark)


@test
def a_closed_terminal_ends_the_run():
    mark = marked()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(FUMEHOOD, [FUMEHOOD, "run", "--", "sleep", mark])
    try:
        wait_for("the program", lambda: alive(mark))
        inside = host.descendants(pid)
    finally:
        os.close(terminal)
    gone_within([pid] + inside, 2)
    os.waitpid(pid, 0)
    check_gone(mark)


@test
def control_c_on_a_terminal_ends_the_run():
    mark = marked()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(FUMEHOOD, [FUMEHOOD, "run", "--", "sleep", mark])
    try:
        wait_for("the program", lambda: alive(mark))
        time.sleep(0.1)
        os.write(terminal, termios.tcgetattr(terminal)[6][termios.VINTR])
        ended = wait_for("its end", lambda: os.waitpid(pid, os.WNOHANG)[1] if not alive(mark) else 0, 5)
    finally:
        os.close(terminal)
    equal(os.waitstatus_to_exitcode(ended), 130, "status")


@test
def the_death_of_fumehood_is_the_death_of_all_and_the_next_start_cleans_up():
    for level in ("namespace", "process"):
        mark = marked()
        p = start("run", "--level", level, "--", "sh", "-c",
                  "setsid sleep {0} & (sleep {0} &) ; sleep {0} & kill -STOP $!; trap '' TERM; sleep {0}; sleep {0}".format(mark))
        wait_for("the program", lambda: len(alive(mark)) >= 4)
        inside = host.descendants(p.pid)
        p.kill()
        p.wait()
        gone_within(inside, 1)
        check_gone(mark)
        verdict(result("run", "--level", level, "--", "true"), "ok", 0)
        equal(groups_of(p.pid), [], "groups of the dead one")
        for place in (os.environ["TMPDIR"], "/tmp"):
            base = os.path.join(place, "fumehood-%d" % os.geteuid())
            left = os.listdir(base) if os.path.isdir(base) else []
            equal([n for n in left if n.startswith("%d-" % p.pid)], [], "folders of the dead one")


@test
def the_death_of_fumehood_while_it_sets_up_leaves_nobody():
    folder = scratch()
    for i in range(60):
        mark = marked()
        p = start("run", "--", "sleep", mark, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        time.sleep(random.random() * 0.03)
        below = host.descendants(p.pid)
        p.kill()
        p.wait()
        gone_within(below, 1)
        wait_for("the sleeper to end", lambda: not alive(mark), 1)
    verdict(result("run", "--", "true"), "ok", 0)


@test(timeout=120)
def two_hundred_ends_at_random_moments_leave_nothing():
    before = len(os.listdir("/proc/self/fd"))
    seen = {}
    for i in range(200):
        mark = marked()
        sig = random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        p = start("run", "--json", "--", "sleep", mark, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(random.random() ** 2 * 0.06)
        p.send_signal(sig)
        out, err = p.communicate(timeout=10)
        if p.returncode == -sig:
            equal(out, b"", "output of one that was ended before it began")
        else:
            equal((json.loads(out)["verdict"], p.returncode), ("cancelled", 128 + sig), "the answer (%r)" % err)
        seen[p.returncode < 0] = seen.get(p.returncode < 0, 0) + 1
        check_gone(mark)
        equal(groups_of(p.pid), [], "groups it left")
    equal(len(os.listdir("/proc/self/fd")), before, "descriptors of ours")
    if not seen.get(False):
        raise AssertionError("no run was under way when it was ended: %r" % seen)


@test
def who_reads_no_more_ends_the_run():
    mark = marked()
    p = subprocess.Popen([FUMEHOOD, "run", "--", "sh", "-c", "yes %s" % mark], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    contains(p.stdout.readline().decode(), mark)
    p.stdout.close()
    p.wait(5)
    p.stderr.close()
    check_gone(mark)


@test
def a_program_killed_by_another_of_its_own_is_told_as_such():
    r = shell("(sleep 0.2; kill -KILL $$) & sleep 20")
    verdict(r, "signal", 137)


@test
def a_hundred_runs_leave_the_host_as_it_was():
    before, ours = (len(host.children(os.getpid())), len(os.listdir("/proc/self/fd"))), set()
    for _ in range(100):
        p = start("run", "--", "true")
        ours.add(str(p.pid))
        equal(p.wait(10), 0, "status")
    equal([g for g in host.run_groups() if os.path.basename(g).split("-")[1] in ours], [], "groups")
    equal((len(host.children(os.getpid())), len(os.listdir("/proc/self/fd"))), before, "children and descriptors")


@test
def an_end_of_init_ends_everything():
    mark = marked()
    with running("run", "--json", "--", "sleep", mark) as p:
        inner = find_inside(p, "sleep " + mark)
        init = host._stat(inner)[0]
        os.kill(init, signal.SIGKILL)
        r = json.loads(p.stdout.read())
        equal(p.wait(5), 125, "status")
    verdict(r, "sandbox")
    check_gone(mark)


main("userns")
