#!/usr/bin/env python3
"""Runs test programs one after another and adds them up.

usage: run.py [--jobs N] PROGRAM|FOLDER...     a folder stands for its test_* programs
       run.py --meson BUILD SUITE              the tests of a meson suite, cmocka programs counted test by test

Every program ends with `N passed, N failed, N skipped`; one that does not, or that fails without saying so, counts as
one failure. Prints failures and skips in full, and the same line for all of them at the end.
"""

import json
import os
import re
import subprocess
import sys
import time

CLOSING = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
PROGRAM_SECONDS_MAX = 900


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, passed, failed, skipped):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def finish(self):
        if not (self.passed or self.failed or self.skipped):
            print("FAIL no test ran at all")
            self.failed = 1
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped))
        sys.exit(1 if self.failed else 0)


def show_failure(name, why, text):
    print("FAIL %s: %s" % (name, why))
    for line in text.splitlines()[-60:]:
        print("     | " + line)


def run_program(path, more, tally):
    argv = [sys.executable, "-B", path] if path.endswith(".py") else [path]
    started = time.monotonic()
    try:
        done = subprocess.run(argv + more, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PROGRAM_SECONDS_MAX)
        text, status = done.stdout.decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired as e:
        text, status = (e.stdout or b"").decode("utf-8", "replace"), "not done after %d s" % PROGRAM_SECONDS_MAX
    lines = text.splitlines()
    closing = CLOSING.match(lines[-1]) if lines else None
    name = os.path.basename(path)
    if not closing or (status and int(closing.group(2)) == 0):
        show_failure(name, "status %s, without a count of failures" % status, text)
        tally.add(0, 1, 0)
        return
    for line in lines[:-1]:
        if line.startswith(("FAIL ", "     | ")):
            print(line)
        elif line.startswith("SKIP "):
            print("SKIP %s: %s" % (name, line[len("SKIP "):]))
    tally.add(*(int(n) for n in closing.groups()))
    print("%-32s %s (%.0f s)" % (name, lines[-1], time.monotonic() - started))
    sys.stdout.flush()


def programs(arguments):
    for a in arguments:
        if os.path.isdir(a):
            for n in sorted(os.listdir(a)):
                full = os.path.join(a, n)
                if n.startswith("test_") and (n.endswith(".py") or os.access(full, os.X_OK)):
                    yield full
        else:
            yield a


def count_cmocka(name, entry, tally):
    """One program of a meson suite: by its cmocka summary where it has one, else as one test."""
    text = entry.get("stdout", "") + entry.get("stderr", "")
    ran = re.search(r"^\[==========\] Running (\d+) test", text, re.M)
    skipped = [m.group(1) for m in re.finditer(r"^\[  SKIPPED \] (\w+)$", text, re.M)]
    failed = {m.group(1) for m in re.finditer(r"^\[  FAILED  \] (\w+)$", text, re.M)}
    if entry["result"] == "SKIP":
        reason = re.search(r"^SKIP:? (.*)$", text, re.M)
        print("SKIP %s: %s" % (name, reason.group(1) if reason else "no reason given"))
        tally.add(0, 0, 1)
    elif entry["result"] != "OK":
        show_failure(name, entry["result"].lower(), text)
        n = max(1, len(failed))
        tally.add(max(0, int(ran.group(1)) - n) if ran and failed else 0, n, 0)
    elif ran:
        for s in sorted(set(skipped)):
            reason = re.search(r"^SKIP %s: (.*)$" % s, text, re.M)
            print("SKIP %s: %s: %s" % (name, s, reason.group(1) if reason else "no reason given"))
        n = len(set(skipped))
        tally.add(int(ran.group(1)) - n, 0, n)
    else:
        own = CLOSING.match(text.strip().splitlines()[-1]) if text.strip() else None
        for line in text.splitlines():
            if own and line.startswith("SKIP "):
                print("SKIP %s: %s" % (name, line[len("SKIP "):]))
        tally.add(*([int(n) for n in own.groups()] if own else (1, 0, 0)))


def run_meson(build, suite, tally):
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    done = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--suite", suite], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if not os.path.exists(log):
        show_failure("suite " + suite, "meson ran nothing", done.stdout.decode("utf-8", "replace"))
        tally.add(0, 1, 0)
        return
    with open(log, encoding="utf-8") as f:
        for line in f:
            entry = json.loads(line)
            count_cmocka(entry["name"].split(" / ")[-1], entry, tally)


def main():
    args, more, tally = sys.argv[1:], [], Tally()
    if args[:1] == ["--meson"]:
        run_meson(args[1], args[2], tally)
        tally.finish()
    if args[:1] == ["--jobs"]:
        more, args = ["--jobs", args[1]], args[2:]
    for path in programs(args):
        run_program(path, more, tally)
    tally.finish()


main()
