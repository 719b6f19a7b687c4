#!/usr/bin/env python3
"""`fumehood doctor`: says what holds here, finds the cause of what does not, and leaves nothing behind."""

import json
import os
import pty
import select
import subprocess

from harness import BUILD, FUMEHOOD, between, command, contains, equal, fumehood, main, needs, result, scratch, test
from host import tool

LIKE_CONTAINER = os.path.join(BUILD, "tests", "like_container")
UNMAPPED = ["unshare", "-Ur"]
STATES = ("ok", "note", "weaker", "missing")


def doctor(*front):
    """The doctor's JSON, with commands in front of the program, and its exit status checked against it."""
    done = command(*front, FUMEHOOD, "doctor", "--json")
    found = json.loads(done.out)
    equal(done.status, 0 if found["holds"] else 1, "exit status")
    equal(done.err, b"", "stderr")
    return found


def check(found, id):
    hits = [c for c in found["checks"] if c["id"] == id]
    if not hits:
        raise AssertionError("there is no check %r, only %r" % (id, [c["id"] for c in found["checks"]]))
    return hits[0]


def level(found, name):
    return [entry for entry in found["levels"] if entry["name"] == name][0]


@test
def what_it_says_holds_is_what_runs():
    found = doctor()
    for name in ("process", "namespace"):
        run = result("run", "--level", name, "--", "true")
        equal(level(found, name)["holds"], run["verdict"] == "ok", "level %s holds" % name)
        if level(found, name)["holds"]:
            equal(level(found, name)["limits"], {axis: entry["means"] for axis, entry in run["receipt"]["limits"].items()},
                  "means at level " + name)
    for name in ("gvisor", "microvm"):
        equal(level(found, name)["available"], False, name)
        equal(level(found, name)["holds"], False, name)


@test
def its_json_has_every_member_it_promises():
    found = doctor()
    equal(sorted(found), ["checks", "default_level", "holds", "host", "levels", "version"])
    equal([entry["number"] for entry in found["levels"]], [1, 2, 3, 4])
    equal(found["host"]["uid"], os.geteuid())
    equal(found["host"]["kernel"], os.uname().release)
    for c in found["checks"]:
        equal(sorted(c), ["fix", "found", "id", "matters", "state"])
        contains(STATES, c["state"], "states")
        if not c["found"]:
            raise AssertionError("check %s says nothing" % c["id"])
        if c["state"] in ("weaker", "missing") and not (c["matters"] and c["fix"]):
            raise AssertionError("check %s is a gap without %r" % (c["id"], c))


@test
def a_person_sees_gaps_first_and_no_colours_in_a_file():
    done = fumehood("doctor")
    contains(done.text.splitlines()[0], "The default level (namespace)")
    contains(done.text, "namespace")
    equal("\033" in done.text, False, "colours")
    gaps = [i for i, line in enumerate(done.text.splitlines()) if line.startswith(("missing  ", "weaker  "))]
    table = done.text.splitlines().index("level")
    between(max(gaps, default=0), 0, table, "line of the last gap")


@test
def colours_are_for_terminals_that_want_them():
    def on_terminal(env):
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(FUMEHOOD, [FUMEHOOD, "doctor"], dict(os.environ, TERM="xterm", **env))
        out = b""
        while select.select([fd], [], [], 20)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                break
            if not data:
                break
            out += data
        os.close(fd)
        os.waitpid(pid, 0)
        return out
    contains(on_terminal({}), b"\033[", "terminal")
    equal(b"\033" in on_terminal({"NO_COLOR": "1"}), False, "colours under NO_COLOR")


@test
def it_is_quick():
    # The median: the machine may be busy with other things.
    times = sorted(fumehood("doctor").seconds for _ in range(5))
    between(times[2], 0, 1.0, "seconds")


@test
def wrong_words_are_refused():
    done = fumehood("doctor", "--xml")
    equal(done.status, 125)
    contains(done.err.decode(), "usage: fumehood doctor")


@test
def what_cannot_be_printed_is_an_error():
    with open("/dev/full", "wb") as full:
        for args in (["doctor"], ["doctor", "--json"]):
            equal(subprocess.run([FUMEHOOD, *args], stdout=full, stderr=subprocess.DEVNULL).returncode, 125)


@test
def inside_a_container_it_names_the_filter_and_the_level_that_still_holds():
    found = doctor(LIKE_CONTAINER)
    equal(found["holds"], False)
    equal(level(found, "process")["holds"], True, "level process")
    equal(level(found, "namespace")["holds"], False, "level namespace")
    cause = check(found, "user-namespaces")
    equal(cause["state"], "missing")
    contains(cause["found"], "a system call filter around us")
    contains(cause["fix"], "seccomp=unconfined")
    contains(level(found, "namespace")["allow_weaker"], "level process", "what --allow-weaker would do")
    contains(check(found, "system-calls")["found"], "clone3")


@test
@needs("userns")
def inside_a_user_namespace_it_says_whose_id_programs_have():
    found = doctor(*UNMAPPED)
    identity = check(found, "identity")
    equal(found["host"]["nested_user_namespace"], True)
    contains(identity["found"], "maps too few ids")
    # What is root inside and outside is refused at every level; what is an ordinary user outside is not.
    root = os.geteuid() == 0
    equal(identity["state"], "missing" if root else "weaker")
    equal(level(found, "namespace")["holds"], not root)
    equal(level(found, "process")["holds"], not root)


@test
@needs("real root", "userns")
def root_without_other_ids_may_not_touch_its_own_files():
    target = os.path.join(scratch(), "mine")
    with open(target, "w"):
        os.chmod(target, 0o644)
    for name in ("process", "namespace"):
        done = command(*UNMAPPED, FUMEHOOD, "run", "--level", name, "--allow-weaker", "--", "chmod", "777", target)
        equal(done.status, 125)
        contains(done.err.decode(), "cannot give the program an id of its own as root")
    equal(os.stat(target).st_mode & 0o777, 0o644, "mode")
    # The sibling: with an id of its own the program runs, and the file is not its own.
    equal(fumehood("run", "--level", "process", "--", "true").status, 0)
    equal(fumehood("run", "--level", "process", "--", "chmod", "777", target).status, 1)


@test
@needs("userns")
def a_kernel_that_forbids_user_namespaces_is_told_with_its_sysctl():
    found = doctor(*UNMAPPED, "sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "-")
    equal(found["holds"], False)
    equal(check(found, "user-namespaces")["state"], "missing")
    contains(check(found, "user-namespaces")["fix"], "sysctl -w user.max_user_namespaces=")


@test
@needs("userns")
def a_covered_proc_is_told_with_the_option_of_the_container():
    found = doctor("unshare", "-Urm", "sh", "-c", "mount --bind /dev/null /proc/uptime && exec \"$@\"", "-")
    equal(found["holds"], False)
    proc = check(found, "private-proc")
    equal(proc["state"], "missing")
    contains(proc["found"], "/proc/uptime")
    contains(proc["fix"], "systempaths=unconfined")
    equal(check(found, "user-namespaces")["state"], "ok")


@test
@needs("userns")
def a_lack_of_network_namespaces_is_told_by_name():
    found = doctor(*UNMAPPED, "sh", "-c", "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$@\"", "-")
    equal(found["holds"], False)
    equal(check(found, "network-namespaces")["state"], "missing")
    equal(check(found, "pid-namespaces")["state"], "ok")


@test
@needs("real root", tool("setpriv"))
def an_unknown_user_learns_what_sub_ids_need():
    found = doctor("setpriv", "--reuid", "4242", "--regid", "4242", "--clear-groups")
    identity = check(found, "identity")
    equal(identity["state"], "weaker")
    contains(identity["found"], "no sub-ids")
    equal(level(found, "namespace")["limits"]["memory"], "watch")
    equal(check(found, "control-groups")["state"], "weaker")


def as_user_with(subids):
    """A command in front: a user "tester" with this /etc/subuid and /etc/subgid, in a mount namespace of its own."""
    etc = scratch()
    os.chmod(etc, 0o755)
    for name, text in (("passwd", "root:x:0:0::/:/bin/sh\ntester:x:4242:4242::/:/bin/sh\n"), ("subuid", subids), ("subgid", subids)):
        with open(os.path.join(etc, name), "w") as f:
            f.write(text)
    mounts = "".join("mount --bind %s/%s /etc/%s && " % (etc, n, n) for n in ("passwd", "subuid", "subgid"))
    return ["unshare", "-m", "sh", "-c", mounts + "exec setpriv --reuid 4242 --regid 4242 --clear-groups \"$@\"", "-"]


def need_subid_files():
    missing = [n for n in ("/etc/subuid", "/etc/subgid") if not os.path.exists(n)]
    return "there is no %s to cover" % missing[0] if missing else tool("newuidmap")()


@test
@needs("real root", tool("setpriv"), need_subid_files)
def a_user_with_sub_ids_has_no_gap_there():
    found = doctor(*as_user_with("tester:300000:65536\n"))
    equal(check(found, "identity")["state"], "ok", check(found, "identity"))
    equal(level(found, "namespace")["holds"], True)


@test
@needs("real root", tool("setpriv"), need_subid_files)
def a_user_without_sub_ids_learns_a_range_that_nobody_has():
    found = doctor(*as_user_with("other:100000:65536\nmore:165536:65536\n"))
    equal(check(found, "identity")["state"], "weaker")
    contains(check(found, "identity")["fix"], "usermod --add-subuids 231072-296607 --add-subgids 231072-296607")


@test
def few_descriptors_are_told():
    found = doctor("sh", "-c", "ulimit -n 300 && exec \"$@\"", "-")
    files = check(found, "open-files")
    equal(files["state"], "weaker")
    contains(files["found"], "300")


@test
def it_leaves_nothing_in_a_folder_it_is_started_in():
    folder = scratch()
    equal(command(FUMEHOOD, "doctor", cwd=folder, env={"TMPDIR": folder}).status in (0, 1), True, "it looked")
    equal([n for n in os.listdir(folder) if not n.startswith("fumehood-")], [], "files")


main()
