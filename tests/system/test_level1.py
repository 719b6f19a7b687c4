#!/usr/bin/env python3
"""Level process: no namespaces, so Landlock, the filter, rlimits and the warden have to do."""

import json
import os
import random
import subprocess

import host
from harness import between, contains, equal, fumehood, main, needs, result, scratch, test, wait_for
from host import landlock
from inside import (find_inside, means, now, open_folders, python, running, secret, shell, status_of, tell,
                    verdict)

L1 = ("--level", "process")


def alive(mark):
    return [p for p in map(int, filter(str.isdigit, os.listdir("/proc")))
            if host.process_name(p) == "sleep " + mark and host._stat(p) and host._stat(p)[1] not in "ZX"]


# -- files and sockets -----------------------------------------------------------------------------------------------

@test
@needs("landlock")
def files_outside_cannot_be_read_written_or_listed():
    path, content = secret(mode=0o666)
    folder, in_tmp = os.path.dirname(path), "/tmp/fumehood-probe-%d" % os.getpid()
    os.chmod(folder, 0o777)
    open_folders(folder)
    r = python("""
p = sys.argv[1]
for f in (lambda: open(p).read(), lambda: open("/proc/self/root" + p).read(), lambda: os.listdir(os.path.dirname(p)),
          lambda: open(p, "w"), lambda: os.unlink(p), lambda: os.rename(p, p + "2"), lambda: os.link(p, os.environ["HOME"] + "/l"),
          lambda: os.truncate(p, 0), lambda: os.mkdir(os.path.dirname(p) + "/d"), lambda: open("/etc/shadow").read(),
          lambda: os.listdir("/root"), lambda: os.listdir("/home"), lambda: open(sys.argv[2], "w"),
          lambda: open("/etc/hostname").read(), lambda: os.symlink("x", os.path.dirname(p) + "/s"), lambda: os.listdir("/")):
    print(attempt(f), end=" ")
os.symlink(p, "link")
print(attempt(open, "link"))
""", *L1, words=[path, in_tmp])
    if os.path.exists(in_tmp):
        os.unlink(in_tmp)
    verdict(r, "ok", 0)
    if content in json.dumps(r) or "done" in r["stdout"]["text"]:
        raise AssertionError("BREACH: " + r["stdout"]["text"])
    with open(path) as f:
        equal(f.read(), content + "\n", "the file")
    equal(os.listdir(folder), ["secret"], "the folder")


@test
def its_own_folder_and_the_system_work():
    r = python("""
import subprocess, tempfile
home = os.environ["HOME"]
open("x", "w").write("hello"); os.mkdir("d"); os.rename("x", "d/x"); os.link("d/x", "y"); os.symlink("y", "z"); os.unlink("y")
print(os.getcwd() == home == os.environ["TMPDIR"], os.stat(home).st_mode & 0o777, open("d/x").read())
print(subprocess.run(["sh", "-c", "echo sub; exit 3"], stdout=-1))
tempfile.TemporaryFile().write(b"x")
open("e", "w").write("#!/bin/sh\\necho ran\\n"); os.chmod("e", 0o755)
print(subprocess.check_output([home + "/e"]))
""", *L1)
    verdict(r, "ok", 0)
    lines = r["stdout"]["text"].splitlines()
    equal(lines[0], "True %d hello" % 0o700, "its folder")
    contains(lines[1], "returncode=3, stdout=b'sub\\n'")
    equal(lines[2], "b'ran\\n'", "a program of its own")


@test
def its_private_folder_goes_with_it():
    r = shell("echo $HOME; mkdir -p a/b; chmod 000 a; touch 'x\ny'; mkdir c; chmod 500 c; mkfifo p", *L1)
    home = r["stdout"]["text"].strip()
    equal(os.path.basename(os.path.dirname(home)), "fumehood-%d" % os.geteuid(), "its folder's parent")
    equal(os.path.exists(home), False, "BREACH: it exists still")


@test
def a_bound_folder_and_a_workspace_can_be_reached():
    path, content = secret()
    folder = os.path.dirname(path)
    open_folders(folder)
    r = shell("cat %s; echo x > %s/new && echo wrote" % (path, folder), *L1, "--bind", "%s:%s" % (folder, folder))
    equal(r["stdout"]["text"], content + "\n", "read-only")
    if os.geteuid() == 0 and host.need_real_root() is None:
        os.chmod(folder, 0o777)
    r = shell("cat secret; echo x > new && echo wrote", *L1, "--workspace-rw", folder)
    equal(r["stdout"]["text"], content + "\nwrote\n", "a workspace")


@test
def no_socket_but_a_local_one():
    out = tell("""
out["open"] = []
for family in range(0, 47):
    for kind in (1, 2, 3, 5):
        try: socket.socket(family, kind).close()
        except OSError: continue
        out["open"].append(family)
a, b = socket.socketpair(); a.send(b"x"); out["pair"] = b.recv(1).decode()
s = socket.socket(socket.AF_UNIX); s.bind("own"); s.listen(1); c = socket.socket(socket.AF_UNIX); c.connect("own"); out["own"] = "done"
""", *L1)
    equal((set(out["open"]), out["pair"], out["own"]), ({1}, "x", "done"), "families")


@test
@needs(landlock(6))
def abstract_sockets_outside_are_not_reached():
    import socket
    name = "\0fumehood-l1-%d" % os.getpid()
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(name)
        s.listen(1)
        s.settimeout(0.5)
        out = tell("out['to'] = attempt(socket.socket(socket.AF_UNIX).connect, %r)" % name, *L1)
        try:
            s.accept()
        except OSError:
            pass
        else:
            raise AssertionError("BREACH: a connection came")
    equal(out["to"] in ("EPERM", "EACCES"), True, "the answer %s" % out["to"])


@test
def objects_that_outlive_processes_cannot_be_made():
    with open("/proc/sysvipc/shm") as f:
        before = f.read()
    out = tell("""
out["shm"] = call("shmget", 0x46485031, 4096, 0o1666)
out["msg"] = call("msgget", 0x46485032, 0o1666)
out["sem"] = call("semget", 0x46485033, 1, 0o1666)
out["mq"] = call("mq_open", b"fumehood-probe", 0o102, 0o666, 0)
out["key"] = call("add_key", b"user", b"fumehood-probe", b"x", 1, -3)
out["shmfile"] = attempt(open, "/dev/shm/fumehood-probe", "w")
""", *L1)
    with open("/proc/sysvipc/shm") as f:
        equal(f.read(), before, "shared memory of the host")
    equal({k: v for k, v in out.items() if not (v in ("EACCES", "EPERM") or (isinstance(v, int) and v < 0))}, {}, "BREACH: what was made")


# -- identity -------------------------------------------------------------------------------------------------------

@test
def it_has_no_power_and_its_filter_is_on():
    with running("run", *L1, "--", "sleep", "43") as p:
        s = status_of(find_inside(p, "sleep 43"))
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        equal(int(s[name], 16), 0, "BREACH: " + name)
    equal((s["NoNewPrivs"], s["Seccomp"]), ("1", "2"), "BREACH: state")
    if host.need_real_root() is None:
        equal((int(s["Uid"].split()[0]) > 65536, s["Groups"]), (True, ""), "BREACH: identity")


@test
@needs(landlock(6))
def signals_reach_nobody_outside():
    bystander = subprocess.Popen(["sleep", "61"])
    with running("run", *L1, "--", "sleep", "44") as other:
        inner = find_inside(other, "sleep 44")
        try:
            r = python("""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for pid in [%d, %d, %d, os.getppid()]:  # and not -1: without the wall that would be everything of the user
    for sig in (signal.SIGTERM, signal.SIGKILL):
        try: os.kill(pid, sig)
        except OSError: pass
child = os.fork()
if child == 0: time.sleep(20)
os.kill(child, signal.SIGKILL); print(os.waitpid(child, 0)[1])
""" % (bystander.pid, other.pid, inner), *L1)
            equal((bystander.poll(), other.poll(), host.start_time(inner) is not None), (None, None, True), "BREACH: those outside")
            verdict(r, "ok", 0)
            equal(r["stdout"]["text"], "9\n", "its own child")
        finally:
            bystander.kill()
            bystander.wait()


@test
def processes_outside_cannot_be_traced_or_read():
    bystander = subprocess.Popen(["sleep", "62"], env={"CANARY": "fumehood-canary"})
    try:
        r = python("""
pid = %d
print(call("ptrace", 16, pid, 0, 0), call("process_vm_readv", pid, 0, 0, 0, 0, 0), call("pidfd_getfd", 0, 0, 0))
for name in ("environ", "mem", "maps"):
    print(attempt(lambda: print(open("/proc/%%d/%%s" %% (pid, name), "rb").read(1000))))
for pid in (os.getppid(), %d):
    for name in ("environ", "mem"): print(attempt(lambda: print(open("/proc/%%d/%%s" %% (pid, name), "rb").read(1000))))
""" % (bystander.pid, os.getpid()), *L1)
    finally:
        bystander.kill()
        bystander.wait()
    verdict(r, "ok", 0)
    if "fumehood-canary" in json.dumps(r) or "done" in r["stdout"]["text"]:
        raise AssertionError("BREACH: " + r["stdout"]["text"])


# -- its end ----------------------------------------------------------------------------------------------------------

STAY = {
    "a session of its own": "setsid sleep {0} & sleep 0.1; exit 0",
    "a double fork": "(setsid sh -c 'sleep {0} & exit' &) ; sleep 0.1; exit 0",
    "its output held open": "sleep {0} & exit 0",
    "a stopped child": "sleep {0} & kill -STOP $!; exit 0",
    "a child that ignores signals": "(trap '' TERM INT HUP QUIT; sleep {0}) & exit 0",
    "a hundred orphans": "for i in $(seq 100); do (sleep {0} & exit); done; exit 0",
}


def stays(how, code):
    def body():
        mark = str(random.randrange(10 ** 8, 10 ** 9))
        began = now()
        verdict(shell(code.format(mark), *L1, "--pids", "300"), "ok", 0)
        between(now() - began, 0, 4, "seconds until the answer")
        equal(alive(mark), [], "BREACH: processes that live on")
    body.__name__ = "%s_does_not_outlive_the_run" % how.replace(" ", "_")
    return body


for _how, _code in STAY.items():
    test(stays(_how, _code))


@test
def a_deadline_ends_all_of_them():
    mark = str(random.randrange(10 ** 8, 10 ** 9))
    code = "setsid sleep {0} & (sleep {0} &); sleep {0} & kill -STOP $!; trap '' TERM; sleep {0}; sleep {0}".format(mark)
    verdict(shell(code, *L1, "--wall", "600ms"), "wall", 124)
    equal(alive(mark), [], "BREACH: processes that live on")


@test
def a_fork_bomb_ends_with_the_deadline():
    r = python("while True:\n try: os.fork()\n except OSError: pass", *L1, "--pids", "40", "--wall", "1s")
    if r["verdict"] not in ("wall", "pids"):
        verdict(r, "wall")


@test
def a_signal_to_fumehood_ends_all_of_them():
    mark = str(random.randrange(10 ** 8, 10 ** 9))
    with running("run", *L1, "--json", "--", "sh", "-c", "setsid sleep %s & trap '' TERM; sleep %s" % (mark, mark)) as p:
        wait_for("the program", lambda: len(alive(mark)) == 2)
        p.terminate()
        r = json.loads(p.stdout.read())
        equal(p.wait(5), 143, "status")
    verdict(r, "cancelled")
    equal(alive(mark), [], "BREACH: processes that live on")


# -- limits ----------------------------------------------------------------------------------------------------------

@test
def limits_hold_here_too():
    verdict(python("while True: pass", *L1, "--cpu", "400ms"), "cpu", 123)
    verdict(python("a = []\nwhile True: a.append(bytearray(1 << 20))", *L1, "--memory", "64M"), "memory", 123)
    verdict(shell("yes", *L1, "--output-stop", "1M"), "output", 123)
    r = shell("exec head -c 3M /dev/zero > f", *L1, "--file-size", "1M")
    equal((verdict(r, "disk", 123)["limit"]["axis"], r["signal_name"]), ("file_size", "SIGXFSZ"), "limit")
    r = shell("for i in 1 2 3 4 5 6 7 8; do head -c 4M /dev/zero > f$i; sleep 0.1; done; sleep 20", *L1, "--disk", "10M", "--file-size", "10M")
    equal((verdict(r, "disk", 123)["limit"]["axis"], means(r, "disk")), ("disk", "watch"), "limit")
    r = python("a = []\ntry:\n while True: a.append(os.dup(0))\nexcept OSError as e: print(len(a) + 3)", *L1, "--files", "64")
    equal(r["stdout"]["text"], "64\n", "open files")


@test
def the_receipt_says_what_was_in_force():
    r = verdict(result("run", *L1, "--", "true"), "ok", 0)["receipt"]
    equal((r["level"], r["uid_map"] or "", r["seccomp"]["mode"], r["no_new_privs"]), ("process", "", 2, True), "receipt")
    equal([m for m in r["mechanisms"] if "namespace" in m], [], "namespaces")
    equal(set(host.landlock_abi() and ["landlock abi %d" % r["landlock_abi"]]) - set(r["mechanisms"]), set(), "landlock")


@test
def what_needs_a_namespace_is_refused():
    done = fumehood("run", *L1, "--workspace", scratch(), "--", "true")
    equal((done.status, done.out), (125, b""), "status")
    contains(done.err.decode(), "level namespace")


main()
