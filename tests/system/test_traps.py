#!/usr/bin/env python3
"""Traps that a program lays for whoever comes after it: the supervisor, the next run, another sandbox's folder.

Each test lets a program do its worst with what it was given and looks from outside whether anything beyond it changed.
"""

import ctypes
import errno
import os
import platform
import pty
import shutil
import struct
import subprocess
import time
import tty

import host
from harness import FUMEHOOD, command, contains, equal, fumehood, main, needs, scratch, skip, start, test

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22
CALLS = {"sendmsg": {"x86_64": 46, "aarch64": 211}, "openat2": {"x86_64": 437, "aarch64": 437}}

SECRET = "the host's own\n"


def folder(*parts):
    """A fresh folder that the program's user may use; with parts, one below it."""
    path = os.path.join(scratch(), *parts)
    os.makedirs(path, exist_ok=True)
    os.chmod(path, 0o755)
    return path


def secret():
    path = os.path.join(scratch(), "secret")
    with open(path, "w") as f:
        f.write(SECRET)
    return path


def text(path):
    with open(path) as f:
        return f.read()


@test
def a_receipt_is_never_written_through_a_link():
    work, target = folder(), secret()
    receipt = os.path.join(work, "receipt.json")
    done = fumehood("run", "--workspace-rw", work, "--receipt", receipt, "--", "/bin/sh", "-c",
                    "rm -f receipt.json && ln -s %s receipt.json" % target)
    equal((done.status, text(target)), (0, SECRET), "BREACH: the link was laid during the run")
    done = fumehood("run", "--workspace-rw", work, "--receipt", receipt, "--", "/bin/true")
    equal((done.status, text(target)), (125, SECRET), "BREACH: the link was laid by an earlier run")
    contains(done.err.decode(), "symbolic link", "the error")


@test
def the_streams_are_never_spilled_through_a_link():
    work, away = folder(), folder()
    os.symlink(away, os.path.join(work, "out"))
    done = fumehood("run", "--workspace-rw", work, "--spill", os.path.join(work, "out"), "--", "/bin/echo", "mine")
    equal((done.status, os.listdir(away)), (125, []), "BREACH: output went where the link leads")
    os.mkdir(os.path.join(work, "in"))
    os.symlink(secret(), os.path.join(work, "in", "stdout"))
    equal(fumehood("run", "--spill", os.path.join(work, "in"), "--", "/bin/echo", "mine").status, 125, "status")


@test
def an_interpreter_that_the_program_could_change_is_never_run_outside():
    work, mark = folder(), os.path.join(scratch(), "mark")
    fake = os.path.join(work, "python3")
    with open(fake, "w") as f:
        f.write("#!/bin/sh\necho ran > %s\n" % mark)
    os.chmod(fake, 0o755)
    for options in (("--workspace-rw", work), ("--bind", "%s:/mnt:rw" % work)):
        done = fumehood("python", "--python", fake, *options, "-c", "pass")
        equal((done.status, os.path.exists(mark)), (126, False), "BREACH: it was asked unconfined, with %s" % options[0])
        contains(done.err.decode(), "which the program may write", "the error")
    # On PATH it is passed over, whatever else there is.
    fumehood("python", "--workspace-rw", work, "-c", "pass", env={"PATH": work + ":/usr/bin"})
    equal(os.path.exists(mark), False, "BREACH: found on PATH and asked unconfined")
    # Where the program cannot write, it is asked: the test would notice.
    fumehood("python", "--python", fake, "--workspace", work, "-c", "pass")
    equal(os.path.exists(mark), True, "asked where nobody could have changed it")


def on_a_terminal(*args):
    """What a terminal gets when fumehood's streams are one."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    with start(*args, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        got = b""
        try:
            while True:
                got += os.read(ours, 65536)
        except OSError:
            pass
        running.wait()
    os.close(ours)
    return got


@test
def a_terminal_gets_nothing_it_would_obey():
    code = r"printf '\033]0;title\007a\tb\302\233c\303\251\r\n'; printf '\302'; sleep 0.1; printf '\233d\177\n'; printf '\033[2J' >&2"
    equal(on_a_terminal("run", "--", "/bin/sh", "-c", code),
          b"?]0;title?a\tb\xc2\xbfc\xc3\xa9\r\n\xc2\xbfd?\n?[2J", "what the terminal got")
    got = on_a_terminal("run", "--", "/no\x1b]0;x\x07/such\n")
    equal((b"\x1b]" in got, b"\x07" in got, got.count(b"\n")), (False, False, 1), "the message %r" % got)
    # A pipe gets the bytes as they are.
    equal(fumehood("run", "--", "/bin/sh", "-c", code).out[:5], b"\x1b]0;t", "into a pipe")


# -- level process: no mounts stand between the program and the paths of the host ---------------------------------------

def refuse(call, error):
    """For preexec_fn: a filter of the host's own around us."""
    number = CALLS[call].get(platform.machine())
    if number is None:
        skip("the number of %s is not known for %s" % (call, platform.machine()))
    code = b"".join(struct.pack("HBBI", *i) for i in (
        (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | error), (0x06, 0, 0, 0x7FFF0000)))

    def install():
        text = ctypes.create_string_buffer(code)
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(text)))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0):
            os._exit(99)
    return install


@test
@needs("landlock")
def at_level_process_a_link_opens_nothing():
    work, away = folder(), folder()
    with open(os.path.join(away, "file"), "w") as f:
        f.write(SECRET)
    os.chmod(os.path.join(away, "file"), 0o644)
    link, below = os.path.join(work, "sub"), os.path.join(work, "sub", "deeper")
    os.mkdir(os.path.join(away, "deeper"))
    os.symlink(away, link)
    # An older container's filter does not know the call that resolves without links.
    for around in (None, refuse("openat2", errno.EPERM), refuse("openat2", errno.ENOSYS)):
        for path in (link, below):
            done = fumehood("run", "--level", "process", "--bind", "%s:%s" % (path, path), "--", "/bin/cat",
                            os.path.join(away, "file"), preexec_fn=around)
            equal((done.status, done.out), (125, b""), "BREACH: the bind %s shows what the link leads to" % path)
            contains(done.err.decode(), "symbolic link", "the error")
        done = fumehood("run", "--level", "process", "--bind", "%s:%s" % (away, away), "--", "/bin/cat",
                        os.path.join(away, "file"), preexec_fn=around)
        equal((done.status, done.text), (0, SECRET), "the folder itself, by its own name")


@test
@needs("root", "landlock")
def a_start_in_another_pid_namespace_removes_no_folder_in_use():
    # As of two containers that share a /tmp.
    if not shutil.which("unshare"):
        skip("unshare is not installed")
    with start("run", "--level", "process", "--", "/bin/sh", "-c", "echo kept > x; echo ready; sleep 1.5; cat x",
               stdout=subprocess.PIPE) as running:
        equal(running.stdout.readline(), b"ready\n", "first line")
        done = command("unshare", "-p", "-f", "--mount-proc", FUMEHOOD, "run", "--level", "process", "--", "/bin/true")
        equal(done.status, 0, "status in the other namespace: %r" % done)
        equal(running.stdout.read(), b"kept\n", "BREACH: what the program reads in its own folder")


@test
def a_program_that_could_not_be_reported_does_not_survive():
    seconds = "%d" % (100000 + os.getpid())
    around = refuse("sendmsg", errno.ENOBUFS)  # so that the warden cannot say that it forked the program
    for _ in range(8):
        done = fumehood("run", "--level", "process", "--", "/bin/sleep", seconds, preexec_fn=around)
        equal(done.status, 125, "status")
    time.sleep(0.2)
    left = [p for p in os.listdir("/proc") if p.isdigit() and host.process_name(int(p)).endswith("sleep " + seconds)]
    equal(left, [], "BREACH: processes left")


main()
