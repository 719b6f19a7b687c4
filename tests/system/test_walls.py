#!/usr/bin/env python3
"""Level namespace, files and processes: what is outside stays out of reach, and what is allowed works."""

import json
import os
import stat
import subprocess

import host
from harness import FUMEHOOD, command, contains, equal, main, needs, result, scratch, test
from inside import (PYTHON, find_inside, open_folders, python, running, secret, shell, status_of, tell, verdict)

WRITABLE = {"/dev/shm", "/tmp", "/home/user", "/work"}


# -- files --------------------------------------------------------------------------------------------------------

READ_EVERYWHERE = """
want = sys.argv[1]
places = [want, "/proc/self/root" + want, "/proc/1/root" + want, "/proc/self/cwd" + "/.." * 20 + want, "../" * 40 + want,
          "/proc/self/fd/0/../" + want, "/work/" + "../" * 10 + want, "/proc/1/cwd" + want, "/proc/thread-self/root" + want]
for p in places:
    try:
        print(open(p).read())
    except OSError as e:
        print(errno.errorcode[e.errno])
"""


@test
def a_secret_outside_cannot_be_read_by_any_path():
    path, content = secret()
    open_folders(os.path.dirname(path))
    r = verdict(python(READ_EVERYWHERE, words=[path]), "ok")
    if content in json.dumps(r):
        raise AssertionError("BREACH: the secret came out: " + r["stdout"]["text"])


@test
def a_file_that_is_bound_can_be_read():
    path, content = secret()
    open_folders(os.path.dirname(path))
    r = verdict(python(READ_EVERYWHERE, "--bind", "%s:%s" % (path, path), words=[path]), "ok")
    contains(r["stdout"]["text"], content)


@test
def credentials_of_the_host_are_not_there():
    out = tell("""
for p in ["/etc/shadow", "/etc/machine-id", "/etc/ssh", "/root", "/home", "/var/run", "/run", "/mnt", "/opt", "/srv", "/boot",
          "/sys/fs", "/sys/class", "/var/lib", "/etc/ssl/private", "/etc/sudoers", "/proc/1/environ"]:
    try:
        out[p] = os.listdir(p) if os.path.isdir(p) else open(p).read(80)
    except OSError as e:
        out[p] = errno.errorcode[e.errno]
out["users"] = open("/etc/passwd").read().count("\\n")
""")
    equal(out.pop("/home"), ["user"], "/home")
    equal(set(out.pop("/run")) - {"masks"}, set(), "/run but for the empty file and folder that cover parts of /proc")
    equal(out.pop("users"), 2, "users in /etc/passwd")
    equal({p: v for p, v in out.items() if v not in ("ENOENT", "EACCES", "EPERM")}, {}, "what was found")


@test
def every_mount_but_four_is_read_only_and_none_has_devices_or_setuid():
    r = verdict(result("run", "--", "sleep", "0.2"), "ok")
    for line in r["receipt"]["mounts"]:
        target, kind, options = line.split(" ", 2)
        options = options.split(",")
        if ("rw" in options) != (target in WRITABLE):
            raise AssertionError("BREACH: " + line)
        if "nosuid" not in options or ("nodev" not in options and kind != "devtmpfs" and not target.startswith("/dev/")):
            raise AssertionError("BREACH: " + line)
    equal(WRITABLE - {m.split()[0] for m in r["receipt"]["mounts"]}, set(), "mounts that are missing")


@test
def what_is_read_only_cannot_be_changed():
    before = os.stat("/usr/bin/env")
    out = tell("""
t = "/usr/bin/env"
out["open"] = attempt(open, t, "r+b")
out["truncate"] = attempt(os.truncate, t, 0)
out["chmod"] = attempt(os.chmod, t, 0o777)
out["chown"] = attempt(os.chown, t, 1000, 1000)
out["utime"] = attempt(os.utime, t)
out["unlink"] = attempt(os.unlink, t)
out["rename"] = attempt(os.rename, t, "/usr/bin/env2")
out["rename out"] = attempt(os.rename, t, "/work/env")
out["link"] = attempt(os.link, t, "/usr/bin/env3")
out["link out"] = attempt(os.link, t, "/work/env")
out["symlink"] = attempt(os.symlink, t, "/usr/bin/env4")
out["setxattr"] = attempt(os.setxattr, t, "user.x", b"1")
for folder in ["/", "/usr", "/usr/lib", "/etc", "/dev", "/proc", "/sys", "/run", "/var", "/etc/alternatives"]:
    out["mkdir in " + folder] = attempt(os.mkdir, folder + "/new")
    out["file in " + folder] = attempt(open, folder + "/new", "w")
    out["chmod of " + folder] = attempt(os.chmod, folder, 0o777)
for device in ["null", "zero", "urandom"]:
    out["utime of " + device] = attempt(os.utime, "/dev/" + device)
    out["chmod of " + device] = attempt(os.chmod, "/dev/" + device, 0o600)
""")
    equal([k for k, v in out.items() if v == "done"], [], "BREACH: what was done")
    after = os.stat("/usr/bin/env")
    equal((after.st_mode, after.st_size, after.st_mtime_ns, after.st_nlink, after.st_uid),
          (before.st_mode, before.st_size, before.st_mtime_ns, before.st_nlink, before.st_uid), "/usr/bin/env of the host")


@test
def the_four_writable_places_work():
    out = tell("""
for folder in ["/work", "/tmp", "/home/user", "/dev/shm"]:
    p = folder + "/x"
    os.mkdir(folder + "/d")
    open(p, "w").write("hello")
    os.chmod(p, 0o755)
    os.link(p, folder + "/d/y")
    os.symlink("x", folder + "/s")
    os.rename(p, folder + "/z")
    out[folder] = open(folder + "/d/y").read()
out["exec"] = os.system("printf '#!/bin/sh\\nexit 7\\n' > /work/e && chmod +x /work/e && /work/e") >> 8
""")
    equal(out.pop("exec"), 7, "a program in the workspace")
    equal(set(out.values()), {"hello"}, "what was written")


@test
def nothing_written_meets_the_next_run():
    place = "for d in /work /tmp /home/user /dev/shm; do "
    verdict(shell(place + "echo mine > $d/left; done"), "ok")
    r = verdict(shell(place + "ls -A $d; done"), "ok")
    equal(r["stdout"]["text"], "", "what the next one found")


@test
def mounts_cannot_be_changed():
    out = tell("""
before = open("/proc/self/mountinfo").read()
b = ctypes.c_char_p
out["remount"] = call("mount", b(b"none"), b(b"/usr"), b(b""), 0x20 | 0x1000, 0)
out["tmpfs"] = call("mount", b(b"none"), b(b"/tmp"), b(b"tmpfs"), 0, 0)
out["proc"] = call("mount", b(b"none"), b(b"/tmp"), b(b"proc"), 0, 0)
out["bind"] = call("mount", b(b"/usr"), b(b"/tmp"), b(b""), 0x1000, 0)
out["umount"] = call("umount2", b(b"/proc/meminfo"), 2)
out["pivot"] = call("pivot_root", b(b"/work"), b(b"/work"))
out["chroot"] = call("chroot", b(b"/work"))
out["fsopen"] = call("fsopen", b(b"tmpfs"), 0)
out["open_tree"] = call("open_tree", -100, b(b"/usr"), 1)
out["move_mount"] = call("move_mount", -100, b(b"/usr"), -100, b(b"/tmp"), 0)
out["setattr"] = call("mount_setattr", -100, b(b"/usr"), 0, b(bytes(32)), 32)
out["fspick"] = call("fspick", -100, b(b"/usr"), 0)
out["changed"] = before != open("/proc/self/mountinfo").read()
""")
    equal(out.pop("changed"), False, "the mount table changed")
    equal({k: v for k, v in out.items() if v not in (-1, -38)}, {}, "BREACH: answers but EPERM and ENOSYS")


@test
def device_nodes_cannot_be_made():
    out = tell("""
for name, mode, dev in [("disk", 0o60666, (8, 0)), ("mem", 0o20666, (1, 1)), ("kmsg", 0o20666, (1, 11)), ("tun", 0o20666, (10, 200))]:
    for folder in ["/work", "/tmp", "/dev/shm", "/home/user"]:
        out[folder + name] = attempt(os.mknod, folder + "/" + name, mode, os.makedev(*dev))
out["fifo"] = attempt(os.mkfifo, "/work/fifo")
""")
    equal(out.pop("fifo"), "done", "a fifo")
    equal([k for k, v in out.items() if v == "done"], [], "BREACH: nodes that were made")


@test
@needs("real root")
def a_planted_device_node_cannot_be_opened():
    folder = scratch()
    os.mknod(folder + "/zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    os.chmod(folder + "/zero", 0o666)
    for option in ("--workspace", "--workspace-rw"):
        out = tell("out['zero'] = attempt(open, '/work/zero', 'rb')\nout['dev'] = attempt(open, '/dev/zero', 'rb')",
                   option, folder)
        equal(out["dev"], "done", "/dev/zero")
        equal(out["zero"], "EACCES", "BREACH: a node planted in the workspace")


@test
@needs("real root")
def a_planted_setuid_program_and_one_with_capabilities_give_nothing():
    folder = scratch()
    for name in ("suid", "caps"):
        with open("/usr/bin/cat", "rb") as src, open(os.path.join(folder, name), "wb") as dst:
            dst.write(src.read())
        os.chmod(os.path.join(folder, name), 0o4755 if name == "suid" else 0o755)
    # version 2, effective, permitted: net_raw and dac_override
    os.setxattr(folder + "/caps", "security.capability", bytes.fromhex("01000002") + bytes.fromhex("02200000") + bytes(12))
    for option in ("--workspace", "--workspace-rw"):
        for name in ("suid", "caps"):
            r = verdict(result("run", "--keep", "64K", option, folder, "--", "/work/" + name, "/proc/self/status"), "ok")
            lines = dict(line.split(":\t", 1) for line in r["stdout"]["text"].splitlines() if ":\t" in line)
            equal(set(lines["Uid"].split()), {"1000"}, "BREACH: uids under " + name)
            equal(int(lines["CapEff"], 16), 0, "BREACH: capabilities under " + name)


@test
def files_of_proc_about_the_host_are_empty():
    with open("/proc/cmdline") as f:
        boot = f.read().strip()
    r = verdict(python("""
for p in ["kcore", "kmsg", "keys", "key-users", "kallsyms", "timer_list", "kpagecount", "config.gz", "cmdline", "slabinfo",
          "iomem", "ioports", "interrupts", "softirqs", "diskstats", "partitions", "sched_debug", "modules", "swaps", "vmstat",
          "zoneinfo", "locks", "schedstat", "vmallocinfo", "buddyinfo", "pagetypeinfo", "sysrq-trigger"]:
    try:
        got = open("/proc/" + p, "rb").read(100)
        if got: print("READ", p, got)
    except OSError: pass
for p in ["acpi", "scsi", "bus", "irq", "fs", "driver", "pressure"]:
    try:
        if os.listdir("/proc/" + p): print("LISTED", p, os.listdir("/proc/" + p))
    except OSError: pass
print(os.path.exists("/proc/self/status"), len(os.listdir("/sys")))
"""), "ok")
    equal(r["stdout"]["text"], "True 0\n", "what /proc and /sys tell")
    if boot and boot in json.dumps(r):
        raise AssertionError("BREACH: the boot command line")


@test
def settings_of_the_kernel_cannot_be_written():
    names = ["kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "vm/overcommit_memory", "kernel/randomize_va_space",
             "net/ipv4/ip_forward", "user/max_user_namespaces", "kernel/sysrq", "fs/file-max"]

    def values():
        found = {}
        for n in names:
            try:
                with open("/proc/sys/" + n) as f:
                    found[n] = f.read()
            except OSError:
                found[n] = None
        return found
    before = values()
    out = tell("""
def put(path):
    with open(path, "w") as f: f.write("1")
for p in %r: out[p] = attempt(put, "/proc/sys/" + p)
for p in ["sysrq-trigger", "self/oom_score_adj", "self/uid_map", "self/gid_map", "self/setgroups", "self/timens_offsets",
          "self/coredump_filter", "self/mem", "self/attr/current", "1/oom_score_adj", "self/clear_refs", "self/comm"]:
    out[p] = attempt(put, "/proc/" + p)
""" % names)
    equal([k for k, v in out.items() if v == "done"], [], "BREACH: what could be written")
    equal(values(), before, "settings of the host")


@test
def only_the_listed_devices_exist():
    out = tell("""
out["dev"] = sorted(os.listdir("/dev"))
for p in ["ptmx", "tty", "console", "fuse", "kvm", "net/tun", "mem", "loop-control"]: out[p] = attempt(open, "/dev/" + p)
open("/dev/null", "w").write("x")
out["zero"] = len(open("/dev/zero", "rb").read(9))
out["random"] = len(open("/dev/urandom", "rb").read(9))
out["full"] = attempt(lambda: os.write(os.open("/dev/full", 1), b"x"))
""")
    equal(out.pop("dev"), ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"], "/dev")
    equal((out.pop("zero"), out.pop("random"), out.pop("full")), (9, 9, "ENOSPC"), "devices")
    equal([k for k, v in out.items() if v == "done"], [], "BREACH: devices that open")


@test
def a_pty_of_its_own_when_asked_for():
    before = len(os.listdir("/dev/pts")) if os.path.isdir("/dev/pts") else 0
    out = tell("""
import pty, fcntl, termios
m, s = pty.openpty()
os.write(m, b"hello\\n")
out["read"] = os.read(s, 20).decode()
out["name"] = os.ttyname(s)
out["sti"] = attempt(fcntl.ioctl, s, termios.TIOCSTI, b"x")
out["list"] = sorted(os.listdir("/dev/pts"))
""", "--pty", "true")
    equal((out["read"], out["name"], out["list"]), ("hello\n", "/dev/pts/0", ["0", "ptmx"]), "a pty")
    if out["sti"] == "done":
        raise AssertionError("BREACH: TIOCSTI")
    equal(len(os.listdir("/dev/pts")) if os.path.isdir("/dev/pts") else 0, before, "ptys of the host")


@test
def no_core_file_is_left():
    folder = scratch()
    r = verdict(shell("ulimit -c unlimited; ulimit -c; kill -SEGV $$", "--workspace-rw", folder), "signal", 139)
    equal(r["signal_name"], "SIGSEGV", "signal")
    equal(os.listdir(folder), [], "files in the workspace")


# -- descriptors, environment, processes -----------------------------------------------------------------------------

@test
def nothing_is_inherited():
    folder = os.open("/", os.O_RDONLY)
    path, content = secret()
    f = os.open(path, os.O_RDONLY)
    high = os.open(path, os.O_RDONLY)
    os.dup2(high, 200)
    for fd in (folder, f, 200):
        os.set_inheritable(fd, True)
    done = command(FUMEHOOD, "run", "--keep", "64K", "--", PYTHON, "-I", "-c", """
import os
for fd in range(3, 4096):
    try: print("OPEN", fd, os.readlink("/proc/self/fd/%d" % fd))
    except OSError: pass
print(sorted(os.environ))
print([os.readlink("/proc/self/fd/%d" % i).split(":")[0] for i in range(3)], os.getcwd())
""", env={"CANARY_TOKEN": content, "LD_PRELOAD_CANARY": content}, pass_fds=(folder, f, 200))
    lines = done.text.splitlines()
    equal(lines[-1], "['/dev/null', 'pipe', 'pipe'] /work", "standard streams and folder")
    equal([x for x in lines if x.startswith("OPEN")], [], "BREACH: descriptors")
    if content in done.text or "CANARY" in done.text:
        raise AssertionError("BREACH: environment: " + done.text)


@test
def the_environment_is_the_listed_one():
    r = verdict(result("run", "--keep", "64K", "--env", "MINE=a=b", "--", "env", env={"SECRET": "x", "HTTP_PROXY": "y"}), "ok")
    names = {line.split("=")[0] for line in r["stdout"]["text"].splitlines()}
    allowed = {"PATH", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "MINE"}
    equal({n for n in names if not n.endswith("_NUM_THREADS") and n != "VECLIB_MAXIMUM_THREADS"}, allowed, "names")
    contains(r["stdout"]["text"], "MINE=a=b\n")


@test
def only_its_own_processes_are_seen():
    canary = subprocess.Popen(["sleep", "98765"])
    try:
        out = tell("""
out["pids"] = sorted(int(p) for p in os.listdir("/proc") if p.isdigit())
out["self"] = os.getpid()
out["names"] = [open("/proc/%d/cmdline" % p).read() for p in out["pids"] if p != os.getpid()]
""")
    finally:
        canary.kill()
        canary.wait()
    equal(out["self"], 2, "its own pid")
    equal([n for n in out["names"] if "98765" in n], [], "BREACH: processes of the host")
    equal(set(out["pids"]) - {1, 2}, set(), "processes it sees")


@test
def init_cannot_be_looked_at_traced_or_ended():
    out = tell("""
for name in ["environ", "mem", "maps", "root", "cwd", "exe", "fd", "ns/mnt", "auxv", "stack", "io", "syscall"]:
    p = "/proc/1/" + name
    out[name] = attempt(os.listdir if name == "fd" else os.readlink if name in ("root", "cwd", "exe", "ns/mnt") else
                        (lambda x: open(x, "rb").read(1)), p)
out["ptrace attach"] = call("ptrace", 16, 1, 0, 0)
out["ptrace seize"] = call("ptrace", 0x4206, 1, 0, 0)
buffer = ctypes.create_string_buffer(64)
iov = struct.pack("QQ", ctypes.addressof(buffer), 8)
out["vm read"] = call("process_vm_readv", 1, iov, 1, iov, 1, 0)
out["vm write"] = call("process_vm_writev", 1, iov, 1, iov, 1, 0)
out["getfd"] = call("pidfd_getfd", 0, 0, 0)
for sig in range(1, 65):
    try: os.kill(1, sig)
    except OSError: pass
out["alive"] = os.getppid() == 1
""")
    equal(out.pop("alive"), True, "init")
    equal([k for k, v in out.items() if v == "done" or (isinstance(v, int) and v >= 0)], [], "BREACH: what init let out")


@test
def signals_reach_nobody_outside():
    bystander = subprocess.Popen(["sleep", "60"])
    with running("run", "--", "sleep", "60") as other:
        inner = find_inside(other, "sleep 60")
        try:
            r = python("""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.getpid() != 2: sys.exit("no pid namespace: the rest would hit the host")
for pid in [-1] + list(range(3, 70000)):
    try: os.kill(pid, signal.SIGTERM)
    except OSError: pass
for pid in %r:
    for f in (os.kill, os.killpg):
        try: f(pid, signal.SIGKILL)
        except OSError: pass
print("alive")
""" % [os.getpid(), bystander.pid, other.pid, inner])
            verdict(r, "ok")
            equal(r["stdout"]["text"], "alive\n", "the killer itself")
            equal((bystander.poll(), other.poll(), host.start_time(inner) is not None), (None, None, True),
                  "BREACH: those outside")
        finally:
            bystander.kill()
            bystander.wait()


# -- identity ---------------------------------------------------------------------------------------------------------

THREADS = """
import threading, subprocess
for i in range(3): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
subprocess.Popen(["sleep", "31"])
print("up", flush=True)
time.sleep(30)
"""


@test
def every_thread_and_child_is_without_power_as_seen_from_outside():
    with running("run", "--", PYTHON, "-c", "import time\n" + THREADS) as p:
        child = find_inside(p, "sleep 31")
        program = host._stat(child)[0]
        init = host._stat(program)[0]
        tasks = [(program, t) for t in os.listdir("/proc/%d/task" % program)] + [(child, None)]
        equal(len(tasks), 5, "threads and children")
        for pid, thread in tasks + [(init, None)]:
            s = status_of(pid, thread)
            for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                equal(int(s[name], 16), 0, "BREACH: %s of %s" % (name, s["Name"]))
            equal(s["NoNewPrivs"], "1", "BREACH: NoNewPrivs of " + s["Name"])
        for pid, thread in tasks:
            s = status_of(pid, thread)
            equal((int(s["CapBnd"], 16), s["Seccomp"]), (0, "2"), "BREACH: bounding set and seccomp of " + s["Name"])
            if host.need_real_root() is None:
                equal((len(set(s["Uid"].split())), int(s["Uid"].split()[0]) > 65536, s["Groups"]), (1, True, ""),
                      "BREACH: identity of " + s["Name"])
        for name in ("mnt", "pid", "net", "ipc", "uts", "user", "cgroup"):
            if os.readlink("/proc/%d/ns/%s" % (program, name)) == os.readlink("/proc/self/ns/" + name):
                raise AssertionError("BREACH: the %s namespace is ours" % name)


@test
def the_receipt_says_what_is_seen_from_outside():
    with running("run", "--json", "--", PYTHON, "-c", "import time; time.sleep(1.5)") as p:
        program = find_inside(p, "time.sleep(1.5)")
        seen = status_of(program)
        namespaces = {n: os.readlink("/proc/%d/ns/%s" % (program, n)) for n in ("mnt", "pid", "net", "user")}
        r = json.loads(p.stdout.read())["receipt"]
    told = dict(n.split(":") for n in r["namespaces"])
    equal({n: "%s:[%s]" % (n, told[n]) for n in namespaces}, namespaces, "namespaces")
    equal((str(r["uid"]), r["seccomp"]["mode"], r["no_new_privs"]), (seen["Uid"].split()[0], 2, True), "identity")
    equal({r["capabilities"][c] for c in r["capabilities"]}, {"0" * 16}, "capabilities")


@test
@needs("real root")
def two_sandboxes_at_a_time_have_different_ids():
    with running("run", "--", "sleep", "41") as a, running("run", "--", "sleep", "42") as b:
        one, two = (status_of(find_inside(p, "sleep 4"))["Uid"].split()[0] for p in (a, b))
    if one == two:
        raise AssertionError("BREACH: both are uid " + one)


@test
def power_cannot_be_regained():
    out = tell("""
out["setuid"] = attempt(os.setuid, 0)
out["setgid"] = attempt(os.setgid, 0)
out["setgroups"] = attempt(os.setgroups, [0])
header = struct.pack("II", 0x20080522, 0)
out["capset"] = errno.errorcode.get(-call("capset", header, struct.pack("6I", 0xffffffff, 0xffffffff, 0, 0, 0, 0)), "done")
out["ambient"] = "done" if libc.prctl(47, 2, 21, 0, 0) == 0 else "refused"
out["keepcaps"] = "done" if libc.prctl(8, 1, 0, 0, 0) == 0 else "refused"
out["securebits"] = "done" if libc.prctl(28, 0, 0, 0, 0) == 0 else "refused"
out["nnp"] = "done" if libc.prctl(38, 0, 0, 0, 0) == 0 else "refused"
out["hostname"] = attempt(socket.sethostname, "mine")
for name, flag in [("user", 0x10000000), ("mnt", 0x20000), ("pid", 0x20000000), ("net", 0x40000000), ("ipc", 0x8000000),
                   ("uts", 0x4000000), ("cgroup", 0x2000000), ("time", 0x80)]:
    out["unshare " + name] = errno.errorcode.get(-call("unshare", flag), "done")
    if name != "time":
        pid = call("clone", flag | 17, 0, 0, 0, 0)
        if pid == 0: os._exit(0)
        out["clone " + name] = errno.errorcode.get(-pid, "done") if pid < 0 else "done"
out["setns"] = attempt(lambda: (_ for _ in ()).throw(OSError(-call("setns", os.open("/proc/self/ns/net", 0), 0), "")))
s = open("/proc/self/status").read()
out["caps"] = "done" if int(s.split("CapEff:\\t")[1][:16], 16) else "none"
out["host"] = "done" if socket.gethostname() != "fumehood" else "kept"
""")
    equal([k for k, v in out.items() if v == "done"], [], "BREACH: power regained")


@test
def it_cannot_tell_which_host_this_is():
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    r = verdict(shell("hostname; cat /proc/sys/kernel/random/boot_id /etc/machine-id /etc/hostname /proc/self/cgroup "
                      "/proc/self/mountinfo; uname -n; true"), "ok")
    text = r["stdout"]["text"]
    if boot in text or (os.uname().nodename in text and os.uname().nodename != "fumehood" and len(os.uname().nodename) > 3):
        raise AssertionError("BREACH: the host's name or boot id: " + text)
    for line in host.own_groups().values():
        if len(line.split("/")[-1]) > 16 and line.split("/")[-1] in text:
            raise AssertionError("BREACH: a group name of the host: " + text)
    for place in (os.environ["FUMEHOOD_TEST_SCRATCH"], os.environ["TMPDIR"]):
        if place in text:
            raise AssertionError("BREACH: a path of the host: " + text)


@test
def an_interpreter_cannot_be_rewritten_by_its_user():
    with open(PYTHON, "rb") as f:
        before = f.read()
    out = tell("""
for p in ["/proc/self/exe", sys.executable, "/proc/1/exe"]:
    out[p] = attempt(open, p, "r+b")
""")
    equal([k for k, v in out.items() if v == "done"], [], "BREACH: programs open for writing")
    with open(PYTHON, "rb") as f:
        equal(f.read() == before, True, "the interpreter is as before")


main("userns")
