import os, signal, sys
signal.signal(signal.SIGTERM, lambda s, f: sys.exit(f.f_lineno and 7))
os.kill(os.getpid(), signal.SIGTERM)
for _ in range(1000):
    pass
