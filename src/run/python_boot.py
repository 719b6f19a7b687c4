"""Runs the user's program in a fresh interpreter so that it cannot be told from `python3 FILE`, but for two things:
the file is called `<sandbox>`, and there is no `__file__`.

This text is part of the argument of `python3 -c` (see embed_boot.py); the program arrives on descriptor 3. It must stay
small and import nothing that a bare interpreter has not loaded: every run pays for it. What only a failing program needs
is in python_boot_errors.py, compiled when it is needed. It must run on 3.8 and later, and decides nothing about limits
or rights: it runs inside the sandbox, as the user's program does, and nothing it says can be trusted.

One frame, the `with` statement of embed_boot.py, stays below the program's own: no pure Python can avoid it. It is cut
from every traceback, and the recursion limit is raised by the depth it takes.
"""
import sys
import os
import warnings  # noqa: F401 (loaded, the interpreter prints warnings through linecache, which knows our source)

NAME = '<sandbox>'
SOURCE_FD = 3
# How deep the frame below the program and the exec() in it count: up to 3.11 both do, then only Python frames.
DEPTH = 2 if sys.version_info < (3, 12) else 1


class Source:
    """The program's text, and the places where the interpreter looks for it."""

    def __init__(self):
        with open(SOURCE_FD, 'rb', buffering=0) as file:
            self.bytes = file.readall()

    def compile(self):
        return compile(self.bytes, NAME, 'exec', dont_inherit=True)

    def lines(self):
        """What linecache would have read from a file."""
        import io
        head = self.bytes[:2048]
        encoding = 'utf-8'
        if b'coding' in head or head.startswith(b'\xef\xbb\xbf'):
            import tokenize
            encoding = tokenize.detect_encoding(io.BytesIO(self.bytes).readline)[0]
        lines = io.TextIOWrapper(io.BytesIO(self.bytes), encoding).readlines()
        if lines and not lines[-1].endswith('\n'):
            lines[-1] += '\n'
        return lines

    def register(self, linecache):
        try:
            lines = self.lines()
        except (SyntaxError, UnicodeError, LookupError):
            return  # linecache has no lines of such a file, either
        # Without a time, checkcache() keeps the entry though there is no such file.
        linecache.cache[NAME] = (len(self.bytes), None, lines, NAME)

    def find_spec(self, name, path=None, target=None):
        """As an import hook: importing linecache takes as long as starting Python, so it is filled when a program (or a
        failure) imports it, and the hook is gone."""
        if name != 'linecache':
            return None
        sys.meta_path.remove(self)
        spec = sys.modules['_frozen_importlib']._find_spec(name, path)
        if spec is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                self.register(module)
            spec.loader.exec_module = exec_module
        return spec

    def publish(self):
        if 'linecache' in sys.modules:
            sys.modules['linecache'].cache.pop('<string>', None)  # from 3.13 on: this very text
            self.register(sys.modules['linecache'])
        else:
            sys.meta_path.insert(0, self)


def errors():
    """The names of python_boot_errors.py."""
    if 'failed' not in names:
        exec(ERRORS, names)
    return names


def lazy(hook, original):
    """A stand-in for a hook of the interpreter that prints tracebacks without looking into linecache."""
    def call(*args):
        do = None
        if sys.meta_path is not None:  # else the interpreter is nearly gone and can import nothing
            try:
                do = errors()[hook]
            except Exception:  # short of memory
                pass
        return do(original, *args) if do else original(*args)
    call.__name__ = call.__qualname__ = hook
    return call


def take_hooks():
    sys.unraisablehook = sys.__unraisablehook__ = lazy('unraisablehook', sys.unraisablehook)
    if sys.version_info < (3, 13):
        import _thread
        sys.excepthook = sys.__excepthook__ = lazy('excepthook', sys.excepthook)
        _thread._excepthook = lazy('thread_excepthook', _thread._excepthook)
        threading = sys.modules.get('threading')  # some site-packages import half the library
        if threading is not None:
            threading.excepthook = threading.__excepthook__ = _thread._excepthook


class Program:
    """What the last statement of the boot text holds while the program runs."""

    def __init__(self, main):
        sys.argv[0] = NAME
        if sys.path and sys.path[0] == '':
            sys.path[0] = os.getcwd()
        if hasattr(sys, 'orig_argv'):
            at = sys.orig_argv.index('-c')
            sys.orig_argv[at:at + 2] = [NAME]
        source.publish()
        take_hooks()
        try:
            source.bytes.decode()  # reading a file, the interpreter checks comments, too; compile() does not
            code = source.compile()
        except BaseException as error:
            code = errors()['refused'](error)
        main['__cached__'] = None
        main['_'] = code  # taken out again by the last statement
        deepen()

    def __enter__(self):
        pass

    def __exit__(self, kind, value, trace):
        if kind is not None and not issubclass(kind, SystemExit):
            errors()['failed'](value, None if value is refusal else trace.tb_next)


def deepen():
    usual = sys.getrecursionlimit()
    real = sys.getrecursionlimit
    sys.setrecursionlimit(usual + DEPTH)
    sys.getrecursionlimit = lambda: usual if real() == usual + DEPTH else real()


names = globals()
native_excepthook = sys.excepthook
source = Source()
refusal = None  # the error of a program that does not compile
