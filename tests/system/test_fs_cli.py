#!/usr/bin/env python3
"""`fumehood fs` on workspaces that were prepared against it: only what is inside comes out, and nothing is obeyed."""

import json
import os
import pty
import stat

from harness import command, contains, equal, fumehood, main, needs, scratch, test, FUMEHOOD

CANARY = b"the canary\n"


def workspace():
    """A workspace and, beside it, a folder with the canary."""
    base = scratch()
    ws, out = os.path.join(base, "ws"), os.path.join(base, "out")
    os.mkdir(ws)
    os.mkdir(out)
    write(os.path.join(out, "canary"), CANARY)
    return ws, out


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def fs(*args, **more):
    return fumehood("fs", *args, **more)


def refused(done, *words):
    """Status 125, nothing on stdout, one line on stderr that holds these words."""
    equal(done.status, 125, "status")
    equal(done.out, b"", "stdout")
    lines = done.err.decode().splitlines()
    equal(len(lines), 1, "lines on stderr of %r" % done)
    for w in words:
        contains(lines[0], w, "message")


def entries(ws, *path):
    return {e["name"]: e for e in json.loads(fs("ls", "--json", ws, *path).out)["entries"]}


@test
def what_is_put_can_be_got_and_listed():
    ws, _ = workspace()
    data = bytes(range(256)) * 1000
    equal(fs("put", ws, "a/b/data.bin", "--parents", input=data).status, 0)
    equal(fs("get", ws, "a/b/data.bin").out, data)
    source = os.path.join(scratch(), "source")
    write(source, b"#!/bin/sh\n")
    equal(fs("put", "--executable", ws, "tool", source).status, 0)
    equal(stat.S_IMODE(os.stat(os.path.join(ws, "tool")).st_mode), 0o755)
    equal(stat.S_IMODE(os.stat(os.path.join(ws, "a/b/data.bin")).st_mode), 0o644)
    listed = entries(ws)
    equal(sorted(listed), ["a", "tool"])
    equal(listed["a"]["kind"], "directory")
    equal(listed["tool"]["size_bytes"], 10)
    equal(listed["tool"]["mode"], "0755")
    equal(fs("ls", ws, "a/b").text.split(), ["-0644", "256000", "data.bin"])


@test
def the_output_file_is_whole_or_absent():
    ws, _ = workspace()
    write(os.path.join(ws, "f"), b"12345")
    to = os.path.join(scratch(), "to")
    refused(fs("get", ws, "f", "-o", to, "--max", "4"), "more than the 4 bytes")
    equal(os.path.exists(to), False, "a half file stays")
    refused(fs("get", ws, "none", "-o", to), "No such file")
    equal(os.path.exists(to), False, "an empty file stays")
    equal(fs("get", ws, "f", "-o", to, "--max", "5").status, 0)
    equal(read(to), b"12345")
    refused(fs("put", ws, "f", "--max", "2", input=b"abc"), "more than the 2 bytes")
    equal(read(os.path.join(ws, "f")), b"12345")
    equal(os.listdir(ws), ["f"])


@test
def no_link_is_followed():
    ws, out = workspace()
    os.symlink(os.path.join(out, "canary"), os.path.join(ws, "absolute"))
    os.symlink("../out/canary", os.path.join(ws, "up"))
    os.symlink("../out", os.path.join(ws, "dir"))
    os.symlink("loop", os.path.join(ws, "loop"))
    for path in "absolute", "up", "dir/canary", "loop":
        refused(fs("get", ws, path), "symbolic link")
    refused(fs("ls", ws, "dir"), "symbolic link")
    refused(fs("ls", os.path.join(ws, "dir")), "symbolic link")
    refused(fs("put", ws, "dir/new", "--parents", input=b"x"), "links are not followed")
    equal(entries(ws)["up"]["target"], "../out/canary")
    contains(fs("ls", ws).text, "up -> ../out/canary\n")
    equal(fs("put", ws, "up", input=b"mine").status, 0)
    equal(read(os.path.join(ws, "up")), b"mine")
    equal(read(os.path.join(out, "canary")), CANARY)
    equal(os.listdir(out), ["canary"])


@test
def no_path_leads_out():
    ws, out = workspace()
    for path in "../out/canary", "a/../../out/canary", os.path.join(out, "canary"), "", "..":
        refused(fs("get", ws, path))
        refused(fs("put", ws, path, "--parents", input=b"x"))
        refused(fs("ls", ws, path))
    equal(read(os.path.join(out, "canary")), CANARY)


@test
def odd_files_are_refused_at_once():
    ws, _ = workspace()
    os.mkfifo(os.path.join(ws, "fifo"))
    refused(fs("get", ws, "fifo", timeout=5), "FIFO")
    with open(os.path.join(ws, "sparse"), "wb") as f:
        f.truncate(1 << 40)
    refused(fs("get", ws, "sparse", "--max", "1M", timeout=20), "more than the 1048576 bytes")
    equal(fs("put", ws, "fifo", input=b"now a file", timeout=5).status, 0)
    equal(entries(ws)["fifo"]["kind"], "file")


@test
def names_are_printed_without_what_a_terminal_obeys():
    ws, _ = workspace()
    for name in b"new\nline", b"\x1b[2J", b"\xff\xfe", b"back\\slash", "caf\u00e9".encode(), "\u202etxt.exe".encode():
        write(os.path.join(os.fsencode(ws), name), b"")
    os.symlink(b"\x1b]0;title\x07", os.path.join(os.fsencode(ws), b"link"))
    want = {"new\\x0aline", "\\x1b[2J", "\\xff\\xfe", "back\\x5cslash", "caf\u00e9", "\\xe2\\x80\\xaetxt.exe", "link"}
    equal(set(entries(ws)), want)
    for done in fs("ls", ws), fs("ls", "--json", ws), fs("get", ws, b"\x1b[2J/x"), fs("get", ws, b"no\x1bsuch"):
        shown = (done.out + done.err).decode("utf-8")
        equal([c for c in shown if ord(c) < 0x20 and c != "\n" or 0x7f <= ord(c) < 0xa0], [])
    equal(entries(ws)["link"]["target"], "\\x1b]0;title\\x07")


@test
def a_long_listing_is_cut_and_says_so():
    ws, _ = workspace()
    first = os.path.join(ws, "f")
    write(first, b"")
    for i in range(10050):
        os.link(first, "%s%d" % (first, i))
    done = fs("ls", "--json", ws)
    equal(done.status, 125)
    contains(done.err.decode(), "more than the 10000 entries")
    answer = json.loads(done.out)
    equal((len(answer["entries"]), answer["truncated"]), (10000, True))


@test
def bytes_do_not_go_to_a_terminal_unasked():
    ws, _ = workspace()
    write(os.path.join(ws, "f"), b"\x1b[31mred")
    for more, status in ([], 125), (["-o", "-"], 0):
        ours, theirs = pty.openpty()
        pid = os.fork()
        if pid == 0:
            os.dup2(theirs, 1)
            os.execv(FUMEHOOD, [FUMEHOOD, "fs", "get", ws, "f"] + more)
        equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), status)
        os.close(theirs)
        try:
            got = os.read(ours, 100)
        except OSError:
            got = b""
        os.close(ours)
        equal(b"red" in got, status == 0)


@test
def mistakes_are_told_in_one_line():
    ws, _ = workspace()
    for args in ([], ["ls"], ["get", ws], ["put", ws], ["rm", ws, "x"], ["ls", ws, "a", "b"], ["get", ws, "x", "--max", "lots"],
                 ["get", ws, "x", "--nonsense"], ["ls", ws + "-none"], ["get", ws, "x", "-o"]):
        refused(fs(*args))
    equal(fs("--help").status, 0)
    contains(fs("--help").text, "usage: fumehood fs ls")


@test
@needs("userns")
def what_a_run_leaves_is_read_safely():
    ws, out = workspace()
    script = "echo result > r; ln -s %s/canary c; mkfifo p; ln -s / d; mkdir -p deep/er; chmod 0 deep" % out
    done = fumehood("bash", "--workspace-rw", ws, "-c", script)
    equal(done.status, 0, "the run: %r" % done)
    equal(fs("get", ws, "r").out, b"result\n")
    refused(fs("get", ws, "c"), "symbolic link")
    refused(fs("get", ws, "d/etc/passwd"), "symbolic link")
    refused(fs("get", ws, "p", timeout=5), "FIFO")
    equal(sorted(entries(ws)), ["c", "d", "deep", "p", "r"])
    command("chmod", "755", os.path.join(ws, "deep"))


main()
