#!/usr/bin/env python3
"""Fails each system call of a run in turn, and wants an honest end and nothing left behind.

Needs the test build (-Dfaults=true, see src/sys/fault.h). For each way to start a run its calls are counted, then the
run is made again and again with the first, the second, the third ... call failing. Whatever failed, the run must end
soon, and either have gone well, with the right output and every wall that the run without a fault had, or say in one
line what failed. A run that says ok with a wall missing is what this is here to find.

FUMEHOOD_FAULTS=all fails every call with every errno (half an hour); without it the main case fails every call once and
the others every third or fourth, with the errnos in turn.
"""

import errno
import fcntl
import json
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "system"))

import host
from harness import FUMEHOOD, main, needs, scratch, skip, test

ERRNOS = (errno.EIO, errno.ENOMEM, errno.EPERM)
SECONDS_MAX = 15
ALL = os.environ.get("FUMEHOOD_FAULTS") == "all"
# The calls of a run vary by a few with how often the supervisor wakes.
MARGIN = 8
CALLS_LEAST = 100


class Ended:
    """A run, perhaps with a fault: how it ended, what it printed, which call was failed."""

    def __init__(self, words, spec=None):
        count = os.path.join(os.environ["FUMEHOOD_TEST_SCRATCH"], "count")
        if os.path.exists(count):
            os.unlink(count)
        env = dict(os.environ, FUMEHOOD_FAULT_COUNT=count)
        if spec:
            env["FUMEHOOD_FAULT"] = spec
        process = subprocess.Popen([FUMEHOOD, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=env)
        self.pid = process.pid
        try:
            out, err = process.communicate(timeout=SECONDS_MAX)
            self.status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.status = "not ended after %d s" % SECONDS_MAX
        self.out, self.err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
        try:
            with open(count) as f:
                calls, self.failed_nr, self.failed_in = f.read().split()
        except OSError:
            calls, self.failed_nr, self.failed_in = 0, "?", "?"
        self.calls = int(calls)

    def __repr__(self):
        return "call nr %s of the %s; status %s; stdout %r; stderr %r" % (
            self.failed_nr, self.failed_in, self.status, self.out[:160], self.err[:400])


# -- what is allowed ----------------------------------------------------------------------------------------------

def numbers_off(text):
    return re.sub(r"\d+", "N", text)


def walls(receipt):
    """The receipt without what differs from run to run: what is left says which walls stood."""
    same = {k: receipt[k] for k in ("level", "no_new_privs", "seccomp", "landlock_abi", "mounts", "mechanisms",
                                    "not_enforced", "policy_sha256")}
    same["capabilities"] = dict(receipt["capabilities"])
    if receipt["level"] == "process":
        # Only who has CAP_SETPCAP can empty the bounding set, and without new privileges it has no effect.
        del same["capabilities"]["bounding"]
    ours = {os.readlink("/proc/self/ns/" + n) for n in os.listdir("/proc/self/ns")}
    same["namespaces"] = [(n.split(":")[0], "%s:[%s]" % tuple(n.split(":")) in ours) for n in receipt["namespaces"]]
    if os.getuid():
        # Of a program that ended at once an ordinary user can read only some of them.
        same["namespaces"] = [n for n in same["namespaces"] if n[0] in ("user", "pid")]
    same["ids"] = [numbers_off(receipt[k]) for k in ("uid_map", "gid_map")] + [receipt["uid"] in (0, os.getuid())]
    same["groups"] = [numbers_off(g) for g in receipt["cgroups"]]
    same["limits"] = {k: (v["value"], v["means"]) for k, v in receipt["limits"].items()}
    return same


def differences(want, got):
    """What of the walls is another, in short."""
    found = []
    for k in want:
        if isinstance(want[k], dict):
            found += ["%s %s: %r, not %r" % (k, n, got[k].get(n), want[k][n]) for n in want[k] if got[k].get(n) != want[k][n]]
        elif isinstance(want[k], list) and got[k] != want[k]:
            found.append("%s: lacks %r, has %r" % (k, [x for x in want[k] if x not in got[k]][:4],
                                                   [x for x in got[k] if x not in want[k]][:4]))
        elif got[k] != want[k]:
            found.append("%s: %r, not %r" % (k, got[k], want[k]))
    return found


def is_another_host(lost, number):
    """To be refused is an answer of a host: without groups of ours other means hold the limits, and a bind from a file
    system that maps no ids shows its own owners. The receipt tells both."""
    return number == errno.EPERM and (
        all(d.startswith(("groups:", "limits ")) or "control groups" in d for d in lost) or
        all(d.startswith("mounts:") and "idmapped" in d for d in lost) or
        # A namespace that may not be looked at is left out: nothing is claimed of it.
        all(d.startswith("namespaces:") and d.endswith("has []") for d in lost))


def is_told(text):
    """One line to a person, and at most one more that says what to do."""
    lines = text.splitlines()
    return (1 <= len(lines) <= 2 and lines[0].startswith("fumehood: ") and len(lines[0]) > 20 and
            all(line.startswith("fix: ") for line in lines[1:]))


def wrong_json(ended, good, number):
    if not ended.out:
        return None if ended.status == 125 and is_told(ended.err) else "neither a result nor an error"
    try:
        result = json.loads(ended.out)
    except ValueError:
        return None if ended.status == 125 and is_told(ended.err) else "half a result, and no error"
    if result["status"] != ended.status:
        return "the result has another status than the process"
    if result["verdict"] == "sandbox":
        return None if ended.status in (125, 126) and result["message"] else "a failure without a message"
    if result["verdict"] != "ok" or ended.status != 0:
        return "verdict %s for a program that does nothing wrong" % result["verdict"]
    if result["stdout"] != good["stdout"] or result["stderr"] != good["stderr"]:
        return "ok, but the output is not the program's"
    if not result.get("receipt"):
        return "ok, but without the receipt"
    lost = differences(walls(good["receipt"]), walls(result["receipt"]))
    if lost and not is_another_host(lost, number):
        return "ok, but a wall is missing: " + "; ".join(lost)
    if is_leased(result["receipt"]):
        return "its ids are still locked in the ledger"
    return None


def is_leased(receipt):
    """Whether somebody still holds the block of ids that a run had (as root; blocks are handed out in turn)."""
    first, size = 0x70000000, 8
    if os.getuid() or receipt["uid"] < first or not os.path.exists("/run/fumehood/ids"):
        return False
    with open("/run/fumehood/ids", "r+b") as f:
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, (receipt["uid"] - first) // size, 1, 0)
        return struct.unpack("hhqqi4x", fcntl.fcntl(f, fcntl.F_OFD_GETLK, lock))[0] != fcntl.F_UNLCK


def wrong_plain(ended, good, number):
    if ended.status == 0:
        return None if (ended.out, ended.err) == (good.out, good.err) else "ok, but the output is not the program's"
    if ended.status not in (125, 126):
        return "neither ok nor an error of ours"
    # What the program had printed before comes first.
    err = ended.err[len(good.err):] if ended.err.startswith(good.err) else ended.err
    return None if is_told(err) else "the error is not one line that says what failed"


def mounts():
    with open("/proc/self/mountinfo") as f:
        return {line.split()[4] for line in f}


def left_behind(ended, mounts_before):
    """What is still there of a run, right after it ended."""
    left = ["process %d (%s)" % (p, host.process_name(p)) for p in host.descendants(os.getpid())]
    left += ["mount " + m for m in mounts() - mounts_before]
    left += ["group " + g for g in host.run_groups() if os.path.basename(g).startswith("fumehood-%d-" % ended.pid)]
    left += ["file %s in TMPDIR" % n for n in os.listdir(os.environ["TMPDIR"])]
    return left


# -- the sweep ----------------------------------------------------------------------------------------------------

def not_the_test_build():
    return None if Ended(["--version"]).calls or has_hooks() else "not the test build (-Dfaults=true)"


def has_hooks():
    """The test build writes the file even where no call was counted."""
    return os.path.exists(os.path.join(os.environ["FUMEHOOD_TEST_SCRATCH"], "count"))


def sweep(words, step=1):
    wrong_end = wrong_json if "--json" in words else wrong_plain
    before = mounts()
    clean = Ended(words)
    assert clean.status == 0, "without a fault: %r" % clean
    assert clean.calls >= CALLS_LEAST, "only %d calls were counted" % clean.calls
    good = json.loads(clean.out) if "--json" in words else clean
    problems, ok, told = [], 0, 0
    for n in range(1, clean.calls + MARGIN, 1 if ALL else step):
        for number in ERRNOS if ALL else (ERRNOS[(n // step) % len(ERRNOS)],):
            ended = Ended(words, "%d:%d" % (n, number))
            wrong = wrong_end(ended, good, number)
            left = left_behind(ended, before)
            if wrong or left:
                problems.append("%d:%s %s%s\n    %r" % (n, errno.errorcode[number], wrong or "ended well",
                                                       "; left behind: " + ", ".join(left) if left else "", ended))
                host.end_tree(os.getpid())
            ok, told = ok + (ended.status == 0), told + (ended.status != 0)
    print("%d calls; with a fault %d runs went well, %d said what failed" % (clean.calls, ok, told))
    print("\n".join(problems[:12]))
    assert not problems, "%d of %d runs with a fault ended badly" % (len(problems), ok + told)
    # Faults that hit nothing would prove nothing.
    assert told > ok, "only %d of %d faults were told" % (told, ok + told)


def folder_with_a_file():
    folder = scratch()
    os.chmod(folder, 0o755)
    with open(os.path.join(folder, "a"), "w") as f:
        f.write("hello\n")
    return folder


@test(timeout=900)
@needs(not_the_test_build, "userns")
def every_call_of_a_run_told_as_json():
    sweep(["run", "--json", "--", "echo", "hello"])


@test(timeout=900)
@needs(not_the_test_build, "userns")
def calls_of_a_run_with_live_output():
    sweep(["run", "--", "sh", "-c", "echo hello; echo there >&2"], step=3)


@test(timeout=900)
@needs(not_the_test_build, "landlock")
def calls_of_a_run_at_level_process():
    sweep(["run", "--json", "--level", "process", "--", "echo", "hello"])


@test(timeout=900)
@needs(not_the_test_build, "userns")
def calls_of_a_python_program():
    sweep(["python", "--json", "--python", "/usr/bin/python3", "-c", "print(1)"], step=4)


@test(timeout=900)
@needs(not_the_test_build, "overlay")
def calls_of_a_run_on_a_copied_workspace():
    sweep(["run", "--json", "--workspace", folder_with_a_file(), "--", "sh", "-c", "cat a; echo b >b"], step=4)


@test(timeout=900)
@needs(not_the_test_build, "userns")
def calls_of_a_run_on_a_workspace_itself():
    sweep(["run", "--json", "--workspace-rw", folder_with_a_file(), "--", "cat", "a"], step=4)


@test(timeout=900)
@needs(not_the_test_build, "userns")
def calls_of_a_run_with_a_terminal_and_a_bind():
    folder = folder_with_a_file()
    sweep(["run", "--json", "--pty", "true", "--bind", folder + ":/data", "--stdin", folder + "/a", "--", "cat", "/data/a", "-"],
          step=4)


main()
