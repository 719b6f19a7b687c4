#!/usr/bin/env python3
"""Level namespace, the kernel's surface: what is refused, with which answer, and what honest programs need."""

import os
import platform

from harness import command, equal, main, needs, result, test
from host import tool
from inside import compile_c, python, tell, verdict


def need_x86():
    return None if platform.machine() == "x86_64" else "needs an x86-64 machine"


@test
def privileged_and_exotic_calls_are_refused():
    out = tell("""
b = ctypes.create_string_buffer(256)
for name in ["io_uring_setup", "io_uring_register", "bpf", "perf_event_open", "userfaultfd", "fanotify_init", "memfd_secret",
             "name_to_handle_at", "open_by_handle_at", "keyctl", "add_key", "request_key", "init_module", "finit_module",
             "kexec_load", "reboot", "swapon", "acct", "quotactl", "syslog", "vhangup", "settimeofday", "clock_settime", "setns",
             "unshare", "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "clone3", "sethostname",
             "setdomainname", "mbind", "move_pages", "migrate_pages", "vmsplice", "lookup_dcookie"] + %s:
    out[name] = call(name, 0, b, 0, 0, 0, 0)
""" % (["iopl", "ioperm", "modify_ldt", "ustat"] if platform.machine() == "x86_64" else []))
    equal({k: v for k, v in out.items() if v not in (-1, -38)}, {}, "BREACH: answers but EPERM and ENOSYS")
    equal({k: out[k] for k in ("clone3", "io_uring_setup", "keyctl", "bpf")},
          {"clone3": -38, "io_uring_setup": -38, "keyctl": -38, "bpf": -1}, "the answers libraries fall back on")


@test
def arguments_are_looked_at():
    out = tell("""
import fcntl
out["personality read"] = call("personality", 0xffffffff)
out["personality no aslr"] = call("personality", 0x0040000)
for name, flag in [("newuser", 0x10000000), ("newns", 0x20000), ("parent", 0x8000)]:
    for high in (0, 1 << 32, 1 << 62):
        pid = call("clone", flag | high | 17, 0, 0, 0, 0)
        if pid == 0: os._exit(9)
        out["clone %s %x" % (name, high)] = pid
r, w = os.pipe()
out["lease"] = attempt(fcntl.fcntl, os.open("/work/x", os.O_CREAT | os.O_RDWR), 1024, 1)
out["sti"] = attempt(fcntl.ioctl, r, 0x5412, b"x")
out["linux"] = attempt(fcntl.ioctl, r, 0x541c, b"x")
out["fionread"] = attempt(fcntl.ioctl, r, 0x541b, b"    ")
s = socket.socket()
out["filter"] = attempt(s.setsockopt, 1, 26, bytes(16))
out["reuse"] = attempt(s.setsockopt, 1, 2, 1)
""")
    equal((out.pop("personality read"), out.pop("fionread"), out.pop("reuse")), (0, "done", "done"), "what is allowed")
    equal({k: v for k, v in out.items() if v not in (-1, -38, -22, "EPERM", "ENOSYS", "EINVAL", "EACCES")}, {},
          "BREACH: what went through")
    equal([k for k, v in out.items() if k.startswith("clone") and v != -1], [], "clone that the filter did not answer")


@test
def the_filter_cannot_be_loosened():
    r = verdict(python("""
import subprocess, threading
def probe(): return call("unshare", 0x10000000)
def mode(): return open("/proc/thread-self/status").read().split("Seccomp:\\t")[1][0]
print("prctl off", libc.prctl(22, 0, 0, 0, 0), "seccomp off", call("seccomp", 0, 0, 0))
allow = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
prog = ctypes.create_string_buffer(allow)
class Prog(ctypes.Structure): _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
p = Prog(1, ctypes.addressof(prog))
print("allow all", call("seccomp", 1, 0, ctypes.byref(p)))
print("listener", call("seccomp", 1, 8, ctypes.byref(p)))
print("here", mode(), probe())
t = threading.Thread(target=lambda: print("thread", mode(), probe())); t.start(); t.join()
print("exec", subprocess.run(["grep", "Seccomp:", "/proc/self/status"], stdout=-1).stdout.decode().split()[1],
      subprocess.run(["unshare", "-U", "true"], stderr=-3).returncode != 0)
"""), "ok")
    lines = r["stdout"]["text"].splitlines()
    equal(lines[0], "prctl off -1 seccomp off -22", "switching off")
    equal([x for x in lines if x.startswith("listener") and int(x.split()[1]) >= 0], [], "BREACH: a listener")
    equal(lines[3:], ["here 2 -1", "thread 2 -1", "exec 2 True"], "the filter afterwards")


I386 = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	long r = -1;
	puts("before");
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "x32") == 0)
		__asm__ volatile("syscall" : "=a"(r) : "0"(0x40000000L | 39) : "rcx", "r11", "memory");
	else if (argc > 1)
		__asm__ volatile("int $0x80" : "=a"(r) : "0"(20L) : "memory");
	printf("after %ld\n", r);
	return 0;
}
"""


@test
@needs(need_x86, tool("gcc"))
def a_foreign_abi_ends_the_program():
    folder, probe = compile_c(I386)
    outside = command(os.path.join(folder, probe), "i386")
    for abi in ("i386", "x32"):
        r = result("run", "--workspace", folder, "--", "/work/" + probe, abi)
        if outside.out.count(b"after") == 0 and abi == "i386":
            equal(r["stdout"]["text"], "before\n", "output")
        verdict(r, "policy", 123)
        equal((r["signal_name"], r["stdout"]["text"]), ("SIGSYS", "before\n"), "BREACH: a call of " + abi)
    verdict(result("run", "--workspace", folder, "--", "/work/" + probe), "ok")


@test
def honest_calls_work():
    out = tell("""
import mmap, threading, subprocess, select, resource
m = mmap.mmap(-1, 65536); m[0] = 65; out["mmap"] = m[0]
t = []; x = threading.Thread(target=lambda: t.append(1)); x.start(); x.join(); out["thread"] = t
out["spawn"] = os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "exit 3"], {}), 0)[1])
out["fork"] = os.waitstatus_to_exitcode(os.waitpid(os.fork() or os._exit(4), 0)[1])
e = select.epoll(); e.register(os.pipe()[0]); out["epoll"] = e.poll(0)
a, b = socket.socketpair(); a.send(b"x"); out["pair"] = b.recv(1).decode()
out["memfd"] = attempt(os.memfd_create, "x")
out["clock"] = time.clock_gettime(time.CLOCK_MONOTONIC) > 0
out["rlimit"] = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
signal.setitimer(signal.ITIMER_REAL, 0.05); signal.signal(signal.SIGALRM, lambda *_: out.__setitem__("alarm", True)); time.sleep(0.2)
out["flock"] = attempt(__import__("fcntl").flock, os.open("/work/l", os.O_CREAT | os.O_RDWR), 2)
out["nice"] = attempt(os.nice, 1)
""")
    equal(out, {"mmap": 65, "thread": [1], "spawn": 3, "fork": 4, "epoll": [], "pair": "x", "memfd": out["memfd"], "clock": True,
                "rlimit": 1024, "alarm": True, "flock": "done", "nice": "done"}, "what a program needs")


@test
def scheduling_cannot_be_raised():
    out = tell("""
param = struct.pack("i", 10)
for policy in (1, 2, 6, 0x40000001): out["policy %d" % policy] = call("sched_setscheduler", 0, policy, param)
out["nice"] = attempt(os.setpriority, os.PRIO_PROCESS, 0, -20)
out["ioprio"] = call("ioprio_set", 1, 0, 1 << 13)
out["policy"] = os.sched_getscheduler(0)
""")
    equal(out.pop("policy"), 0, "policy")
    equal({k: v for k, v in out.items() if not (v == "EACCES" or v == "EPERM" or (isinstance(v, int) and v < 0))}, {},
          "BREACH: what was raised")


@test
def objects_of_ipc_are_its_own():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    key, ours = 0x46484d31, libc.shmget(0x46484d31, 4096, 0o1666)
    try:
        with open("/proc/sysvipc/shm") as f:
            before = f.read().count("\n")
        out = tell("""
out["found"] = call("shmget", 0x46484d31, 4096, 0o666)
out["made"] = call("shmget", 0x46484d32, 4096, 0o1666)
out["list"] = open("/proc/sysvipc/shm").read().count("\\n")
""")
        with open("/proc/sysvipc/shm") as f:
            after = f.read().count("\n")
    finally:
        if ours >= 0:
            libc.shmctl(ours, 0, None)
    equal(after, before, "objects of the host")
    # -ENOENT, or -ENOSYS where no group counts such memory and the filter refuses it
    equal(out["found"] in (-2, -38), True, "BREACH: an object of the host with key %x" % key)
    equal(out["list"] <= 2, True, "objects it sees")


main("userns")
