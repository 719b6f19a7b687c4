#!/usr/bin/env python3
"""The harness itself: it finds what a test leaves behind, skips with a reason, and ends what hangs."""

import os
import sys

import host
from harness import between, command, contains, equal, main, scratch, test

HERE = os.path.dirname(os.path.abspath(__file__))


def inner(body):
    """Runs a test file of one test with this body, under the harness."""
    path = os.path.join(scratch(), "inner.py")
    with open(path, "w") as f:
        f.write("import os, subprocess, sys, tempfile, time\nsys.path.insert(0, %r)\nfrom harness import *\n"
                "from harness import needs, skip\n%s\nmain()\n" % (HERE, body))
    # Its own scratch as TMPDIR: what the inner harness itself makes there has to be gone, too.
    tmp = scratch()
    done = command(sys.executable, "-B", path, env={"FUMEHOOD": "/bin/true", "TMPDIR": tmp})
    equal(os.listdir(tmp), [], "what the inner harness left")
    return done


@test
def a_passing_test_passes():
    done = inner("@test\ndef fine():\n    equal(fumehood().status, 0)")
    equal(done.status, 0)
    equal(done.text.splitlines()[-1], "1 passed, 0 failed, 0 skipped")


@test
def a_wrong_value_fails():
    done = inner("@test\ndef wrong():\n    equal(1, 2, 'one')")
    equal(done.status, 1)
    contains(done.text, "FAIL wrong: AssertionError: one is 1, expected 2")
    equal(done.text.splitlines()[-1], "0 passed, 1 failed, 0 skipped")


@test
def a_lacking_host_skips_with_its_reason():
    done = inner("@test\n@needs(lambda: 'no moon')\ndef bright():\n    pass")
    equal(done.status, 0)
    contains(done.text, "SKIP bright: no moon\n0 passed, 0 failed, 1 skipped")


@test
def a_daemon_left_behind_fails_and_is_ended():
    done = inner("@test\ndef daemon():\n    subprocess.Popen(['sh', '-c', 'setsid sleep 987 & exit 0']).wait()")
    equal(done.status, 1)
    contains(done.text, "FAIL daemon: left behind: process")
    contains(done.text, "sleep 987")
    alive = [p for p in os.listdir("/proc") if p.isdigit() and host.process_name(int(p)) == "sleep 987"]
    equal(alive, [], "daemons that live on")


@test
def a_file_left_in_the_temporary_folder_fails():
    done = inner("@test\ndef litter():\n    open(os.path.join(tempfile.gettempdir(), 'dropped'), 'w').close()")
    equal(done.status, 1)
    contains(done.text, "FAIL litter: left behind: file dropped in TMPDIR")


@test
def a_hanging_test_is_ended_in_time():
    done = inner("@test(timeout=1)\ndef hang():\n    subprocess.run(['sleep', '986'])")
    equal(done.status, 1)
    contains(done.text, "FAIL hang: not done after 1 s")
    between(done.seconds, 1, 8, "seconds")


main()
