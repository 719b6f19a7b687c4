#!/usr/bin/env python3
"""Level namespace, network: tripwires on the host stay silent, and the loopback inside works."""

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from harness import contains, equal, main, test
from inside import PYTHON, python, running, tell, verdict


class Tripwires:
    """Listeners of every kind on the host; fired() names those that somebody reached."""

    def __init__(self):
        self.hits, self.sockets, self.targets = [], [], []
        own = self.own_address()
        for family, address in [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "0.0.0.0"),
                                (socket.AF_INET, own)]:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                self.listen(family, kind, (address, 0), address)
        self.abstract = "\0fumehood-tripwire-%d" % os.getpid()
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, self.abstract, "abstract")
        # The name of a socket is short, so it cannot lie deep in a folder of the test's own.
        self.folder = tempfile.mkdtemp(prefix="fumehood-test-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.path = os.path.join(self.folder, "s")
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, self.path, "path")
        os.chmod(self.path, 0o777)
        self.stop = False
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    @staticmethod
    def own_address():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("192.0.2.1", 9))
                return s.getsockname()[0]
            except OSError:
                return "127.0.0.2"

    def listen(self, family, kind, address, name):
        try:
            s = socket.socket(family, kind)
            s.bind(address)
        except OSError:
            return
        if kind == socket.SOCK_STREAM:
            s.listen(8)
        s.setblocking(False)
        self.sockets.append((s, "%s %s" % (name, "udp" if kind == socket.SOCK_DGRAM else "stream")))
        if family != socket.AF_UNIX:
            where = s.getsockname()
            self.targets.append([int(family), int(kind), "127.0.0.1" if where[0] == "0.0.0.0" else where[0], where[1]])

    def watch(self):
        while not self.stop:
            for s in select.select([s for s, _ in self.sockets], [], [], 0.05)[0]:
                self.hits.append(next(n for t, n in self.sockets if t is s))
                try:
                    if s.type == socket.SOCK_DGRAM:
                        s.recv(100)
                    else:
                        s.accept()[0].close()
                except OSError:
                    pass

    def fired(self):
        time.sleep(0.2)
        self.stop = True
        self.thread.join()
        for s, _ in self.sockets:
            s.close()
        shutil.rmtree(self.folder)
        return sorted(set(self.hits))

    def probe(self):
        """A program that tries to reach every one of them."""
        return """
for family, kind, host, port in %r:
    try:
        s = socket.socket(family, kind)
        s.settimeout(0.3)
        s.connect((host, port))
        s.send(b"hello")
    except OSError: pass
for address in %r:
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(address)
    except OSError: pass
print("tried")
""" % (self.targets, [self.abstract, self.path])


@test
def no_listener_of_the_host_is_reached():
    wires = Tripwires()
    try:
        r = python(wires.probe())
    finally:
        fired = wires.fired()
    verdict(r, "ok")
    equal(r["stdout"]["text"], "tried\n", "what the probe printed")
    equal(fired, [], "BREACH: tripwires that fired")


@test
def the_same_probe_outside_fires_every_one():
    wires = Tripwires()
    try:
        subprocess.run([sys.executable, "-c", "import socket\n" + wires.probe()], check=True, stdout=subprocess.DEVNULL)
    finally:
        names = sorted({n for _, n in wires.sockets})
        fired = wires.fired()
    equal(fired, names, "tripwires that fired")


@test
def there_is_a_loopback_and_nothing_else():
    out = tell("""
out["names"] = [n for _, n in socket.if_nameindex()]
out["routes"] = open("/proc/net/route").read().count("\\n")
out["arp"] = open("/proc/net/arp").read().count("\\n")
out["unix"] = open("/proc/net/unix").read().count("\\n")
for family, host in [(2, "127.0.0.1"), (10, "::1")]:
    a = socket.socket(family); a.bind((host, 0)); a.listen(1)
    b = socket.create_connection(a.getsockname()[:2]); b.send(b"hello")
    out[host] = a.accept()[0].recv(9).decode()
u = socket.socket(2, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0)); u.sendto(b"datagram", u.getsockname())
out["udp"] = u.recv(20).decode()
for host in ["192.0.2.1", "169.254.169.254", "169.254.170.2", "100.100.100.200", "8.8.8.8", "10.0.0.1", "fd00:ec2::254", "fe80::1"]:
    s = socket.socket(10 if ":" in host else 2); s.settimeout(2)
    out["to " + host] = attempt(s.connect, (host, 80))
""")
    equal((out.pop("names"), out.pop("routes"), out.pop("arp"), out.pop("unix")), (["lo"], 1, 1, 1), "interfaces, routes")
    equal((out.pop("127.0.0.1"), out.pop("::1"), out.pop("udp")), ("hello", "hello", "datagram"), "loopback")
    equal({k: v for k, v in out.items() if v not in ("ENETUNREACH", "EADDRNOTAVAIL", "EINVAL", "EHOSTUNREACH")}, {},
          "BREACH: answers from outside")


@test
def names_are_not_looked_up():
    r = verdict(python("""
start = time.time()
try: print(socket.getaddrinfo("data.exfil.test", 80))
except OSError as e: print(type(e).__name__)
print(socket.getaddrinfo("localhost", 80)[0][4][0] in ("127.0.0.1", "::1"), time.time() - start < 5)
"""), "ok")
    equal(r["stdout"]["text"], "gaierror\nTrue True\n", "lookups")


@test
def what_listens_inside_is_not_reached_from_the_host():
    code = ("import socket,time\nfor f,a in ((2,'0.0.0.0'),(10,'::')):\n s=socket.socket(f); s.setsockopt(1,2,1)\n"
            " if f==10: s.setsockopt(41,26,1)\n s.bind((a,38457)); s.listen(1)\n globals()['k%d'%f]=s\n"
            "print('up',flush=True)\ntime.sleep(20)")
    with running("run", "--", PYTHON, "-c", code) as p:
        contains(p.stdout.readline().decode(), "up")
        for address in ("127.0.0.1", "::1", Tripwires.own_address()):
            try:
                socket.create_connection((address, 38457), timeout=1).close()
            except OSError:
                continue
            raise AssertionError("BREACH: the program was reached at " + address)


@test
def two_sandboxes_do_not_meet():
    code = ("import socket,time\ns=socket.socket(socket.AF_UNIX); s.bind('\\0meeting'); s.listen(1)\n"
            "t=socket.socket(); t.bind(('127.0.0.1',38458)); t.listen(1)\nprint('up',flush=True)\ntime.sleep(20)")
    with running("run", "--", PYTHON, "-c", code) as p:
        contains(p.stdout.readline().decode(), "up")
        out = tell("""
out["abstract"] = attempt(socket.socket(socket.AF_UNIX).connect, "\\0meeting")
out["port"] = attempt(socket.socket().connect, ("127.0.0.1", 38458))
""")
    equal(out, {"abstract": "ECONNREFUSED", "port": "ECONNREFUSED"}, "BREACH: how they met")


@test
def only_four_families_of_sockets_exist():
    def modules():
        try:
            with open("/proc/modules") as f:
                return {line.split()[0] for line in f}
        except OSError:
            return set()
    before = modules()
    out = tell("""
out["open"] = []
for family in range(0, 47):
    for kind in (1, 2, 3, 4, 5, 6, 10):
        for protocol in (0, 1, 2, 3, 6, 17, 33, 132, 136, 255, 262):
            try: socket.socket(family, kind, protocol).close()
            except OSError: continue
            out["open"].append([family, kind, protocol])
high = []
for family in (16 << 32 | 17, 1 << 63 | 38, 1 << 32 | 40):
    got = libc.syscall(ctypes.c_long(%d), ctypes.c_ulong(family), ctypes.c_long(3), ctypes.c_long(0))
    if got >= 0: high.append(family)
out["high"] = high
""" % {"x86_64": 41}.get(os.uname().machine, 198))
    families = {f for f, _, _ in out["open"]}
    equal(families, {1, 2, 10, 16}, "families that open")
    wrong = [s for s in out["open"] if s[0] in (2, 10) and not (s[1] in (1, 2) and s[2] in (0, 6, 17))]
    wrong += [s for s in out["open"] if s[0] == 16 and s[2] != 0]
    equal(wrong, [], "BREACH: raw, packet or odd protocols")
    equal(out["high"], [], "BREACH: families with garbage in the upper half")
    equal(modules() - before, set(), "modules that were loaded")


main("userns")
