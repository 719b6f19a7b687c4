"""Says hello, and looks around: what does a program see from inside?"""

import os
import socket
import sys


def can_connect():
    try:
        # A documentation address: nobody answers there, but a host with a network would try.
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            s.settimeout(0.5)
            s.connect(("192.0.2.1", 80))
        return "yes"
    except TimeoutError:
        return "perhaps (packets leave)"
    except OSError as e:
        return "no (%s)" % e.strerror


def homes():
    try:
        return ", ".join(sorted(os.listdir("/home"))) or "empty"
    except OSError as e:
        return "no (%s)" % e.strerror


def processes():
    try:
        return str(sum(name.isdigit() for name in os.listdir("/proc")))
    except OSError as e:
        return "cannot look (%s)" % e.strerror


print("Hello from Python %d.%d!" % sys.version_info[:2])
print("  I am user", os.getuid(), "and work in", os.getcwd())
print("  processors I may use:", len(os.sched_getaffinity(0)))
print("  processes I can see: ", processes())
print("  can I reach a network?", can_connect())
print("  what is in /home?     ", homes())
print("  secrets in my environment:", sum("KEY" in k or "TOKEN" in k for k in os.environ))
print("  and 1 + 2 + ... + 100 =", sum(range(1, 101)))
