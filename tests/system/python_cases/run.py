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
import concurrent.futures
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
    found = dict(raw_cases.CASES)
    for name in sorted(os.listdir(HERE)):
        if name.endswith('.py') and name not in ('run.py', 'raw_cases.py'):
            with open(os.path.join(HERE, name), 'rb') as file:
                found[name[:-3]] = file.read()
    return found, raw_cases.SINCE


def wishes(source):
    """The `# key: value` lines at the top of a case."""
    found = {}
    for line in source.split(b'\n')[:5]:
        match = re.match(rb'# (args|stdin|since|only|plain): (.*)$', line)
        if match:
            found[match.group(1).decode()] = match.group(2).decode('utf-8')
    return found


def run(argv, stdin, cwd, source=None):
    """stdout, stderr, status; `source` is a file that becomes descriptor 3."""
    env = {k: os.environ[k] for k in ('PATH', 'HOME') if k in os.environ}
    env.update(LC_ALL='C.UTF-8', PYTHONDONTWRITEBYTECODE='1')
    if source is not None:
        argv = ['/bin/sh', '-c', 'exec "$@" 3<"$0"', source] + argv
    process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
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
    cwd, path = os.path.join(case_dir, 'boot_dir'), os.path.join(case_dir, 'source')
    os.mkdir(cwd)
    with open(path, 'wb') as file:
        file.write(source)
    if options.fumehood:
        command = [options.fumehood, 'python', '--quiet', '--python', options.python, '--stdin', '-', path]
        out, err, status = run(command + args, stdin, cwd)
        here = cwd.encode() + b'/'
        return out.replace(b'/work/', here), err.replace(b'/work/', here), status
    return run([options.python] + FLAGS + ['-c', options.text] + args, stdin, cwd, path)


def neutral(text, case_dir):
    """What may differ between two runs of the same program."""
    text = text.replace(case_dir.encode() + b'/plain_dir', b'CWD').replace(case_dir.encode() + b'/boot_dir', b'CWD')
    text = re.sub(rb'0x[0-9a-f]{6,}', b'0xADDRESS', text)
    return re.sub(rb'\d+\.\d+s', b'N.Ns', text)


def difference(what, plain, boot):
    def lines(text):
        text = text if isinstance(text, bytes) else str(text).encode()
        return ['      ' + ascii(line.decode('utf-8', 'replace'))[1:-1] for line in text.splitlines()[-25:]]
    return ['  %s differs' % what, '    plain:'] + lines(plain) + ['    boot:'] + lines(boot)


def check(options, name, source):
    """'passed', 'failed' or 'skipped', and lines that say why."""
    wish = wishes(source)
    since = options.since.get(name, wish.get('since'))
    if since and options.version < tuple(int(n) for n in since.split('.')):
        return 'skipped', ['SKIP %s: needs Python %s' % (name, since)]
    args = shlex.split(wish.get('args', ''))
    stdin = wish.get('stdin', '').replace('\\n', '\n').encode()
    with tempfile.TemporaryDirectory(prefix='fh-cases-') as case_dir:
        plain = run_plain(options, case_dir, source, args, stdin)
        boot = run_booted(options, case_dir, source, args, stdin)
    if options.fumehood and plain[2] < 0:
        plain = plain[:2] + (128 - plain[2],)
    said = []
    for what, p, b in zip(('stdout', 'stderr', 'status'), plain, boot):
        if 'only' in wish and what != wish['only']:
            continue
        if what != 'status':
            p, b = neutral(p, case_dir), neutral(b, case_dir)
        if 'plain' in wish and what == 'stdout':
            if p == b:
                said.append('  stdout is the same as plain python\'s')
        elif p != b:
            said += difference(what, p, b)
    return ('failed', ['FAIL ' + name] + said) if said else ('passed', [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--python', default='/usr/bin/python3' if os.access('/usr/bin/python3', os.X_OK) else sys.executable)
    parser.add_argument('--boot')
    parser.add_argument('--fumehood')
    parser.add_argument('cases', nargs='*')
    options = parser.parse_args()
    if bool(options.boot) == bool(options.fumehood):
        parser.error('give one of --boot and --fumehood')
    if options.fumehood:
        options.fumehood = os.path.abspath(options.fumehood)
    if options.boot:
        with open(options.boot, encoding='ascii') as file:
            options.text = file.read()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs must not inherit that it is ignored
    options.version = tuple(int(n) for n in subprocess.check_output(
        [options.python, '-c', 'import sys; print(*sys.version_info[:2])']).split())
    found, options.since = cases()
    wanted = [name for name in found if not options.cases or name in options.cases]
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for verdict, said in pool.map(lambda name: check(options, name, found[name]), wanted):
            counts[verdict] += 1
            for line in said:
                print(line)
    print('%(passed)d passed, %(failed)d failed, %(skipped)d skipped' % counts)
    sys.exit(1 if counts['failed'] or not counts['passed'] else 0)


main()
