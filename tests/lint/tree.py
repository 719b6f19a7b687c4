"""What all lint checks share: the files of the checkout, and the way a finding is told.

A check prints one line per finding (`file:line: what is wrong and what to do`) and exits 0, 1 or 77 (could not look;
the reason is printed). It reads, it never changes a file.
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77


def tracked():
    """Paths relative to ROOT: what git knows and does not ignore, or without git everything but build folders."""
    try:
        out = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "-co", "--exclude-standard"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        names = [os.fsdecode(n) for n in out.split(b"\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = list(walk())
    return sorted(n for n in names if os.path.isfile(os.path.join(ROOT, n)))


def walk():
    for folder, subs, files in os.walk(ROOT):
        subs[:] = [s for s in subs if s not in (".git", "__pycache__") and not s.startswith("build")
                   and not os.path.exists(os.path.join(folder, s, "meson-private"))]
        for f in files:
            yield os.path.relpath(os.path.join(folder, f), ROOT)


def c_files(*roots):
    return [n for n in tracked() if n.endswith((".c", ".h")) and n.startswith(tuple(roots or ("src/", "include/", "tests/")))]


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as f:
        return f.read()


def blank_comments(text, strings=True):
    """The text of a C file with comments (and the insides of literals) turned into spaces, line numbers kept."""
    out, i, n = [], 0, len(text)
    while i < n:
        two = text[i:i + 2]
        if two == "/*":
            end = text.find("*/", i + 2)
            end = n if end < 0 else end + 2
        elif two == "//":
            end = text.find("\n", i)
            end = n if end < 0 else end
        elif text[i] in "\"'" and strings:
            end = i + 1
            while end < n and text[end] != text[i] and text[end] != "\n":
                end += 2 if text[end] == "\\" else 1
            end = min(end + 1, n)
            out.append(text[i] + "".join(c if c == "\n" else " " for c in text[i + 1:end - 1]) + text[end - 1:end])
            i = end
            continue
        else:
            out.append(text[i])
            i += 1
            continue
        out.append("".join(c if c == "\n" else " " for c in text[i:end]))
        i = end
    return "".join(out)


def finish(findings, looked_at):
    for f in findings:
        print(f)
    print("%d files looked at, %d findings" % (looked_at, len(findings)))
    sys.exit(1 if findings else 0)


def skip(reason):
    print("SKIP: " + reason)
    sys.exit(SKIPPED)
