#!/usr/bin/env python3
"""Programs that mean no harm work as on the host, and see the machine they were given."""

import os

from harness import equal, main, needs, result, scratch, test
from host import tool
from inside import open_folders, python, shell, tell, verdict


def works(name, code, want, options=()):
    def body():
        r = verdict(python(code, *options), "ok", 0)
        equal((r["stdout"]["text"], r["stderr"]["text"]), (want, ""), "what it printed")
    body.__name__ = name.replace(" ", "_") + "_works"
    test(body)


works("threading", """
import threading, queue
q, out = queue.Queue(), []
def work():
    while (x := q.get()) is not None: out.append(x * x)
t = [threading.Thread(target=work) for _ in range(8)]
for x in t: x.start()
for i in range(100): q.put(i)
for x in t: q.put(None)
for x in t: x.join()
print(sum(out))
""", "328350\n")

works("subprocess", """
import subprocess
print(subprocess.check_output("echo $((6*7)) | tr 4 5", shell=True).decode().strip(), subprocess.run(["false"]).returncode)
p = subprocess.Popen(["cat"], stdin=-1, stdout=-1); print(p.communicate(b"through")[0])
try: subprocess.run(["sleep", "9"], timeout=0.2)
except subprocess.TimeoutExpired: print("timeout")
""", "52 1\nb'through'\ntimeout\n")

works("multiprocessing", """
import multiprocessing as m
c = m.get_context("fork")
with c.Pool(4) as p: print(sum(p.map(abs, range(-100, 0))))
q = c.Queue(); x = c.Process(target=q.put, args=("hi",)); x.start(); print(q.get()); x.join()
v = c.Value("i", 0)
def inc():
    for _ in range(100):
        with v.get_lock(): v.value += 1
ps = [c.Process(target=inc) for _ in range(4)]
for p in ps: p.start()
for p in ps: p.join()
print(v.value)
from multiprocessing import shared_memory
s = shared_memory.SharedMemory(create=True, size=1000); s.buf[0] = 7; print(s.buf[0]); s.close(); s.unlink()
""", "5050\nhi\n400\n7\n")

works("asyncio", """
import asyncio
async def main():
    async def echo(r, w): w.write((await r.read(9)).upper()); w.close()
    s = await asyncio.start_server(echo, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*s.sockets[0].getsockname()[:2])
    w.write(b"hello"); w.write_eof(); print(await r.read())
    p = await asyncio.create_subprocess_exec("echo", "sub", stdout=-1); print((await p.communicate())[0])
    print(await asyncio.gather(*[asyncio.sleep(0.01, i) for i in range(5)]))
    print(await asyncio.get_running_loop().run_in_executor(None, lambda: 5))
asyncio.run(main())
""", "b'HELLO'\nb'sub\\n'\n[0, 1, 2, 3, 4]\n5\n")

works("sqlite", """
import sqlite3
for where in (":memory:", "/work/db", "/tmp/db"):
    d = sqlite3.connect(where); d.execute("pragma journal_mode=wal"); d.execute("create table t(x)")
    d.executemany("insert into t values(?)", [(i,) for i in range(1000)]); d.commit(); print(d.execute("select sum(x) from t").fetchone()[0])
""", "499500\n499500\n499500\n")

works("tempfile", """
import tempfile
with tempfile.NamedTemporaryFile() as f: f.write(b"x"); print(os.path.dirname(f.name))
with tempfile.TemporaryDirectory() as d: print(os.path.isdir(d))
tempfile.TemporaryFile().write(b"x"); tempfile.SpooledTemporaryFile().write(b"x")
""", "/tmp\nTrue\n")

works("sockets on the loopback", """
import threading, http.server, urllib.request
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"page")
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("localhost", 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://localhost:%d/" % s.server_port).read())
""", "b'page'\n")

works("users and time", """
import pwd, getpass, locale, datetime, uuid, platform
print(getpass.getuser(), pwd.getpwuid(os.getuid()).pw_dir, os.path.expanduser("~"), os.getuid(), os.umask(0o77))
print(datetime.datetime.now().year > 2020, len(str(uuid.uuid4())), platform.node(), sys.getfilesystemencoding())
""", "user /home/user /home/user 1000 63\nTrue 36 fumehood utf-8\n")


def shell_works(name, code, want, *tools):
    def body():
        r = verdict(shell(code, "--memory", "1G"), "ok", 0)
        equal((r["stdout"]["text"], r["stderr"]["text"]), (want, ""), "what it printed")
    body.__name__ = name.replace(" ", "_") + "_works"
    test(needs(*[tool(t) for t in tools])(body))


shell_works("perl", "perl -e 'print join(\",\", map { $_ * 2 } 1..3), \"\\n\"; print `echo sub`'", "2,4,6\nsub\n", "perl")
shell_works("awk", "printf 'a 1\\nb 2\\n' | awk '{ s += $2 } END { print s }'", "3\n", "awk")
shell_works("node", "node -e 'const fs = require(\"fs\"); fs.writeFileSync(\"x\", \"hi\"); console.log(fs.readFileSync(\"x\", \"utf8\"), [1,2].map(x => x * 2)); "
            "setTimeout(() => console.log(require(\"child_process\").execSync(\"echo sub\").toString().trim()), 10)'",
            "hi [ 2, 4 ]\nsub\n", "node")
shell_works("a compiler and what it builds", r"""cat > p.c <<'END'
#include <math.h>
#include <stdio.h>
int main(int argc, char **argv) { printf("%.3f\n", sqrt(argc + 1)); return 0; }
END
gcc -O2 -o p p.c -lm && ./p""", "1.414\n", "gcc")
shell_works("git", "git init -q . && git config user.name n && git config user.email e@example.org && echo a > f && git add f && "
            "git commit -qm first && echo b >> f && git diff --stat | tail -1 && git log --format=%s", " 1 file changed, 1 insertion(+)\nfirst\n", "git")
shell_works("tar", "mkdir d && echo x > d/f && ln -s f d/l && tar czf a.tgz d && rm -r d && tar xzf a.tgz && cat d/l && tar tzf a.tgz | sort",
            "x\nd/\nd/f\nd/l\n", "tar", "gzip")
shell_works("pipes jobs and traps", "trap 'echo bye' EXIT; (sleep 0.1; echo late) & seq 1000 | sort -rn | head -1; wait; diff <(echo a) <(echo a) && "
            "cat <<< here; mkfifo p; (echo fifo > p) & cat p", "1000\nlate\nhere\nfifo\nbye\n")
shell_works("find xargs and sed", "mkdir -p a/b; touch a/1 a/b/2; find a -type f | sort | xargs -n1 basename | sed 's/^/f/'", "f1\nf2\n")


@test
@needs(tool("git"))
def git_works_on_a_workspace_of_the_host():
    folder = scratch()
    open_folders(folder)
    os.chmod(folder, 0o755)
    r = verdict(shell("git init -q . && git config user.name n && git config user.email e@example.org && echo a > f && git add f && "
                      "git commit -qm first && git status --short && git log --format=%s", "--workspace-rw", folder), "ok", 0)
    equal(r["stdout"]["text"], "first\n", "what it printed")
    equal({os.stat(os.path.join(folder, n)).st_uid for n in (".git", "f")}, {os.stat(folder).st_uid}, "owners")


# -- the machine it sees ----------------------------------------------------------------------------------------------

LOOK = """
import subprocess, multiprocessing
def words(*argv): return subprocess.check_output(argv).decode().split()
out["cpu_count"], out["affinity"], out["mp"] = os.cpu_count(), len(os.sched_getaffinity(0)), multiprocessing.cpu_count()
out["nproc"] = int(words("nproc")[0])
out["cpuinfo"] = open("/proc/cpuinfo").read().count("processor\\t")
out["stat"] = sum(l.startswith("cpu") and l[3] != " " for l in open("/proc/stat"))
out["meminfo"] = int(open("/proc/meminfo").read().split()[1]) >> 10
out["pages"] = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
for place in ("/work", "/tmp", "/home/user", "/dev/shm"):
    st = os.statvfs(place); out[place] = st.f_blocks * st.f_frsize >> 20
out["df"] = int(words("df", "-m", "/work")[8])
"""


@test
def it_sees_its_limits_as_its_machine():
    out = tell(LOOK, "--cpus", "1", "--memory", "256M", "--disk", "64M")
    out.pop("pages")  # sysinfo(2): the host's, which is told in the threat model
    cpus = [out.pop(k) for k in ("affinity", "nproc", "cpuinfo", "stat")]
    equal(cpus, [1, 1, 1, 1], "processors")
    equal(out.pop("meminfo"), 256, "memory")
    equal([out.pop(k) for k in ("/work", "/tmp", "/home/user", "/dev/shm", "df")], [64] * 5, "disk")
    # Python before 3.13 asks the C library, which reads the affinity since glibc 2.35 but not everywhere.
    equal(set(out.values()) <= {1, os.cpu_count()}, True, "os.cpu_count()")


@test
@needs(tool("free"))
def free_tells_its_memory():
    r = verdict(shell("free -m | awk '/^Mem/ { print $2 } /^Swap/ { print $2 }'", "--memory", "256M"), "ok", 0)
    equal(r["stdout"]["text"].split(), ["256", "0"], "memory and swap")


@test
def several_processors_are_seen_when_given():
    n = min(2, len(os.sched_getaffinity(0)))
    out = tell(LOOK, "--cpus", "2")
    equal((out["affinity"], out["nproc"], out["stat"]), (n, n, n), "processors")


@test
def numeric_libraries_start_one_thread():
    show = "echo $OMP_NUM_THREADS $OPENBLAS_NUM_THREADS $MKL_NUM_THREADS"
    r = verdict(result("run", "--cpus", "1", "--", "sh", "-c", show), "ok", 0)
    equal(r["stdout"]["text"], "1 1 1\n", "threads")


@test
def a_program_without_a_first_line_is_a_shell_script():
    r = verdict(shell("echo 'echo from a script $1' > s; chmod 755 s; exec ./s word"), "ok", 0)
    equal(r["stdout"]["text"], "from a script word\n", "output")


main()
