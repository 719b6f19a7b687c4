#!/usr/bin/env python3
"""The library as its users see it: host programs with awkward habits, the examples, installation, C++."""

import os
import re
import shutil

from harness import BUILD, ROOT, command, contains, equal, main, needs, scratch, skip, test
from host import tool

HOST = os.path.join(BUILD, "tests", "lib_host")
LIKE_CONTAINER = os.path.join(BUILD, "tests", "like_container")
INCLUDE = os.path.join(ROOT, "include")


def level_holds(level):
    return command(os.environ["FUMEHOOD"] if "FUMEHOOD" in os.environ else os.path.join(BUILD, "src", "cli", "fumehood"),
                   "run", "--level", level, "--", "true").status == 0


def need_namespace():
    return None if level_holds("namespace") else "level namespace does not hold here"


def need_plain_library():
    """What compiles against the library must not need a sanitizer's own library."""
    with open(os.path.join(BUILD, "src", "lib", "libfumehood.so"), "rb") as f:
        return "the library is built with a sanitizer" if re.search(rb"__(asan|tsan|ubsan)_", f.read()) else None


def host(case, level="namespace", front=()):
    done = command(*front, HOST, case, env={"LIB_HOST_LEVEL": level}, timeout=55)
    if done.out != b"ok\n" or done.status:
        raise AssertionError("%s at level %s: %r" % (case, level, done))


@test
@needs(need_namespace)
def four_threads_run_a_hundred_programs_and_leave_no_descriptor():
    host("threads")


@test
def threads_work_at_level_process_inside_a_container():
    host("threads", "process", [LIKE_CONTAINER])


@test
@needs(need_namespace)
def no_sigpipe_reaches_the_host_program():
    host("sigpipe")
    host("sigpipe", "process")


@test
@needs(need_namespace)
def no_sigchld_reaches_the_host_and_ignoring_it_harms_nothing():
    host("sigchld")
    host("sigchld", "process")
    host("sigchld", "process", [LIKE_CONTAINER])


@test
@needs(need_namespace)
def what_the_host_does_with_signals_does_not_reach_the_program():
    host("signals")
    host("signals", "process")
    host("signals", "process", [LIKE_CONTAINER])


@test
@needs(need_namespace)
def a_host_without_standard_streams_can_run_programs():
    host("no_streams")
    host("no_streams", "process")


@test
@needs(need_namespace)
def the_descriptor_of_a_run_can_be_in_a_queue():
    host("epoll")


@test
@needs(need_namespace)
def runs_can_be_cancelled_and_destroyed_while_they_run():
    host("cancel")
    host("cancel", "process")


@test
@needs(need_namespace)
def a_program_with_everything_gives_a_result_with_everything():
    host("everything")


@test
def the_doctor_can_be_asked():
    host("doctor")


@test
@needs(need_namespace)
def the_examples_work():
    one = command(os.path.join(BUILD, "examples", "run_one"), "sh", "-c", "echo out; echo err >&2; exit 3")
    equal(one.status, 3)
    contains(one.text, "verdict: exit, exit code 3")
    contains(one.text, "stdout (4 bytes):\nout\n")
    missing = command(os.path.join(BUILD, "examples", "run_one"), "no-such-command")
    equal(missing.status, 127)
    contains(missing.text, "command not found")
    many = command(os.path.join(BUILD, "examples", "run_many"))
    equal(many.status, 0)
    equal(sorted(many.text.splitlines())[7], "7: exit, exit code 1: hello, this is number 7")


@test
def only_what_the_headers_declare_is_exported():
    if not shutil.which("nm"):
        skip("nm is not installed (apt-get install binutils)")
    out = command("nm", "-D", "--defined-only", os.path.join(BUILD, "src", "lib", "libfumehood.so")).text
    exported = {line.split()[2].split("@")[0] for line in out.splitlines() if line.split()[1] in "TDBR"}
    declared = set()
    for name in os.listdir(os.path.join(INCLUDE, "fumehood")):
        with open(os.path.join(INCLUDE, "fumehood", name)) as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        declared |= set(re.findall(r"\b(fh_\w+)\(", text))
    equal(exported, declared, "exported functions")


@test
@needs(need_plain_library, tool("cc"))
def the_headers_are_plain_c_and_cpp():
    folder = scratch()
    source = os.path.join(folder, "use.cc")
    with open(source, "w") as f:
        f.write("#include <fumehood/fumehood.h>\nint main() { fh_err err = fh_err(); fh_engine *e = nullptr;\n"
                "if (fh_engine_open(&e, &err) < 0) return 1;\nfh_engine_close(e);\n"
                "return fh_verdict_name(FH_VERDICT_OK)[0] != 'o'; }\n")
    cxx = shutil.which("g++") or shutil.which("clang++")
    if not cxx:
        skip("there is no C++ compiler (apt-get install g++)")
    lib = os.path.join(BUILD, "src", "lib")
    done = command(cxx, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I" + INCLUDE, source, "-L" + lib,
                   "-lfumehood", "-Wl,-rpath," + lib, "-o", os.path.join(folder, "use"))
    equal((done.status, done.err), (0, b""), "compiler")
    equal(command(os.path.join(folder, "use")).status, 0)
    for header in os.listdir(os.path.join(INCLUDE, "fumehood")):
        done = command("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c", "-I" + INCLUDE,
                       os.path.join(INCLUDE, "fumehood", header))
        equal((done.status, done.err), (0, b""), header)


@test
@needs(tool("meson"), tool("pkg-config"), tool("cc"), need_plain_library, need_namespace)
def what_is_installed_compiles_an_example():
    if not os.path.exists(os.path.join(BUILD, "src", "lib", "libfumehood.a")) or not os.access(BUILD, os.W_OK):
        skip("not a whole build folder of our own: there is nothing to install from")
    root, folder = scratch(), scratch()
    done = command("meson", "install", "--no-rebuild", "-C", BUILD, "--destdir", root)
    equal(done.status, 0, "meson install: %r" % done)
    found = [d for d, _, names in os.walk(root) if "fumehood.pc" in names]
    equal(len(found), 1, "pkg-config files")
    env = {"PKG_CONFIG_PATH": found[0], "PKG_CONFIG_SYSROOT_DIR": root}
    library = os.path.dirname(found[0])
    for static in ([], ["--static"]):
        flags = command("pkg-config", *static, "--cflags", "--libs", "fumehood", env=env).text.split()
        if static:
            flags = ["-Wl,-Bstatic" if f == "-lfumehood" else f for f in flags]
            flags = [x for f in flags for x in ([f, "-lfumehood", "-Wl,-Bdynamic"] if f == "-Wl,-Bstatic" else [f])]
        program = os.path.join(folder, "one" + "".join(static))
        done = command("cc", "-Wall", "-Werror", os.path.join(ROOT, "examples", "run_one.c"), *flags, "-o", program)
        equal((done.status, done.err), (0, b""), "cc %r" % flags)
        done = command(program, "echo", "installed", env={"LD_LIBRARY_PATH": library})
        equal(done.status, 0, "%r" % done)
        contains(done.text, "installed")


main("userns")
