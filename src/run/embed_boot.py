#!/usr/bin/env python3
"""Build step: makes the arguments of `python3 -c` out of python_boot.py with python_boot_late.py, and out of
interp_probe.py, as C strings.

usage: embed_boot.py python_boot.py python_boot_late.py interp_probe.py OUT.c BOOT.txt

BOOT.txt is the boot text itself, for tests.
"""
import ast
import sys


def bare(path):
    """The source without comments and docstrings."""
    with open(path, encoding='utf-8') as file:
        tree = ast.parse(file.read(), path)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree) + '\n'


def boot_text(boot, late):
    # The names of the boot text are a dictionary of their own, so that the program's globals are clean. The last
    # statement holds what it needs on the interpreter's stack, out of the program's reach by name.
    return ("_ = {'__name__': 'sys', 'LATE': %r}\n"
            "exec(%r, _)\n"
            "with _['Program'](globals()): exec(globals().pop('_'))\n") % (bare(late), bare(boot))


def c_string(name, text):
    lines = []
    for line in text.encode('ascii').split(b'\n')[:-1]:
        for at in range(0, len(line) + 1, 90):
            part = line[at:at + 90].decode().replace('\\', '\\\\').replace('"', '\\"').replace('?', '\\?')
            lines.append('\t"%s%s"' % (part, '\\n' if at + 90 > len(line) else ''))
    return 'const char %s[] =\n%s;\n' % (name, '\n'.join(lines))


def main():
    boot, late, probe, out_c, out_text = sys.argv[1:]
    text = boot_text(boot, late)
    with open(out_text, 'w', encoding='ascii') as out:
        out.write(text)
    with open(out_c, 'w', encoding='ascii') as out:
        out.write('/* Made by embed_boot.py; do not edit. */\n#include "run/interp_impl.h"\n\n%s\n%s'
                  % (c_string('fh_python_boot', text), c_string('fh_python_probe', bare(probe))))


main()
