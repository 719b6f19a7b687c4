# What an interpreter is asked (interp_probe.c runs this by -I -B -c): what it needs to be able to run elsewhere. Answers
# in lines "key<TAB>value" between two marks, in one write. Must run on Python 3.8 and later.
import os
import site
import sys

PREFIXES = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)


def imported():
    """Loads what is linked to shared libraries of its own, so that they are mapped."""
    for name in ('ssl', 'sqlite3', 'ctypes', 'zlib', 'bz2', 'lzma', 'hashlib', 'decimal', 'readline', 'curses', 'uuid',
                 'pyexpat', '_zstd'):
        try:
            __import__(name)
        except Exception:
            pass


def libraries():
    """Mapped files, under every name in their folder: the loader looks for a library's short name, which is a link."""
    found = set()
    try:
        with open('/proc/self/maps') as maps:
            files = {line.split(None, 5)[5].rstrip('\n') for line in maps if line.count(' ') >= 5 and '/' in line}
    except OSError:
        return []
    shown = tuple(os.path.join(os.path.realpath(p), '') for p in PREFIXES) + ('/usr/', '/lib')
    for file in files:
        folder, base = os.path.split(file)
        if '.so' not in base or file.startswith(shown) or not os.path.isfile(file):
            continue
        found.add(file)
        stem = base.split('.so')[0] + '.so'
        for name in sorted(os.listdir(folder))[:4096]:
            path = os.path.join(folder, name)
            if name.startswith(stem) and os.path.islink(path) and os.path.realpath(path) == file:
                found.add(path)
    return sorted(found)


def answers():
    yield 'executable', sys.executable
    yield 'version', '%d.%d.%d' % sys.version_info[:3]
    for prefix in PREFIXES:
        yield 'prefix', prefix
    yield 'need', os.path.dirname(os.__file__)
    stdlib = [p for p in sys.path if p.endswith('lib-dynload') or (p.endswith('.zip') and 'python' in p)]
    for path in stdlib:
        yield 'need', path
    for path in site.getsitepackages():
        yield 'packages', path
    imported()
    for path in libraries():
        yield 'library', path


def main():
    lines = ['fumehood-probe 1']
    for key, value in answers():
        if key in ('executable', 'version'):
            lines.append(key + '\t' + value)
        elif value and os.path.exists(value):
            value = os.path.realpath(value) if '..' in value else os.path.normpath(value)
            line = key + '\t' + value
            if line not in lines:
                lines.append(line)
    lines.append('fumehood-probe end')
    text = '\n' + '\n'.join(lines) + '\n'
    os.write(1, os.fsencode(text))
    os._exit(0)


main()
