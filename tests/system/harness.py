"""A small harness for tests that run the built `fumehood` against a real host.

    from harness import test, needs, main, fumehood, result, equal

    @test
    @needs("userns")
    def says_hello():
        equal(result("run", "--", "echo", "hello")["stdout"]["text"], "hello\\n")

    main()

Each test runs in a process of its own, with its own session and its own empty TMPDIR, two at a time, under a time
limit. It fails by an exception, or by leaving something behind: a process, an entry in TMPDIR, and after the last test
of a file a mount, a group, an entry in /run/fumehood. What a test needs and the host lacks is a skip with its reason.
The last line is `N passed, N failed, N skipped`.

Environment: FUMEHOOD the program, FUMEHOOD_BUILD the build folder with the probes. Standard library only, Python 3.9.
"""

import argparse
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import host
from host import NEEDS, Skip

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("FUMEHOOD_BUILD", os.path.join(ROOT, "build"))
FUMEHOOD = os.environ.get("FUMEHOOD", os.path.join(BUILD, "src", "cli", "fumehood"))
TIMEOUT_S = 60
JOBS = 2
PR_SET_CHILD_SUBREAPER = 36

_tests = []


# -- for tests ----------------------------------------------------------------------------------------------------

def test(function=None, *, timeout=TIMEOUT_S):
    """Makes a function a test; its name with '_' turned into ' ' is the test's name."""
    def register(f):
        f.timeout = timeout
        _tests.append(f)
        return f
    return register(function) if function else register


def needs(*wants):
    """What the test cannot do without: names of host.NEEDS, or functions that return a reason to skip or None."""
    def register(f):
        f.needs = getattr(f, "needs", ()) + wants
        return f
    return register


def skip(reason):
    raise Skip(reason)


class Done:
    """A program that ended: status (128+n after a signal n), out and err as bytes, seconds."""

    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    @property
    def text(self):
        return self.out.decode("utf-8", "replace")

    def __repr__(self):
        return "status %d after %.2f s\nstdout: %r\nstderr: %r" % (self.status, self.seconds, self.out[-2000:], self.err[-2000:])


def command(*argv, input=b"", env=None, cwd=None, timeout=30, **more):
    """Runs a program of the host to its end. `env` is added to ours; a name set to None is taken out."""
    full = dict(os.environ)
    for k, v in (env or {}).items():
        if v is None:
            full.pop(k, None)
        else:
            full[k] = v
    start = time.monotonic()
    done = subprocess.run([os.fspath(a) for a in argv], input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=full, cwd=cwd, timeout=timeout, **more)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Done(status, done.stdout, done.stderr, time.monotonic() - start)


def fumehood(*args, **more):
    """Runs the built program with these arguments; see command()."""
    return command(FUMEHOOD, *args, **more)


def result(verb, *args, **more):
    """Runs `fumehood VERB --json ARGS` and returns the result as a dict; an answer that is no result is a failure."""
    done = fumehood(verb, "--json", *args, **more)
    try:
        return json.loads(done.out)
    except ValueError:
        raise AssertionError("no result came back: %r" % done) from None


def start(*args, **more):
    """Starts the built program and returns the Popen; the test ends it."""
    return subprocess.Popen([FUMEHOOD, *args], **more)


def wait_for(what, condition, seconds=10):
    """Polls until condition() is true and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited %g s in vain for %s" % (seconds, what))
        time.sleep(0.02)


def scratch():
    """A fresh folder that goes away with the test (unlike what is left in TMPDIR, which is a failure)."""
    return tempfile.mkdtemp(prefix="scratch-", dir=os.environ["FUMEHOOD_TEST_SCRATCH"])


def equal(got, want, what="value"):
    if got != want:
        raise AssertionError("%s is %r, expected %r" % (what, got, want))


def contains(got, want, what="text"):
    if want not in got:
        raise AssertionError("%s does not contain %r: %r" % (what, want, got[:2000]))


def between(got, low, high, what="value"):
    if not low <= got <= high:
        raise AssertionError("%s is %r, expected %r to %r" % (what, got, low, high))


def plain_build():
    """For @needs: a program without a sanitizer, whose memory is its own."""
    with open(FUMEHOOD, "rb") as f:
        return "a build with AddressSanitizer" if b"__asan_init" in f.read() else None


# -- running them -------------------------------------------------------------------------------------------------

class Running:
    def __init__(self, function, base):
        self.function = function
        self.name = function.__name__.replace("_", " ")
        self.folder = tempfile.mkdtemp(prefix="t", dir=base)
        os.chmod(self.folder, 0o755)  # as /tmp is: a sandbox at level process works below TMPDIR as another user
        self.started = time.monotonic()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                status = inside(function, self.folder)
            finally:
                os._exit(status)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""


def inside(function, folder):
    """The process of one test: 0 passed, 1 failed, 77 skipped; the reason goes to the file `reason`."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for name in ("tmp", "scratch"):
        os.mkdir(os.path.join(folder, name))
    os.environ["TMPDIR"] = tempfile.tempdir = os.path.join(folder, "tmp")
    os.environ["FUMEHOOD_TEST_SCRATCH"] = os.path.join(folder, "scratch")
    status, reason = 0, ""
    try:
        for want in getattr(function, "needs", ()):
            lack = NEEDS[want]() if isinstance(want, str) else want()
            if lack:
                raise Skip(lack)
        function()
    except Skip as s:
        status, reason = 77, str(s)
    except BaseException as e:
        status, reason = 1, ("%s: %s" % (type(e).__name__, e)).splitlines()[0]
        traceback.print_exc()
    left = leftovers(os.path.join(folder, "tmp"))
    if left and status != 1:
        status, reason = 1, "left behind: " + "; ".join(left)
    with open(os.path.join(folder, "reason"), "w") as f:
        f.write(reason)
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def leftovers(tmp):
    """What a test left behind, looked at after a moment of patience; ends the processes among it."""
    end = time.monotonic() + 2
    while True:
        host.reap()
        living = host.descendants(os.getpid())
        left = ["process %d (%s)" % (p, host.process_name(p)) for p in living]
        left += ["file %s in TMPDIR" % n for n in os.listdir(tmp)]
        if not left or time.monotonic() > end:
            break
        time.sleep(0.02)
    host.end_tree(os.getpid())
    return left


def finish_one(running, wait_status, timed_out):
    """Prints the outcome of a test that ended and returns 'passed', 'failed' or 'skipped'."""
    seconds = time.monotonic() - running.started
    reason = running.read("reason")
    if timed_out:
        outcome, reason = "failed", "not done after %d s" % running.function.timeout
    elif os.WIFEXITED(wait_status) and os.WEXITSTATUS(wait_status) == 0:
        outcome = "passed"
    elif os.WIFEXITED(wait_status) and os.WEXITSTATUS(wait_status) == 77:
        outcome = "skipped"
    else:
        outcome = "failed"
        if os.WIFSIGNALED(wait_status):
            reason = "the test's own process was ended by signal %d" % os.WTERMSIG(wait_status)
    if outcome == "passed":
        print("ok   %s (%.2f s)" % (running.name, seconds))
    elif outcome == "skipped":
        print("SKIP %s: %s" % (running.name, reason or "no reason given"))
    else:
        print("FAIL %s: %s" % (running.name, reason))
        for line in running.read("log").splitlines()[-40:]:
            print("     | " + line)
    sys.stdout.flush()
    host.remove_tree(running.folder)
    return outcome


def run_all(tests, jobs, base):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    todo, running = list(tests), []
    while todo or running:
        while todo and len(running) < jobs:
            running.append(Running(todo.pop(0), base))
        for r in list(running):
            pid, status = os.waitpid(r.pid, os.WNOHANG)
            late = not pid and time.monotonic() - r.started > r.function.timeout
            if late:
                host.end_tree(r.pid)
                os.kill(r.pid, signal.SIGKILL)
                os.waitpid(r.pid, 0)
            if pid or late:
                running.remove(r)
                # What a killed test started comes to us, who are the next reaper up.
                for orphan in host.children(os.getpid()):
                    if orphan not in [other.pid for other in running]:
                        host.end_tree(orphan)
                        os.kill(orphan, signal.SIGKILL)
                        os.waitpid(orphan, 0)
                counts[finish_one(r, status, late)] += 1
        time.sleep(0.01)
    return counts


def main(*wants):
    """Runs the tests of the file that calls it, prints them and the closing line, and exits: 0 when none failed. What
    the whole file needs can be said here instead of at each test."""
    for t in _tests:
        needs(*wants)(t)
    parser = argparse.ArgumentParser(description="system tests of fumehood")
    parser.add_argument("filter", nargs="*", help="only tests whose name holds one of these")
    parser.add_argument("-j", "--jobs", type=int, default=JOBS)
    parser.add_argument("-l", "--list", action="store_true")
    args = parser.parse_args()
    tests = [t for t in _tests
             if not args.filter or any(f.replace("_", " ") in t.__name__.replace("_", " ") for f in args.filter)]
    if args.list:
        for t in tests:
            print(t.__name__.replace("_", " "))
        return
    if not os.access(FUMEHOOD, os.X_OK):
        print("FAIL there is no program at FUMEHOOD=%s: build it first" % FUMEHOOD)
        print("0 passed, 1 failed, 0 skipped")
        sys.exit(1)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    base = tempfile.mkdtemp(prefix="fumehood-test-")
    os.chmod(base, 0o755)
    before = host.Snapshot()
    try:
        counts = run_all(tests, args.jobs, base)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    for residue in before.residue(seconds=5):
        print("FAIL nothing is left on the host: " + residue)
        counts["failed"] += 1
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    sys.exit(1 if counts["failed"] else 0)
