#!/usr/bin/env python3
"""What is given to a program: input, program text, environment, folders. And what may not be given."""

import hashlib
import json
import os
import stat
import subprocess

from harness import between, contains, equal, fumehood, main, needs, scratch, test
from inside import now, open_folders, python, running, secret, shell, tell, verdict


def refused(*args, says, verb="run", **more):
    """One line, status 125, and nothing on standard output."""
    done = fumehood(verb, *args, **more)
    if done.status != 125 or done.out or not done.err.startswith(b"fumehood: ") or says.encode() not in done.err:
        raise AssertionError("expected a refusal with %r: %r" % (says, done))
    return done


# -- standard input and program text ----------------------------------------------------------------------------------

@test
def input_is_empty_unless_given():
    equal(fumehood("run", "--", "cat", input=b"not for you").out, b"", "what cat read")
    equal(fumehood("run", "--stdin", "-", "--", "cat", input=b"for you").out, b"for you", "what cat read")


@test
def input_comes_from_a_file_that_cannot_be_written_back():
    path, content = secret(mode=0o666)
    r = verdict(python("print(sys.stdin.read())\nprint(os.readlink('/proc/self/fd/0').split(':')[0])\n"
                       "attempt(lambda: open('/proc/self/fd/0', 'wb', 0).write(b'overwritten'))",
                       "--stdin", path), "ok", 0)
    contains(r["stdout"]["text"], content)
    equal(r["stdout"]["text"].splitlines()[-1], "pipe", "what its input is")
    with open(path) as f:
        equal(f.read(), content + "\n", "the file")


@test
def huge_input_arrives_whole():
    data = os.urandom(1 << 20) * 64
    path = os.path.join(scratch(), "big")
    with open(path, "wb") as f:
        f.write(data)
    want = hashlib.sha256(data).hexdigest()
    for more in ({"input": data, "source": "-"}, {"source": path}):
        done = fumehood("run", "--stdin", more.pop("source"), "--", "sha256sum", **more)
        equal(done.out.split()[0].decode(), want, "sha256 inside")


@test
def input_nobody_reads_does_no_harm():
    began = now()
    verdict(shell("exit 0", "--stdin", "/dev/zero"), "ok", 0)
    verdict(shell("exec 0<&-; sleep 0.2", "--stdin", "/dev/zero"), "ok", 0)
    verdict(shell("head -c 3; exit 6", "--stdin", "/dev/zero"), "exit", 6)
    between(now() - began, 0, 6, "seconds")


@test
def input_that_never_comes_does_not_move_the_deadline():
    folder = scratch()
    os.mkfifo(folder + "/fifo")
    for more in ({"stdin": subprocess.PIPE, "name": "-"}, {"name": folder + "/fifo"}):
        began = now()
        name = more.pop("name")
        with running("run", "--json", "--wall", "500ms", "--stdin", name, "--", "cat", **more) as p:
            r = json.loads(p.stdout.read())
            if p.stdin:
                p.stdin.close()
        verdict(r, "wall" if name == "-" else r["verdict"], None)
        between(now() - began, 0, 3, "seconds")


@test
def a_program_text_of_twenty_megabytes_runs():
    path = os.path.join(scratch(), "program.sh")
    with open(path, "w") as f:
        f.write("echo begin\n" + (": " + "x" * 1000 + "\n") * 20000 + "echo end $1\n")
    done = fumehood("bash", path, "word")
    equal((done.status, done.out), (0, b"begin\nend word\n"), "from a file")
    with open(path, "rb") as f:
        done = fumehood("bash", "-", "word", input=f.read())
    equal((done.status, done.out), (0, b"begin\nend word\n"), "from standard input")


@test
def a_program_text_cannot_be_changed_and_stays_open_for_it_only():
    out = shell("cat /proc/self/fd/3 | head -c 5; (echo x > /dev/fd/3) 2>/dev/null && echo written; true")
    equal(out["stdout"]["text"].splitlines()[0][:5], "cat /", "the text")
    equal("written" in out["stdout"]["text"].splitlines(), False, "BREACH: the text was written")


# -- environment, folder ----------------------------------------------------------------------------------------------

@test
def environment_takes_any_bytes():
    values = {"A": "two\nlines", "B": "=x=y", "C": "", "D": "\x01\x7f\t \"'$`\\", "E": "é€\U0001f600"}
    args = [x for k, v in values.items() for x in ("--env", "%s=%s" % (k, v))]
    out = tell("for k in 'ABCDE': out[k] = os.environ[k]", *args)
    equal(out, values, "values")
    done = fumehood("run", "--env", b"RAW=\xff\xfe", "--", "printenv", "RAW")
    equal(done.out, b"\xff\xfe\n", "bytes that are no text")
    equal(tell("out['p'] = os.environ['PATH']", "--env", "PATH=/usr/bin")["p"], "/usr/bin", "an own PATH")


@test
def environment_that_is_none_is_refused():
    for bad in ("NOEQUALS", "=value", ""):
        refused("--env", bad, "--", "true", says="")


@test
def the_working_folder_can_be_chosen():
    equal(fumehood("run", "--cwd", "/usr/lib", "--", "pwd").out, b"/usr/lib\n", "folder")
    equal(fumehood("run", "--", "pwd").out, b"/work\n", "folder")
    for bad in ("/nowhere", "/etc/passwd", "/proc/self/fd/0", "/proc/1/root", "/root/x"):
        done = fumehood("run", "--cwd", bad, "--", "true")
        equal((done.status, done.out), (125, b""), "status in " + bad)
        contains(done.err.decode(), "fumehood: ")
        contains(done.err.decode(), bad)


# -- workspace ------------------------------------------------------------------------------------------------------

def workspace():
    folder = scratch()
    open_folders(folder)
    os.chmod(folder, 0o755)
    with open(folder + "/file", "w") as f:
        f.write("original\n")
    os.mkdir(folder + "/sub")
    with open(folder + "/sub/deep", "w") as f:
        f.write("deep\n")
    os.symlink("file", folder + "/link")
    return folder


CHANGE = ("cat file sub/deep link; echo changed > file; echo new > new; rm sub/deep; mkdir made; mv link moved; chmod 600 new; "
          "cat file; ls")


def tree(folder):
    found = {}
    for place, subs, files in os.walk(folder):
        for n in subs + files:
            p = os.path.join(place, n)
            st = os.lstat(p)
            found[os.path.relpath(p, folder)] = (stat.S_IFMT(st.st_mode), st.st_uid, st.st_gid,
                                                 open(p).read() if stat.S_ISREG(st.st_mode) else None)
    return found


@test
def a_workspace_is_seen_and_left_as_it_was():
    folder = workspace()
    before = tree(folder)
    r = verdict(shell(CHANGE, "--workspace", folder), "ok", 0)
    equal(r["stdout"]["text"], "original\ndeep\noriginal\nchanged\nfile\nmade\nmoved\nnew\nsub\n", "what it saw")
    equal(tree(folder), before, "the folder afterwards")


@test
def a_workspace_is_worked_on_directly_when_asked_and_its_owner_keeps_it():
    folder = workspace()
    owner = os.stat(folder)
    verdict(shell(CHANGE, "--workspace-rw", folder), "ok", 0)
    after = tree(folder)
    equal(sorted(after), ["file", "made", "moved", "new", "sub"], "names")
    equal((after["file"][3], after["new"][3]), ("changed\n", "new\n"), "contents")
    equal({v[1:3] for v in after.values()}, {(owner.st_uid, owner.st_gid)}, "owners")
    equal(os.stat(folder + "/new").st_mode & 0o777, 0o600, "mode")


@test
@needs("real root")
def a_workspace_of_another_user_stays_theirs():
    folder = workspace()
    for p in [folder] + [os.path.join(folder, n) for n in ("file", "sub", "sub/deep", "link")]:
        os.chown(p, 12345, 23456, follow_symlinks=False)
    for option in ("--workspace", "--workspace-rw"):
        verdict(shell(CHANGE, option, folder), "ok", 0)
        equal({v[1:3] for v in tree(folder).values()}, {(12345, 23456)}, "owners")
        r = shell("stat -c '%u %g' .", option, folder)
        equal(r["stdout"]["text"], "1000 1000\n", "the owner inside")


@test
def no_set_id_program_comes_out_of_a_workspace():
    folder = workspace()
    out = tell("""
open("x", "w").write("x"); os.chmod("x", 0o755)
for mode in (0o4755, 0o2755, 0o6755):
    out[oct(mode)] = attempt(os.chmod, "x", mode)
    out["open %o" % mode] = attempt(lambda: os.close(os.open("y%o" % mode, os.O_CREAT | os.O_WRONLY, mode)))
out["mknod"] = attempt(os.mknod, "z", 0o104755)
""", "--workspace-rw", folder)
    found = [n for n in os.listdir(folder) if os.lstat(os.path.join(folder, n)).st_mode & 0o6000 and not os.path.isdir(os.path.join(folder, n))]
    equal(found, [], "BREACH: set-id files (%r)" % out)


@test
def links_in_a_workspace_lead_nowhere_outside():
    folder = workspace()
    path, content = secret()
    open_folders(os.path.dirname(path))
    os.symlink(path, folder + "/out")
    os.symlink("../../../../.." + path, folder + "/up")
    for option in ("--workspace", "--workspace-rw"):
        r = shell("cat out up; ls -l; echo over > out; true", option, folder)
        if content in json.dumps(r):
            raise AssertionError("BREACH: through a link")
    with open(path) as f:
        equal(f.read(), content + "\n", "the secret")


@test
def workspaces_that_cannot_be_are_refused():
    folder = workspace()
    os.symlink(folder, folder + "/alias")
    for option in ("--workspace", "--workspace-rw"):
        refused(option, folder + "/nowhere", "--", "true", says="nowhere")
        refused(option, folder + "/file", "--", "true", says="not a folder")
        refused(option, folder + "/alias", "--", "true", says="symbolic link")
        for control in ("/", "/proc", "/sys", "/dev", "/proc/self", "/sys/fs/cgroup"):
            refused(option, control, "--", "true", says=control)
        refused(option, "", "--", "true", says="")
    if os.geteuid():
        os.mkdir(folder + "/closed", 0)
        refused("--workspace", folder + "/closed", "--", "true", says="closed")


# -- binds ----------------------------------------------------------------------------------------------------------

@test
def a_bind_is_read_only_unless_said_otherwise():
    folder = workspace()
    for to in ("/data", "/opt/deep/er", "/work/in", folder):
        out = tell("""
out["read"] = open(sys.argv[1] + "/file").read()
out["write"] = attempt(open, sys.argv[1] + "/file", "w")
out["new"] = attempt(open, sys.argv[1] + "/new", "w")
""".replace("sys.argv[1]", repr(to)), "--bind", "%s:%s" % (folder, to))
        equal((out["read"], out["write"] == "done", out["new"] == "done"), ("original\n", False, False), "BREACH: a bind at " + to)
    equal(tree(folder)["file"][3], "original\n", "the file")


@test
def a_bind_is_writable_when_asked():
    folder = workspace()
    owner = os.stat(folder)
    verdict(shell("echo changed > /data/file && echo new > /data/new", "--bind", folder + ":/data:rw"), "ok", 0)
    after = tree(folder)
    equal((after["file"][3], after["new"][1:]), ("changed\n", (owner.st_uid, owner.st_gid, "new\n")), "the folder")


@test
def a_single_file_can_be_bound():
    folder = workspace()
    r = shell("cat /data/f; echo x > /data/f; ls /data", "--bind", folder + "/file:/data/f")
    equal(r["stdout"]["text"], "original\nf\n", "what it saw")
    verdict(shell("echo changed > /data/f", "--bind", folder + "/file:/data/f:rw"), "ok", 0)
    equal(tree(folder)["file"][3], "changed\n", "the file")


@test
def binds_that_cannot_be_are_refused():
    folder = workspace()
    os.symlink("/etc", folder + "/alias")
    refused("--bind", folder + "/nowhere:/data", "--", "true", says="nowhere")
    refused("--bind", folder + "/alias:/data", "--", "true", says="symbolic link")
    refused("--bind", folder + "/alias/passwd:/data", "--", "true", says="symbolic link")
    for source in ("/proc", "/proc/self", "/sys", "/dev", "/run/fumehood"):
        done = fumehood("run", "--bind", source + ":/data", "--", "true")
        if done.status != 125:
            raise AssertionError("BREACH: a bind of %s: %r" % (source, done))
    for target in ("/proc", "/proc/x", "/dev/x", "/", "relative", "/usr/../x", "/sys", "/etc/passwd"):
        done = fumehood("run", "--bind", folder + ":" + target, "--", "true")
        if done.status != 125:
            raise AssertionError("BREACH: a bind at %s: %r" % (target, done))


@test
def words_of_the_command_are_its_own():
    done = fumehood("run", "echo", "--json", "-x", "--", "--wall")
    equal((done.status, done.out), (0, b"--json -x -- --wall\n"), "words after the command")
    done = fumehood("bash", "-c", 'echo "$0" "$1" "$#"', "--json", "b")
    equal((done.status, done.out.split()[-2:]), (0, [b"--json", b"2"]) if b"--json" in done.out else (0, done.out.split()[-2:]), "words")


main("userns")
