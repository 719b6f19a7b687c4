#!/usr/bin/env python3
"""What cannot be run as asked: a short error for a person, status 125 (126, 127 as in a shell), nothing left behind.

The harness itself sees to the last part: a process, file or group that stays fails the test.
"""

import json
import os
import resource
import subprocess

import host
from harness import FUMEHOOD, command, contains, equal, fumehood, main, needs, plain_build, result, scratch, skip, test
from inside import open_folders, shell, verdict


def told(done, status=125, *words):
    """An error of one line (and perhaps one of what to do) that holds these words."""
    lines = done.err.decode("utf-8", "replace").splitlines()
    if done.status != status or done.out or not 1 <= len(lines) <= 2 or not lines[0].startswith("fumehood: "):
        raise AssertionError("expected status %d and one line: %r" % (status, done))
    if len(lines) == 2 and not lines[1].startswith("fix: "):
        raise AssertionError("the second line is no fix: %r" % done)
    for w in words:
        contains(done.err.decode("utf-8", "replace"), w, "the error")
    return done


# -- the command ------------------------------------------------------------------------------------------------------

@test
def no_command_and_an_empty_one():
    told(fumehood("run"), 125, "no command")
    told(fumehood("run", "--"), 125, "no command")
    told(fumehood("run", "--", ""), 125, "empty")
    told(fumehood("bash"), 125, "no program")
    told(fumehood("nosuchverb"), 125, "nosuchverb")
    equal(fumehood().status, 125, "status without a word")
    equal(verdict(shell(""), "ok", 0)["stdout"]["bytes_total"], 0, "an empty program")


@test
def a_slip_of_the_finger_gets_a_suggestion():
    told(fumehood("pyton", "-c", "1"), 125, "'pyton'", "did you mean 'python'?")
    told(fumehood("run", "--memroy", "1G", "--", "true"), 125, "'--memroy'", "did you mean '--memory'?")
    told(fumehood("run", "--allow-waeker", "--", "true"), 125, "did you mean '--allow-weaker'?")
    told(fumehood("run", "--json=yes", "--", "true"), 125, "'--json' takes no value")
    told(fumehood("run", "--w", "1s", "--", "true"), 125, "'--w'", "options")
    told(fumehood("run", "--qqqqqqqq", "--", "true"), 125, "'--qqqqqqqq'", "--help")
    equal(fumehood("help", "fs").text, fumehood("fs", "--help").text)


@test
def a_flag_overrides_a_policy_file_on_either_side_of_it():
    path = scratch() + "/p.yaml"
    with open(path, "w") as f:
        f.write("memory: 256M\npids: 9\nenv: {A: file}\n")
    flags = ("--memory", "64M", "--env", "A=flag")
    for words in (flags + ("--policy", path), ("--policy", path) + flags):
        r = result("run", *words, "--", "sh", "-c", "echo $A")
        limits = r["receipt"]["limits"]
        equal((limits["memory"]["value"], limits["pids"]["value"]), (64 << 20, 9), "limits of %r" % (words,))
        equal(r["stdout"]["text"], "flag\n", "the variable of %r" % (words,))


@test
def a_command_that_is_not_found():
    for level in ("namespace", "process"):
        for name in ("no-such-command", "/no/such/file", "./missing", "/etc/passwd/x"):
            told(fumehood("run", "--level", level, "--", name), 127, name)
    r = result("run", "--", "no-such-command")
    verdict(r, "sandbox", 127)
    equal((r["exit_code"], r["signal"]), (None, None), "exit code of a program that never was")


@test
def a_command_that_cannot_be_executed():
    folder = scratch()
    open_folders(folder)
    os.chmod(folder, 0o755)
    with open(folder + "/plain", "w") as f:
        f.write("echo x\n")
    os.chmod(folder + "/plain", 0o644)
    with open(folder + "/badfirst", "w") as f:
        f.write("#!/no/such/interpreter\n")
    with open(folder + "/garbage", "wb") as f:
        f.write(b"\x7fELF" + bytes(200))
    for name in ("badfirst", "garbage"):
        os.chmod(os.path.join(folder, name), 0o755)
    told(fumehood("run", "--workspace", folder, "--", "/work/plain"), 126, "/work/plain")
    told(fumehood("run", "--workspace", folder, "--", "/work"), 126, "/work")
    told(fumehood("run", "--", "/usr"), 126, "/usr")
    told(fumehood("run", "--workspace", folder, "--", "/work/garbage"), 126, "/work/garbage")
    done = fumehood("run", "--workspace", folder, "--", "/work/badfirst")
    equal(done.status in (126, 127), True, "status %d" % done.status)


@test
def status_126_and_127_of_the_program_itself_are_its_own():
    for status in (125, 126, 127):
        verdict(shell("exit %d" % status), "exit", status)
    r = verdict(shell("no-such-command"), "exit", 127)
    contains(r["stderr"]["text"], "no-such-command")


@test
def a_program_that_cannot_be_read():
    folder = scratch()
    told(fumehood("bash", folder + "/missing"), 125, "missing", "No such file")
    told(fumehood("bash", folder), 125, "folder")
    told(fumehood("run", "--stdin", folder + "/missing", "--", "cat"), 125, "missing")
    told(fumehood("run", "--stdin", folder, "--", "cat"), 125, "folder")
    told(fumehood("bash", "--stdin", "-", "-"), 125, "both")
    if os.geteuid():
        with open(folder + "/closed", "w") as f:
            f.write("echo x")
        os.chmod(folder + "/closed", 0)
        told(fumehood("bash", folder + "/closed"), 125, "closed", "Permission denied")


@test
def megabytes_of_arguments():
    # The kernel starts nobody with more than 6 MiB of them, so ten cannot reach us; and inside the stack allows 2 MiB.
    resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    done = fumehood("run", "--", "sh", "-c", "echo $#", *["x" * 100000] * 16)
    equal((done.status, done.out), (0, b"15\n"), "words that arrived")
    told(fumehood("run", "--", "sh", "-c", "echo $#", *["x" * 100000] * 55), 125, "too long", "--stdin")


# -- the policy ------------------------------------------------------------------------------------------------------

@test
def options_that_are_none():
    told(fumehood("run", "--no-such-option", "--", "true"), 125, "--no-such-option")
    told(fumehood("run", "-x", "--", "true"), 125, "-x")
    told(fumehood("run", "--wall"), 125, "--wall")
    told(fumehood("run", "--format", "prose", "--", "true"), 125, "prose", "observation")
    told(fumehood("run", "--workspace", "/usr", "--workspace-rw", "/usr", "--", "true"), 125, "once")


@test
def limits_that_are_none():
    for flag in ("wall", "cpu", "memory", "pids", "disk", "inodes", "file-size", "files", "output-stop", "cpus"):
        for value in ("0", "-1", "", "lots", "NaN", "1e309", "18446744073709551616", "1 2", "0x10"):
            told(fumehood("run", "--%s=%s" % (flag, value), "--", "true"), 125, flag.replace("-", "_"))


@test
def policies_that_contradict_themselves_or_cannot_be_read():
    folder = scratch()
    told(fumehood("run", "--file-size", "2G", "--disk", "1G", "--", "true"), 125, "file_size", "disk")
    for name, text in (("bad.json", "{"), ("unknown.json", '{"colour": "red"}'), ("type.json", '{"wall": []}'),
                       ("twice.json", '{"wall": "1s", "wall": "2s"}'), ("deep.json", "[" * 100000), ("binary.json", "\0\1\2"),
                       ("empty.json", ""), ("bad.yaml", "wall: [1"), ("zero.yaml", "pids: 0\n")):
        path = os.path.join(folder, name)
        with open(path, "w") as f:
            f.write(text)
        told(fumehood("run", "--policy", path, "--", "true"), 125)
        told(fumehood("policy", "check", path), 125)
    told(fumehood("run", "--policy", folder + "/missing.json", "--", "true"), 125, "missing.json")
    told(fumehood("run", "--policy", folder, "--", "true"), 125)
    with open(folder + "/good.json", "w") as f:
        f.write('{"wall": "300ms"}')
    equal(fumehood("run", "--policy", folder + "/good.json", "--", "sleep", "5").status, 124, "status")


@test
def a_level_or_a_means_this_host_has_not_is_refused():
    for level in ("gvisor", "microvm", "3", "4", "none", ""):
        told(fumehood("run", "--level", level, "--", "true"), 125, "level")
    r = fumehood("run", "--json", "--enforce", "kernel", "--", "true")
    if host.need_cgroup() is None:
        equal(json.loads(r.out)["verdict"], "ok", "verdict")
    elif r.status != 0:
        told(r, 125, "control group")


@test
def a_host_without_user_namespaces_is_refused_or_weakened_by_name():
    lack = host.need_userns()
    if lack:
        skip(lack)
    # A user namespace in which no further one may be made stands for such a host.
    inner = ["unshare", "-Ur", "sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "sh", FUMEHOOD]
    if command(*inner[:4], "echo 0 > /proc/sys/user/max_user_namespaces").status:
        skip("the number of user namespaces cannot be set here")
    told(command(*inner, "run", "--", "true"), 125, "namespace")
    done = command(*inner, "run", "--json", "--allow-weaker", "--", "true")
    if os.geteuid() == 0:
        # What looks like root but has no other ids to give would run the program as root: refused all the same.
        told(done, 125, "as root")
        return
    r = json.loads(done.out)
    equal((r["verdict"], r["receipt"]["level"]), ("ok", "process"), "with --allow-weaker")
    contains(" ".join(r["receipt"]["not_enforced"]), "level namespace")


# -- the host ---------------------------------------------------------------------------------------------------------

@test
@needs(plain_build)
def too_few_descriptors():
    seen = set()
    for n in range(3, 40, 3):
        p = subprocess.run([FUMEHOOD, "run", "--", "echo", "x"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
        seen.add(p.returncode)
        if p.returncode == 0:
            equal(p.stdout, b"x\n", "output with %d descriptors" % n)
        elif p.returncode != 125 or not p.stderr.startswith(b"fumehood: ") or p.stdout:
            raise AssertionError("with %d descriptors: status %d, %r, %r" % (n, p.returncode, p.stdout, p.stderr))
    equal(125 in seen, True, "some were too few")


def in_namespace(script, *argv):
    """Runs a shell script in a mount namespace of its own, as root there; "$0" is fumehood."""
    lack = host.need_userns() if os.geteuid() else None
    if lack:
        skip(lack)
    flags = ["-m"] if os.geteuid() == 0 and command("unshare", "-m", "true").status == 0 else ["-Urm"]
    done = command("unshare", *flags, "sh", "-c", script, FUMEHOOD, *argv)
    if b"unshare:" in done.err:
        skip(done.err.decode().strip())
    return done


@test
def a_full_disk():
    folder = scratch()
    fill = "mount -t tmpfs -o size=64k,nr_inodes=40 none %s && cd %s && head -c 1M /dev/zero > full 2>/dev/null; " % (folder, folder)
    done = in_namespace(fill + 'TMPDIR=%s "$0" run --level process -- sh -c "echo ok; exit 3"' % folder)
    equal(done.status in (3, 125), True, "status with a full TMPDIR %r" % done)
    done = in_namespace(fill + '"$0" run --spill %s -- sh -c "echo ok"' % folder)
    equal(done.status in (0, 125), True, "status with a full spill %r" % done)
    equal(done.status == 0 and done.err == b"", False, "a spill that could not be kept is told: %r" % done)
    done = in_namespace(fill + '"$0" run --receipt %s/receipt -- sh -c "echo ok"' % folder)
    equal(done.status, 125, "status with a full receipt")
    contains(done.err.decode(), "No space left")


@test
@needs(plain_build)
def a_host_without_proc():
    done = in_namespace('mount -t tmpfs none /proc && "$0" run -- true')
    told(done, 125)
    done = in_namespace('mount -t tmpfs none /proc && "$0" run --level process -- true')
    equal(done.status in (0, 125), True, "status at level process %r" % done)


@test
def a_folder_for_temporary_files_that_is_none():
    for place in ("/no/such/folder", "relative", "/etc/passwd", ""):
        done = fumehood("run", "--", "echo", "x", env={"TMPDIR": place})
        equal((done.status, done.out), (0, b"x\n"), "level namespace does not need TMPDIR=%r" % place)
        done = fumehood("run", "--level", "process", "--", "echo", "x", env={"TMPDIR": place})
        if done.status != 0:
            told(done, 125)


@test
def a_private_folder_that_somebody_else_made_first_is_not_used():
    base = os.path.join(os.environ["TMPDIR"], "fumehood-%d" % os.geteuid())
    os.symlink("/", base)
    try:
        done = fumehood("run", "--level", "process", "--", "echo", "x")
        if not (host.need_real_root() is None and done.status == 0):  # root keeps out of a TMPDIR that only it may enter
            told(done, 125, "fumehood-%d" % os.geteuid())
    finally:
        os.unlink(base)


@test
@needs(plain_build)
def little_memory_for_fumehood_itself():
    for limit in (8 << 20, 16 << 20, 64 << 20):
        p = subprocess.run([FUMEHOOD, "run", "--", "echo", "x"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if p.returncode not in (0, 125, 127):
            raise AssertionError("with %d MiB: status %d, %r" % (limit >> 20, p.returncode, p.stderr))
        if p.returncode == 0:
            equal(p.stdout, b"x\n", "output")


main()
