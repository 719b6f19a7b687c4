"""Programs that system tests put into a sandbox, and what they ask about its result.

What runs inside only tries and reports; whether a wall held is decided by what is seen from outside. Standard library
only, Python 3.9.
"""

import contextlib
import ctypes
import errno
import json
import os
import platform
import secrets
import subprocess
import time

import host
from harness import FUMEHOOD, equal, result, scratch, skip, start, wait_for

PYTHON = "/usr/bin/python3"

# The numbers of system calls that the C library of Python has no function for, by machine.
CALLS = {
    "x86_64": {
        "ptrace": 101, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "acct": 163, "swapon": 167,
        "reboot": 169, "init_module": 175, "finit_module": 313, "kexec_load": 246, "syslog": 103, "vhangup": 153,
        "quotactl": 179, "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "add_key": 248, "request_key": 249,
        "keyctl": 250, "unshare": 272, "setns": 308, "clone3": 435, "bpf": 321, "perf_event_open": 298,
        "userfaultfd": 323, "io_uring_setup": 425, "io_uring_register": 427, "fanotify_init": 300,
        "name_to_handle_at": 303, "open_by_handle_at": 304, "process_vm_readv": 310, "process_vm_writev": 311,
        "kcmp": 312, "pidfd_getfd": 438, "memfd_secret": 447, "memfd_create": 319, "fsopen": 430, "fsconfig": 431,
        "fsmount": 432, "fspick": 433, "open_tree": 428, "move_mount": 429, "mount_setattr": 442, "capset": 126,
        "personality": 135, "sethostname": 170, "setdomainname": 171, "mbind": 237, "move_pages": 279,
        "migrate_pages": 256, "vmsplice": 278, "seccomp": 317, "clone": 56, "iopl": 172, "ioperm": 173,
        "modify_ldt": 154, "ustat": 136, "lookup_dcookie": 212, "shmget": 29, "msgget": 68, "semget": 64,
        "mq_open": 240, "sched_setscheduler": 144, "pidfd_open": 434, "ioprio_set": 251,
    },
    "aarch64": {
        "ptrace": 117, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "acct": 89, "swapon": 224,
        "reboot": 142, "init_module": 105, "finit_module": 273, "kexec_load": 104, "syslog": 116, "vhangup": 58,
        "quotactl": 60, "settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "add_key": 217, "request_key": 218,
        "keyctl": 219, "unshare": 97, "setns": 268, "clone3": 435, "bpf": 280, "perf_event_open": 241,
        "userfaultfd": 282, "io_uring_setup": 425, "io_uring_register": 427, "fanotify_init": 262,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "process_vm_readv": 270, "process_vm_writev": 271,
        "kcmp": 272, "pidfd_getfd": 438, "memfd_secret": 447, "memfd_create": 279, "fsopen": 430, "fsconfig": 431,
        "fsmount": 432, "fspick": 433, "open_tree": 428, "move_mount": 429, "mount_setattr": 442, "capset": 91,
        "personality": 92, "sethostname": 161, "setdomainname": 162, "mbind": 235, "move_pages": 239,
        "migrate_pages": 238, "vmsplice": 75, "seccomp": 277, "clone": 220, "lookup_dcookie": 18, "shmget": 194,
        "msgget": 186, "semget": 190, "mq_open": 180, "sched_setscheduler": 119, "pidfd_open": 434, "ioprio_set": 30,
    },
}

# In front of every program: call(name, ...) makes a system call and gives 0 or a positive result, or -errno;
# attempt(f, ...) gives "done" or the name of the error.
PRELUDE = """
import ctypes, errno, json, os, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
CALLS = %s
def call(name, *args):
    ctypes.set_errno(0)
    libc.syscall.restype = ctypes.c_long
    got = libc.syscall(ctypes.c_long(CALLS[name]), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return got if got >= 0 else -ctypes.get_errno()
def attempt(f, *args, **more):
    try:
        f(*args, **more)
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
    return "done"
"""


def prelude():
    calls = CALLS.get(platform.machine())
    if calls is None:
        skip("no system call numbers of %s in the tests" % platform.machine())
    return PRELUDE % json.dumps(calls)


def python(code, *options, words=(), **more):
    """The result of a Python program inside, with the prelude in front."""
    if not os.access(PYTHON, os.X_OK):
        skip("%s is not installed" % PYTHON)
    return result("run", "--keep", "1M", *options, "--", PYTHON, "-I", "-c", prelude() + code, *words, **more)


def tell(code, *options, **more):
    """Runs a Python program inside that fills `out`, a dict, and returns it."""
    r = python("out = {}\n" + code + "\nprint(json.dumps(out))\n", *options, **more)
    equal((r["verdict"], r["stderr"]["text"]), ("ok", ""), "how the program ended")
    return json.loads(r["stdout"]["text"])


def shell(code, *options, **more):
    """The result of a shell program inside."""
    return result("bash", "--keep", "1M", *options, "-c", code, **more)


def verdict(r, want, status=None):
    if r["verdict"] != want or (status is not None and r["status"] != status):
        raise AssertionError("verdict %s, status %s (%s), expected %s %s; stdout %r, stderr %r" % (
            r["verdict"], r["status"], r["message"], want, "" if status is None else status,
            r["stdout"]["text"][-500:], r["stderr"]["text"][-500:]))
    return r


def means(r, axis):
    """By what this host holds the limit: cgroup, rlimit, watch, tmpfs, clock, pipe."""
    return r["receipt"]["limits"][axis]["means"]


def holds(axis, *options):
    """The same, asked before."""
    return means(result("run", *options, "--", "true"), axis)


def secret(folder=None, name="secret", mode=0o644):
    """A file with random content outside the sandbox: (path, content)."""
    path = os.path.join(folder or scratch(), name)
    content = "canary-" + secrets.token_hex(16)
    with open(path, "w") as f:
        f.write(content + "\n")
    os.chmod(path, mode)
    return path, content


def open_folders(path):
    """Lets every user walk down to `path`, as far as the folders are ours."""
    while path != "/":
        try:
            os.chmod(path, os.stat(path).st_mode | 0o111)
        except OSError:
            return
        path = os.path.dirname(path)


def compile_c(source, *flags):
    """A C program built on the host, in a folder of its own: (folder, name)."""
    folder = scratch()
    done = subprocess.run(["gcc", "-O1", "-o", os.path.join(folder, "probe"), "-x", "c", "-", *flags],
                          input=source.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise AssertionError("the probe does not build: " + done.stdout.decode())
    return folder, "probe"


@contextlib.contextmanager
def running(*args, **more):
    """A started `fumehood`, ended and collected on the way out whatever happens."""
    p = start(*args, stdin=more.pop("stdin", subprocess.DEVNULL), stdout=more.pop("stdout", subprocess.PIPE),
              stderr=more.pop("stderr", subprocess.PIPE), **more)
    try:
        yield p
    finally:
        if p.poll() is None:
            p.terminate()
        try:
            p.wait(10)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
        for stream in (p.stdout, p.stderr):
            if stream:
                stream.close()


def find_inside(p, word, seconds=10):
    """The pid of the process below `p` whose command line holds `word`."""
    def look():
        return [d for d in host.descendants(p.pid) if word in host.process_name(d) and FUMEHOOD not in host.process_name(d)]
    return wait_for("a process '%s' inside" % word, look, seconds)[0]


def status_of(pid, thread=None):
    """/proc/<pid>/status as a dict."""
    path = "/proc/%d/status" % pid if thread is None else "/proc/%d/task/%s/status" % (pid, thread)
    with open(path) as f:
        return {k: v.strip() for k, _, v in (line.partition(":") for line in f)}


def gone_within(pids, seconds):
    """Waits until none of the pids lives; zombies nobody collects yet count as gone."""
    born = {p: host.start_time(p) for p in pids}

    def none_left():
        left = []
        for p in pids:
            found = host._stat(p)
            if found and found[1] not in "ZX" and found[2] == born[p]:
                left.append(p)
        return not left
    wait_for("%d processes to end" % len(pids), none_left, seconds)


def errno_name(number):
    return errno.errorcode.get(-number, str(number)) if number < 0 else "done"


def now():
    return time.monotonic()


def prctl(option, value):
    return ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
