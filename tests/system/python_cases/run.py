#!/usr/bin/env python3
"""Compares `python3 FILE` with the same program run through the boot text: stdout, stderr, and how it ended.

usage: run.py [--python PYTHON] (--boot TEXT_FILE | --fumehood PROGRAM) [CASE...]

A case is a file beside this one, or an entry of raw_cases.py. Its first lines may say
    # args: ...        arguments, as in a shell
    # stdin: ...       standard input, with \\n for newlines (otherwise empty)
    # since: 3.11      skipped by older interpreters
    # only: status     only the exit status is compared
    # plain: differs   the output must differ from plain python's (what we do otherwise on purpose)
Prints one line for each case that fails and a last line "N passed, N failed, N skipped"; exit status 1 when one failed.
"""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DEADLINE_S = 60
FLAGS = ['-u', '-X', 'utf8']


def cases():
    sys.path.insert(0, HERE)
    import raw_cases
    found = {name: text for name, text in raw_cases.CASES.items()}
    for name in sorted(os.listdir(HERE)):
        if name.endswith('.py') and name not in ('run.py', 'raw_cases.py'):
            with open(os.path.join(HERE, name), 'rb') as file:
                found[name[:-3]] = file.read()
    return found


def wishes(source):
    """The `# key: value` lines at the top of a case."""
    found = {}
    for line in source.split(b'\n')[:5]:
        match = re.match(rb'# (args|stdin|since|only|plain): (.*)$', line)
        if match:
            found[match.group(1).decode()] = match.group(2).decode('utf-8')
    return found


def run(argv, stdin, cwd, source_fd=None):
    env = {k: os.environ[k] for k in ('PATH', 'HOME') if k in os.environ}
    env['LC_ALL'] = 'C.UTF-8'

    def place():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if source_fd is not None:
            os.dup2(source_fd, 3)
    process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=place, pass_fds=(3,) if source_fd is not None else (),
                               start_new_session=True)
    try:
        out, err = process.communicate(stdin, timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        err += b'(deadline of the test)\n'
    return out, err, process.returncode


def run_plain(options, case_dir, source, args, stdin):
    cwd = os.path.join(case_dir, 'plain_dir')
    os.mkdir(cwd)
    path = os.path.join(cwd, '<sandbox>')
    with open(path, 'wb') as file:
        file.write(source)
    out, err, status = run([options.python] + FLAGS + [path] + args, stdin, cwd)

    def same_name(text):
        return text.replace(path.encode(), b'<sandbox>')
    return same_name(out), same_name(err), status


def run_booted(options, case_dir, source, args, stdin):
    cwd = os.path.join(case_dir, 'boot_dir')
    os.mkdir(cwd)
    if options.fumehood:
        with open(os.path.join(case_dir, 'source'), 'wb') as file:
            file.write(source)
        return run([options.fumehood, 'python', '--python', options.python, '--quiet',
                    os.path.join(case_dir, 'source')] + args, stdin, cwd)
    with tempfile.TemporaryFile() as file:
        file.write(source)
        file.flush()
        file.seek(0)
        return run([options.python] + FLAGS + ['-c', options.text] + args, stdin, cwd, file.fileno())


def neutral(text, case_dir):
    """What may differ between two runs of the same program."""
    text = text.replace(case_dir.encode() + b'/plain_dir', b'CWD').replace(case_dir.encode() + b'/boot_dir', b'CWD')
    text = re.sub(rb'0x[0-9a-f]{6,}', b'0xADDRESS', text)
    return re.sub(rb'\d+\.\d+s', b'N.Ns', text)


def show(name, what, plain, boot):
    def lines(text):
        text = text if isinstance(text, bytes) else str(text).encode()
        return b''.join(b'      ' + line + b'\n' for line in text.splitlines()[-25:])
    sys.stdout.flush()
    sys.stdout.buffer.write(b'  %s differs\n    plain:\n%s    boot:\n%s' % (what.encode(), lines(plain), lines(boot)))


def check(options, name, source, version):
    """'passed', 'failed', or a reason to skip."""
    wish = wishes(source)
    if 'since' in wish and version < tuple(int(n) for n in wish['since'].split('.')):
        return 'needs Python ' + wish['since']
    args = shlex.split(wish.get('args', ''))
    stdin = wish.get('stdin', '').replace('\\n', '\n').encode()
    with tempfile.TemporaryDirectory(prefix='fh-cases-') as case_dir:
        plain = run_plain(options, case_dir, source, args, stdin)
        boot = run_booted(options, case_dir, source, args, stdin)
    verdict = 'passed'
    for what, p, b in zip(('stdout', 'stderr', 'status'), plain, boot):
        if 'only' in wish and what != wish['only']:
            continue
        if what != 'status':
            p, b = neutral(p, case_dir), neutral(b, case_dir)
        if 'plain' in wish:
            if what == 'stdout' and p == b:
                print('FAIL %s: the same as plain python' % name)
                verdict = 'failed'
        elif p != b:
            if verdict == 'passed':
                print('FAIL %s' % name)
            show(name, what, p, b)
            verdict = 'failed'
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--python', default=sys.executable)
    parser.add_argument('--boot')
    parser.add_argument('--fumehood')
    parser.add_argument('cases', nargs='*')
    options = parser.parse_args()
    if bool(options.boot) == bool(options.fumehood):
        parser.error('give one of --boot and --fumehood')
    if options.boot:
        with open(options.boot, encoding='ascii') as file:
            options.text = file.read()
    version = tuple(int(n) for n in subprocess.check_output(
        [options.python, '-c', 'import sys; print(*sys.version_info[:2])']).split())
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    for name, source in cases().items():
        if options.cases and name not in options.cases:
            continue
        verdict = check(options, name, source, version)
        if verdict not in counts:
            print('SKIP %s: %s' % (name, verdict))
            verdict = 'skipped'
        counts[verdict] += 1
    print('%(passed)d passed, %(failed)d failed, %(skipped)d skipped' % counts)
    sys.exit(1 if counts['failed'] or not counts['passed'] else 0)


main()
