"""Runs the user's program in a fresh interpreter so that it cannot be told from `python3 FILE`, but for two things:
the file is called `<sandbox>`, and there is no `__file__`.

This text is part of the argument of `python3 -c` (see embed_boot.py); the program arrives on descriptor 3. It must stay
small and import next to nothing that a bare interpreter has not loaded: every run compiles it anew. What a program needs
only when it fails or looks at its own source is in python_boot_late.py. It must run on 3.8 and later, and decides nothing
about limits or rights: it runs inside the sandbox, as the user's program does, and nothing it says can be trusted.

One frame, the `with` statement of embed_boot.py, stays below the program's own: no pure Python can avoid it. It is cut
from every traceback, and the recursion limit is raised by the depth it takes.
"""
import os
import sys
import warnings  # noqa: F401 (once loaded, the interpreter prints warnings through linecache, which knows our source)

NAME = '<sandbox>'
SOURCE_FD = 3
# How deep the frame below the program and the exec() in it count: up to 3.11 both do, then only Python frames.
DEPTH = 2 if sys.version_info < (3, 12) else 1

names = globals()
native_excepthook = sys.excepthook
refusal = None  # the error of a program that does not compile
with open(SOURCE_FD, 'rb', buffering=0) as file:
    source = file.readall()


def late(name):
    """A function of python_boot_late.py."""
    if 'failed' not in names:
        exec(LATE, names)
    return names[name]


def lazy(hook, original):
    """A stand-in for a hook of the interpreter that prints tracebacks without looking into linecache."""
    def call(*args):
        do = None
        if sys.meta_path is not None:  # else the interpreter is nearly gone and can import nothing
            try:
                do = late(hook)
            except Exception:  # short of memory
                pass
        return do(original, *args) if do else original(*args)
    call.__name__ = call.__qualname__ = hook
    return call


class Linecache:
    """As an import hook: importing linecache takes as long as starting Python, so our source is put into it when a
    program (or a failure) imports it."""

    def find_spec(self, name, path=None, target=None):
        return late('linecache_spec')(self, path) if name == 'linecache' else None


def take_hooks():
    sys.unraisablehook = sys.__unraisablehook__ = lazy('unraisablehook', sys.unraisablehook)
    if sys.version_info < (3, 13):
        import _thread
        sys.excepthook = sys.__excepthook__ = lazy('excepthook', sys.excepthook)
        _thread._excepthook = lazy('thread_excepthook', _thread._excepthook)
        threading = sys.modules.get('threading')  # some site-packages import half the library
        if threading is not None:
            threading.excepthook = threading.__excepthook__ = _thread._excepthook
    if 'linecache' in sys.modules:
        late('linecache_fill')(sys.modules['linecache'])
    else:
        sys.meta_path.insert(0, Linecache())


def look_plain():
    """Arguments, paths and limits as a program in a file of this folder finds them."""
    sys.argv[0] = NAME
    if sys.path and sys.path[0] == '':
        sys.path[0] = os.getcwd()
    if hasattr(sys, 'orig_argv'):
        at = sys.orig_argv.index('-c')
        sys.orig_argv[at:at + 2] = [NAME]
    real, usual = sys.getrecursionlimit, sys.getrecursionlimit()
    sys.setrecursionlimit(usual + DEPTH)
    sys.getrecursionlimit = lambda: usual if real() == usual + DEPTH else real()


class Program:
    """What the last statement of the boot text holds while the program runs."""

    def __init__(self, main):
        take_hooks()
        try:
            source.decode()  # reading a file, the interpreter checks comments, too; compile() does not
            code = compile(source, NAME, 'exec', dont_inherit=True)
        except BaseException as error:
            code = late('refused')(error)
        look_plain()
        main['__cached__'] = None
        main['_'] = code  # taken out again by the last statement

    def __enter__(self):
        pass

    def __exit__(self, kind, value, trace):
        if kind is not None and not issubclass(kind, SystemExit):
            late('failed')(value, None if value is refusal else trace.tb_next)
