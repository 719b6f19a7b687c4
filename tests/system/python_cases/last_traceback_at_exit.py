import atexit, sys, traceback
def late():
    print(sys.last_type.__name__, sys.last_value, [f.lineno for f in traceback.extract_tb(sys.last_traceback)])
atexit.register(late)
def f():
    raise LookupError("x")
f()
