import atexit
atexit.register(print, "at exit")
raise ValueError("x")
