import atexit
atexit.register(print, "at exit")
raise KeyboardInterrupt("words")
