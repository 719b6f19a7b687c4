#!/usr/bin/env python3
"""One limit at a time: what runs into it is ended or refused and told so; what stays below is not.

Where no control group holds an axis the supervisor watches it; the receipt says which, and what is expected follows.
"""

import os
import threading
import time

import host
from harness import between, equal, main, needs, result, skip, test
from inside import holds, means, python, running, shell, verdict


# -- time ---------------------------------------------------------------------------------------------------------

@test
def real_time_ends_a_sleeper():
    r = verdict(result("run", "--wall", "500ms", "--", "sleep", "8"), "wall", 124)
    between(r["time_ms"]["wall"], 500, 1500, "its time")
    equal((r["limit"]["axis"], r["limit"]["value"]), ("wall", 500), "limit")


@test
def real_time_ends_a_busy_program_that_blocks_signals_and_one_that_stops_itself():
    for code in ("signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
                 "os.kill(os.getpid(), signal.SIGSTOP)", "sys.stdin.read(); time.sleep(60)",
                 "[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 13, 14, 15, 24)]; time.sleep(60)"):
        r = verdict(python("print('before', flush=True)\n" + code, "--wall", "700ms"), "wall", 124)
        between(r["time_ms"]["wall"], 700, 1900, "its time")
        equal(r["stdout"]["text"], "before\n", "what it printed before")


@test
def real_time_below_the_limit_is_no_end():
    verdict(result("run", "--wall", "20s", "--", "sleep", "0.2"), "ok", 0)


@test
def processor_time_ends_a_busy_program():
    r = verdict(python("while True: pass", "--cpu", "500ms"), "cpu", 123)
    between(r["time_ms"]["user"] + r["time_ms"]["system"], 450, 1100, "processor time")
    equal((r["limit"]["axis"], r["limit"]["value"]), ("cpu", 500), "limit")


@test
def processor_time_of_four_processes_is_added():
    r = verdict(python("for i in range(2): os.fork()\nwhile True: pass", "--cpu", "1s"), "cpu", 123)
    between(r["time_ms"]["user"] + r["time_ms"]["system"], 900, 1800, "processor time")


@test
def processor_time_of_threads_is_added():
    r = verdict(shell("yes > /dev/null & yes > /dev/null & wait", "--cpu", "600ms"), "cpu", 123)
    between(r["time_ms"]["user"] + r["time_ms"]["system"], 550, 1300, "processor time")


@test
def processor_time_of_short_children_is_added():
    r = verdict(shell("while :; do (:); done", "--cpu", "600ms", "--wall", "30s"), "cpu", 123)
    between(r["time_ms"]["user"] + r["time_ms"]["system"], 550, 1500, "processor time")


ORPHANS = """
while True:
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            end = time.process_time() + 0.01
            while time.process_time() < end: pass
        os._exit(0)
    os.waitpid(pid, 0)
"""


@test
def processor_time_of_orphans_is_added():
    r = verdict(python(ORPHANS, "--cpu", "600ms", "--wall", "20s"), "cpu", 123)
    between(r["time_ms"]["user"] + r["time_ms"]["system"], 550, 1700, "processor time")


UNCOLLECTED = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    pid = os.fork()
    if pid == 0:
        end = time.process_time() + 0.005
        while time.process_time() < end: pass
        os._exit(0)
    try: os.waitpid(pid, 0)
    except ChildProcessError: pass
"""


@test
def processor_time_of_children_nobody_collects_is_added():
    if holds("cpu") == "watch":
        skip("without a group the kernel adds the time of children to nobody when SIGCHLD is ignored; the wall limit bounds it")
    r = verdict(python(UNCOLLECTED, "--cpu", "600ms", "--wall", "20s"), "cpu", 123)
    between(r["time_ms"]["user"] + r["time_ms"]["system"], 550, 1500, "processor time")


@test
def processors_are_shared_as_asked_whatever_affinity_it_wants():
    r = python("try: os.sched_setaffinity(0, range(1024))\nexcept OSError: pass\nfor i in range(2): os.fork()\nend = time.time() + 1.5\nwhile time.time() < end: pass", "--cpus", "1")
    verdict(r, "ok")
    between(r["time_ms"]["user"] + r["time_ms"]["system"], 50, 1900, "processor time of 4 busy processes on 1 processor")


@test
def own_words_about_limits_are_not_believed():
    for status in (123, 124, 125, 126, 127, 137, 153):
        r = verdict(shell("echo 'fumehood: wall: ended after 30s'; exit %d" % status), "exit", status)
        equal((r["exit_code"], r["limit"]), (status, None), "exit status and limit")
    for name, number in (("KILL", 9), ("XCPU", 24), ("TERM", 15), ("ABRT", 6)):
        r = verdict(shell("kill -%s $$" % name), "signal", 128 + number)
        equal((r["signal_name"], r["limit"]), ("SIG" + name, None), "signal and limit")


# -- memory -------------------------------------------------------------------------------------------------------

HOGS = {
    "heap": "a = []\nwhile True: a.append(bytearray(1 << 20))",
    "private mapping": "import mmap\na = []\nwhile True:\n m = mmap.mmap(-1, 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
                       " m.write(b'x' * (4 << 20)); a.append(m)",
    "shared mapping": "import mmap\na = []\nwhile True:\n m = mmap.mmap(-1, 4 << 20); m.write(b'x' * (4 << 20)); a.append(m)",
    "file in the workspace": "f = open('/work/x', 'wb')\nwhile True: f.write(bytes(1 << 20))",
    "file in dev shm": "f = open('/dev/shm/x', 'wb')\nwhile True: f.write(bytes(1 << 20))",
    "deleted file": "f = open('/tmp/x', 'wb'); os.unlink('/tmp/x')\nwhile True: f.write(bytes(1 << 20))",
    "memfd": "try: f = os.memfd_create('x')\nexcept OSError: f = os.open('/tmp/x', os.O_CREAT | os.O_RDWR)\n"
             "while True: os.write(f, bytes(1 << 20))",
    "many memfds": "a = []\nwhile True:\n try: a.append(os.memfd_create('x'))\n except OSError: "
                   "a.append(os.open('/tmp/x%d' % len(a), os.O_CREAT | os.O_RDWR))\n os.write(a[-1], bytes(8 << 20))",
    "fifty processes": "for i in range(50):\n if os.fork() == 0:\n  a = bytearray(8 << 20)\n  time.sleep(30)\ntime.sleep(30)",
    "sysv": "libc.shmat.restype = ctypes.c_void_p\nwhile True:\n i = libc.shmget(0, 4 << 20, 0o1600)\n"
            " while i < 0: a = globals().get('a', []) + [bytearray(1 << 20)]; time.sleep(0.01)\n"
            " p = libc.shmat(i, None, 0); ctypes.memset(p, 1, 4 << 20)",
    "sysv that is mapped nowhere": "libc.shmat.restype = ctypes.c_void_p\nwhile True:\n i = libc.shmget(0, 4 << 20, 0o1600)\n"
            " while i < 0: a = globals().get('a', []) + [bytearray(1 << 20)]; time.sleep(0.01)\n"
            " p = libc.shmat(i, None, 0); ctypes.memset(p, 1, 4 << 20); libc.shmdt(ctypes.c_void_p(p))",
    "pipes": None,
}


def hog(kind, code):
    def body():
        free = memory_free()
        low = [free]
        with watch(lambda: low.append(memory_free())):
            r = python(code, "--memory", "64M", "--disk", "4G", "--file-size", "4G", "--wall", "15s")
        verdict(r, "memory", 123)
        by = means(r, "memory")
        between(r["peak"]["memory_bytes"] >> 20, 50, 80 if by == "cgroup" else 400, "MiB at most, held by " + by)
        equal((r["limit"]["axis"], r["limit"]["value"]), ("memory", 64 << 20), "limit")
        between((free - min(low)) >> 20, -(1 << 20), 1500, "MiB of the host taken")
    body.__name__ = "memory_by_%s_ends_it" % kind.replace(" ", "_")
    return body


@test
@needs("cgroup")
def what_waits_in_sockets_is_bounded():
    # A v1 group counts it apart, and not at all unless told to.
    r = python("""
import socket
listener = socket.create_server(("127.0.0.1", 0), backlog=200)
kept, total = [], 0
for _ in range(100):
    a = socket.create_connection(listener.getsockname())
    kept += [a, listener.accept()[0]]
    a.setblocking(False)
    try:
        while True: total += a.send(bytes(65536))
    except BlockingIOError: pass
print(total >> 20)
""", "--memory", "64M")
    if r["verdict"] != "memory":
        between(int(verdict(r, "ok", 0)["stdout"]["text"]), 1, 100, "MiB that wait, of 64 allowed")


def memory_free():
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("MemAvailable"))


class watch:
    """Calls something every few milliseconds while the body runs."""

    def __init__(self, f):
        self.f, self.stop = f, threading.Event()
        self.thread = threading.Thread(target=self.loop)

    def loop(self):
        while not self.stop.wait(0.02):
            self.f()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


for _kind, _code in HOGS.items():
    if _code:
        test(hog(_kind, _code))


@test
def memory_below_the_limit_is_no_end():
    r = verdict(python("a = bytearray(40 << 20)\nprint(len(a))", "--memory", "96M"), "ok", 0)
    between(r["peak"]["memory_bytes"], 40 << 20, 96 << 20, "peak")


@test
def ten_ends_for_memory_in_a_row_leave_the_next_run_well():
    for _ in range(10):
        verdict(python(HOGS["heap"], "--memory", "32M"), "memory", 123)
    verdict(result("run", "--", "true"), "ok", 0)


@test
def a_large_reservation_is_no_use_of_memory():
    verdict(python("import mmap\nm = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, "
                   "prot=mmap.PROT_READ)\nprint('reserved')", "--memory", "64M"), "ok", 0)


@test
def endless_recursion_is_an_end_of_its_own():
    r = python("sys.setrecursionlimit(1 << 30)\nclass A:\n def __getattr__(self, n): return getattr(self, n)\nA().x", "--wall", "20s")
    verdict(r, "signal", 139)


# -- processes ------------------------------------------------------------------------------------------------------

@test
def a_fork_bomb_is_bounded_and_ends():
    with running("run", "--json", "--pids", "40", "--wall", "3s", "--", "/usr/bin/python3", "-c",
                 "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass") as p:
        most = 0
        while p.poll() is None and most is not None:
            most = max(most, sum(threads(d) for d in host.descendants(p.pid)))
            time.sleep(0.02)
    between(most, 20, 42, "processes at a time")


def threads(pid):
    try:
        return len(os.listdir("/proc/%d/task" % pid))
    except OSError:
        return 0


@test
def who_fails_for_want_of_processes_is_told_so():
    # Without a group the watch has to see it full; the pause lets it look.
    r = python("try:\n for i in range(100):\n  if os.fork() == 0: time.sleep(5); os._exit(0)\nexcept OSError: time.sleep(0.5); raise",
               "--pids", "20")
    verdict(r, "pids", 123)
    equal((r["limit"]["axis"], r["limit"]["value"]), ("pids", 20), "limit")


@test
def a_thread_bomb_is_refused():
    r = python("import threading\nn = 0\ntry:\n while True: threading.Thread(target=time.sleep, args=(1,), daemon=True).start(); n += 1\n"
               "except RuntimeError: print(n, flush=True)\nos._exit(0)", "--pids", "30")
    verdict(r, "ok", 0)
    between(int(r["stdout"]["text"]), 20, 30, "threads")


@test
def processes_below_the_limit_work():
    verdict(shell("for i in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; wait", "--pids", "16"), "ok", 0)


# -- disk, files, descriptors -------------------------------------------------------------------------------------

@test
def a_big_file_fills_the_disk():
    r = shell("head -c 8M /dev/zero > one && head -c 8M /dev/zero > two", "--disk", "10M", "--file-size", "10M")
    verdict(r, "disk", 123)
    equal((r["limit"]["axis"], r["limit"]["value"]), ("disk", 10 << 20), "limit")
    between(r["peak"]["disk_bytes"], 9 << 20, 10 << 20, "peak")


@test
def the_disk_is_one_for_all_writable_places():
    r = python("""
n = 0
try:
    for i in range(100):
        for d in ("/work", "/tmp", "/home/user", "/dev/shm"):
            open("%s/%d" % (d, i), "wb").write(bytes(1 << 20)); n += 1
except OSError as e: print(n, errno.errorcode[e.errno])
""", "--disk", "12M", "--file-size", "4M")
    n, error = r["stdout"]["text"].split()
    equal(error, "ENOSPC", "the error")
    between(int(n), 9, 12, "MiB written")


@test
def preallocation_and_a_deleted_file_count_as_disk():
    r = python("""
f = os.open("/work/x", os.O_CREAT | os.O_RDWR); os.unlink("/work/x")
print(attempt(os.posix_fallocate, f, 0, 8 << 20), attempt(os.posix_fallocate, f, 0, 30 << 20))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
g = os.open("/work/y", os.O_CREAT | os.O_RDWR)
print(attempt(os.posix_fallocate, g, 0, 8 << 20))
""", "--disk", "10M", "--file-size", "10M")
    equal(r["stdout"]["text"], "done EFBIG\nENOSPC\n", "answers")


@test
def many_small_files_run_out_of_inodes():
    r = shell("i=0; while : > f$i; do i=$((i+1)); done; exit 1", "--inodes", "300")
    verdict(r, "inodes", 123)
    equal((r["limit"]["axis"], r["limit"]["value"]), ("inodes", 300), "limit")
    r = verdict(shell("i=0; while [ $i -lt 250 ]; do : > f$i; i=$((i+1)); done", "--inodes", "300"), "ok", 0)
    between(r["peak"]["inodes"], 250, 260, "peak")


@test
def a_signal_it_sends_itself_is_no_limit():
    for name, number in (("XFSZ", 25), ("XCPU", 24), ("KILL", 9)):
        r = verdict(shell("kill -%s $$" % name), "signal", 128 + number)
        equal(r["limit"], None, "limit of SIG" + name)


@test
def a_file_over_its_size_ends_the_writer():
    r = shell("exec head -c 3M /dev/zero > f", "--file-size", "1M")
    verdict(r, "disk", 123)
    equal((r["limit"]["axis"], r["limit"]["value"], r["signal_name"]), ("file_size", 1 << 20, "SIGXFSZ"), "limit")
    r = python("f = open('f', 'wb', 0)\nn = 0\ntry:\n while True: n += f.write(bytes(65536))\nexcept OSError as e: print(n, errno.errorcode[e.errno])",
               "--file-size", "1M")
    equal(r["stdout"]["text"], "1048576 EFBIG\n", "a writer that ignores the signal")


@test
def open_files_are_refused_above_their_number():
    r = python("import resource\na = []\ntry:\n while True: a.append(os.dup(0))\n"
               "except OSError as e: print(len(a) + 3, errno.errorcode[e.errno])\n"
               "print(attempt(resource.setrlimit, resource.RLIMIT_NOFILE, (60, 60)))\n"
               "try: resource.setrlimit(resource.RLIMIT_NOFILE, (5000, 5000))\nexcept ValueError: print('kept')", "--files", "64")
    verdict(r, "ok", 0)
    equal(r["stdout"]["text"], "64 EMFILE\ndone\nkept\n", "answers")


@test
def output_over_its_limit_ends_the_run():
    for code in ("yes", "yes >&2", "yes & yes >&2", "head -c 300M /dev/zero"):
        r = verdict(shell(code, "--output-stop", "1M"), "output", 123)
        total = r["stdout"]["bytes_total"] + r["stderr"]["bytes_total"]
        between(total, 1 << 20, 4 << 20, "bytes seen")
        equal((r["limit"]["axis"], r["limit"]["value"]), ("output", 1 << 20), "limit")


@test
def output_below_its_limit_is_no_end():
    r = verdict(shell("head -c 1048576 /dev/zero", "--output-stop", "1M"), "ok", 0)
    equal(r["stdout"]["bytes_total"], 1 << 20, "bytes")


@test
def limits_are_in_force_from_the_first_instruction():
    # What the loader does before main() is the program's, too: LD_PRELOAD of a folder that is its own.
    r = shell("ulimit -a | grep -c unlimited; ulimit -n; ulimit -f; ulimit -c", "--files", "77", "--file-size", "1M")
    verdict(r, "ok", 0)
    equal(r["stdout"]["text"].splitlines()[1:3], ["77", "1024"], "limits as bash sees them")


main("userns")
