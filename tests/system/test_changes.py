#!/usr/bin/env python3
"""The receipt lists what a run changed in its workspace, whichever way the workspace was given."""

import hashlib
import os

from harness import equal, main, needs, result, scratch, test

SCRIPT = """set -e; umask 022
echo new > new; echo after > edited; : >> kept; rm gone; rm -r tree; mkdir -p made/in; ln -s /etc/passwd link
rm -r again; mkdir again; echo 2 > again/both; printf x > "$(printf 'odd\\nname')"
"""
# Kind of change, kind of file, content where it is a file that is still there.
WANT = {
    "again/both": ("modified", "file", b"2\n"), "again/old": ("deleted", "file", None), "edited": ("modified", "file", b"after\n"),
    "gone": ("deleted", "file", None), "link": ("added", "symlink", None), "made": ("added", "directory", None),
    "made/in": ("added", "directory", None), "new": ("added", "file", b"new\n"), "odd\\x0aname": ("added", "file", b"x"),
    "tree": ("deleted", "directory", None), "tree/leaf": ("deleted", "file", None),
}


def workspace():
    ws = scratch()
    for folder in "tree", "again":
        os.mkdir(os.path.join(ws, folder), 0o755)
    for name in "kept", "edited", "gone", "tree/leaf", "again/old", "again/both":
        with open(os.path.join(ws, name), "w") as f:
            f.write("before\n")
    return ws


def changes(done):
    equal(done["verdict"], "ok", "the run: %r" % done)
    receipt = done["receipt"]
    equal(receipt["changes_truncated"], False)
    listed = receipt["changes"]
    equal([c["path"] for c in listed], sorted(c["path"] for c in listed), "the order")
    return {c["path"]: (c["change"], c["kind"], c["sha256"]) for c in listed}


def summed(want):
    return {path: (change, kind, None if data is None else hashlib.sha256(data).hexdigest())
            for path, (change, kind, data) in want.items()}


@test
@needs("userns")
def a_copy_tells_what_would_change():
    ws = workspace()
    equal(changes(result("bash", "--workspace", ws, "-c", SCRIPT)), summed(WANT))
    with open(os.path.join(ws, "edited")) as f:
        equal(f.read(), "before\n", "the folder itself")


@test
@needs("userns")
def a_folder_worked_on_directly_tells_what_did_change():
    ws = workspace()
    equal(changes(result("bash", "--workspace-rw", ws, "-c", SCRIPT)), summed(WANT))


@test
@needs("userns")
def an_empty_workspace_holds_only_what_is_new():
    script = "umask 022; echo new > new; mkdir d; echo 1 > d/f; rm new"
    want = {"d": ("added", "directory", None), "d/f": ("added", "file", b"1\n")}
    equal(changes(result("bash", "-c", script)), summed(want))
    equal(changes(result("bash", "-c", "cat /dev/null")), {})


@test
def level_process_tells_it_too():
    script = "umask 022; echo new > new; mkdir d"
    want = {"d": ("added", "directory", None), "new": ("added", "file", b"new\n")}
    equal(changes(result("bash", "--level", "process", "--allow-weaker", "-c", script)), summed(want))


@test
@needs("userns")
def a_flood_of_files_is_cut_and_says_so():
    done = result("bash", "-c", "for i in $(seq 1500); do : > f$i; done")
    equal(done["verdict"], "ok")
    equal((len(done["receipt"]["changes"]), done["receipt"]["changes_truncated"]), (1000, True))


main()
