#!/usr/bin/env python3
"""No file names the machine it was written on: this checkout's folder, where it was cloned from, the builder's home, the host."""

import os
import socket
import subprocess

import tree


def places():
    """Strings that mean something only here, with what they are."""
    yield tree.ROOT, "this checkout"
    try:
        origin = subprocess.run(["git", "-C", tree.ROOT, "remote", "get-url", "origin"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, universal_newlines=True).stdout.strip()
    except OSError:
        origin = ""
    if origin.startswith("/"):
        yield origin, "where this checkout was cloned from"
    home = os.path.expanduser("~")
    if home not in ("/root", "/", "/nonexistent"):
        yield home, "your home"
    host = socket.gethostname()
    if len(host) > 8:
        yield host, "this host's name"


def main():
    # A path of one component ("/srv") is a word that documents may well use.
    needles = [(p.encode(), what) for p, what in places() if not p.startswith("/") or p.count("/") > 1]
    findings = []
    names = tree.tracked()
    for name in names:
        with open(os.path.join(tree.ROOT, name), "rb") as f:
            data = f.read()
        for needle, what in needles:
            at = data.find(needle)
            if at >= 0:
                findings.append("%s:%d: holds the path of %s" % (name, data.count(b"\n", 0, at) + 1, what))
    tree.finish(findings, len(names))


main()
