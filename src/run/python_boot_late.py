"""What a program needs of the boot text when it fails, or looks at its own source: the messages that the interpreter
itself would print, with the lines of a file it cannot open. Executed in the names of python_boot.py, when first needed.

Up to 3.10 the interpreter opens the file of a traceback through io.open; 3.11 and 3.12 refuse names like `<sandbox>`;
from 3.13 on it asks linecache by itself, but for errors it can only report (unraisablehook).
"""


def source_lines():
    """What linecache would have read from a file."""
    import io
    head = source[:2048]
    encoding = 'utf-8'
    if b'coding' in head or head.startswith(b'\xef\xbb\xbf'):
        import tokenize
        encoding = tokenize.detect_encoding(io.BytesIO(source).readline)[0]
    lines = io.TextIOWrapper(io.BytesIO(source), encoding).readlines()
    if lines and not lines[-1].endswith('\n'):
        lines[-1] += '\n'
    return lines


def linecache_fill(linecache):
    linecache.cache.pop('<string>', None)  # from 3.13 on: the boot text
    try:
        lines = source_lines()
    except (SyntaxError, UnicodeError, LookupError):
        return  # linecache has no lines of such a file, either
    # Without a time, checkcache() keeps the entry though there is no such file.
    linecache.cache[NAME] = (len(source), None, lines, NAME)


def linecache_spec(hook, path):
    """The import of linecache, once, with our source put into it."""
    sys.meta_path.remove(hook)
    spec = sys.modules['_frozen_importlib']._find_spec('linecache', path)
    if spec is not None:
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            linecache_fill(module)
        spec.loader.exec_module = exec_module
    return spec


class Shown:
    """While it is entered, io.open(NAME) finds the source."""

    def __enter__(self):
        import io
        self.io, self.open = io, io.open
        io.open = self.find

    def find(self, name, *args, **named):
        if name != NAME:
            return self.open(name, *args, **named)
        fd = os.memfd_create('source')  # the interpreter wants a true descriptor
        file = self.open(fd, 'w+b')
        file.write(source)
        file.seek(0)
        return file

    def __exit__(self, *_):
        self.io.open = self.open


def native_text(value, trace):
    """What the interpreter's own printer says of an exception without its causes."""
    import io
    out, kept = io.StringIO(), (sys.stderr, value.__traceback__)
    chain = value.__cause__, value.__context__, value.__suppress_context__
    value.__cause__ = value.__context__ = None
    try:
        sys.stderr = out
        native_excepthook(type(value), value.with_traceback(trace), trace)
    finally:
        sys.stderr, value.__traceback__ = kept
        value.__cause__, value.__context__, value.__suppress_context__ = chain
    return out.getvalue()


def last_words(told, value):
    """The lines of an exception below its traceback, where the interpreter's differ from those of the traceback module:
    the marks under a syntax error, and up to 3.11 "Did you mean"."""
    if isinstance(value, SyntaxError):
        return native_text(value, None)
    said = ''.join(told.format_exception_only())
    if sys.version_info < (3, 12) and isinstance(value, (NameError, AttributeError)):
        native = native_text(value, value.__traceback__)
        at = native.rfind(said.rstrip('\n'))
        if at >= 0:
            return native[at:]
    return said


def amend(told, value, seen):
    """Walks a TracebackException beside the exception it was made of."""
    if told is None or value is None or id(value) in seen:
        return
    seen.add(id(value))
    words = last_words(told, value)
    told.format_exception_only = lambda: iter([words])
    amend(told.__cause__, value.__cause__, seen)
    amend(told.__context__, value.__context__, seen)
    for inner_told, inner in zip(told.exceptions or (), getattr(value, 'exceptions', ())):
        amend(inner_told, inner, seen)


def limit():
    """The interpreter prints the last frames where the traceback module prints the first."""
    wanted = getattr(sys, 'tracebacklimit', 1000)
    return -max(wanted, 0) if isinstance(wanted, int) else -1000


def show(value, trace, file):
    import traceback
    told = traceback.TracebackException(type(value), value, trace, limit=limit(), compact=True)
    amend(told, value, set())
    file.write(''.join(told.format()))
    file.flush()


def excepthook(original, kind, value, trace):
    if sys.version_info < (3, 11):
        with Shown():
            return original(kind, value, trace)
    if not isinstance(value, BaseException) or sys.stderr is None:
        return original(kind, value, trace)
    return show(value, value.__traceback__ or trace, sys.stderr)


def thread_excepthook(original, args):
    if sys.version_info < (3, 11):
        with Shown():
            return original(args)
    file = sys.stderr or (args.thread and args.thread._stderr)
    if args.exc_type is SystemExit or file is None:
        return None
    import _thread
    name = args.thread.name if args.thread is not None else _thread.get_ident()
    file.write('Exception in thread %s:\n' % name)
    return show(args.exc_value, args.exc_traceback, file)


def unraisablehook(original, args):
    if sys.version_info < (3, 11):
        with Shown():
            return original(args)
    if args.exc_traceback is None or args.exc_value is None or sys.stderr is None:
        return original(args)
    import traceback
    try:
        about = repr(args.object)
    except Exception:
        about = '<object repr() failed>'
    text = ''
    if args.object is not None:
        text = '%s: %s\n' % (args.err_msg or 'Exception ignored in', about)
    elif args.err_msg is not None:
        text = args.err_msg + ':\n'
    frames = traceback.extract_tb(args.exc_traceback, limit())
    if sys.version_info >= (3, 13):  # no marks below these lines
        frames = traceback.StackSummary.from_list([(f.filename, f.lineno, f.name, f.line) for f in frames])
    text += 'Traceback (most recent call last):\n' + ''.join(frames.format())
    text += ''.join(traceback.format_exception_only(args.exc_type, args.exc_value))
    sys.stderr.write(text)
    sys.stderr.flush()
    return None


def nul_error():
    """From 3.11.4 on: told with the line up to the NUL."""
    before = source.partition(b'\0')[0]
    number, text = before.count(b'\n') + 1, before.rpartition(b'\n')[2].decode('utf-8', 'replace')
    return SyntaxError('source code cannot contain null bytes', (NAME, number, 0, text, number, 0))


def declared():
    """The encoding that the source names in one of its first two lines, or None."""
    import re
    for line in source.split(b'\n')[:2]:
        match = re.match(rb'^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)', line)
        if match:
            return match.group(1).decode()
        if not re.match(rb'^[ \t\f]*(?:[#\r\n]|$)', line):
            break
    return None


def as_from_file(error):
    """The error that reading the program from a file would have given instead of compile()'s."""
    encoding = declared()
    if isinstance(error, UnicodeDecodeError):  # of our own check
        line = source.count(b'\n', 0, error.start) + 1 + (sys.version_info[:2] == (3, 10))
        pep = 'https://peps.python.org/pep-0263/'
        if sys.version_info < (3, 11):
            pep = 'http%s://python.org/dev/peps/pep-0263/' % ('s' if sys.version_info >= (3, 9) else '')
        text = ("Non-UTF-8 code starting with '\\x%.2x' in file %s on line %d, but no encoding declared; "
                "see %s for details" % (source[error.start], NAME, line, pep))
        return SyntaxError(text) if sys.version_info >= (3, 9) else SyntaxError(text, (NAME, line, None, None))
    if not isinstance(error, SyntaxError):
        return error
    if 'source code string' in str(error.msg):
        return nul_error()
    elif encoding and not error.lineno and not str(error.msg).startswith('encoding problem'):
        return SyntaxError('encoding problem: ' + encoding)
    elif not error.lineno:
        return SyntaxError(error.msg)
    else:
        place(error)
    return error


def place(error):
    """Line and column as the parser of files gives them."""
    try:
        lines = source_lines()
        if error.text is None:
            error.text = lines[error.lineno - 1]
    except (IndexError, SyntaxError, UnicodeError, LookupError):
        return
    at_end = error.lineno == len(lines) and error.offset is not None and error.offset > len(lines[-1].rstrip('\n'))
    if at_end and getattr(error, 'end_offset', None) == -1 and error.msg.startswith('expected '):
        error.offset = 0  # at the end of a file the parser has no current line any more


def refused(error):
    """The program does not compile: returns code that raises what python would have said."""
    global refusal, source
    try:
        if isinstance(error, UnicodeDecodeError) and declared():
            return compile(source, NAME, 'exec', dont_inherit=True)
        if type(error) is ValueError and b'\0' in source:
            # Before 3.11.4 a line of a file ended at a NUL, and swallowed its newline.
            import re
            source = re.sub(rb'\0[^\n]*\n?', b'', source)
            return compile(source, NAME, 'exec', dont_inherit=True)
    except BaseException as other:
        error = other
    refusal = as_from_file(error)
    refusal.__cause__ = refusal.__context__ = None
    code = compile("raise 'refusal'", NAME, 'exec')
    return code.replace(co_consts=tuple(refusal if c == 'refusal' else c for c in code.co_consts))


def failed(value, trace):
    """The program ended by an exception: cuts our frame from its traceback and lets the interpreter go on."""
    BaseException.with_traceback(value, trace)
    if type(value) is KeyboardInterrupt and sys.version_info < (3, 13):
        # The interpreter notes that it was interrupted, and forgets it when a module runs exec() on a text while the
        # traceback is printed: load those modules before.
        import traceback  # noqa: F401
    if sys.version_info >= (3, 11) or not hasattr(sys, 'excepthook'):
        return
    hook = sys.excepthook

    def once(kind, value, _):
        # These interpreters keep the uncut traceback beside the exception.
        sys.excepthook, sys.last_traceback = hook, trace
        hook(kind, BaseException.with_traceback(value, trace), trace)
    sys.excepthook = once
