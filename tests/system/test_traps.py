#!/usr/bin/env python3
"""Traps that a program lays for whoever comes after it: the supervisor, the next run, another sandbox's folder.

Each test lets a program do its worst with what it was given and looks from outside whether anything beyond it changed.
"""

import os

from harness import command, contains, equal, fumehood, main, scratch, test

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


main()
