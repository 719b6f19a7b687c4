# since: 3.10
import atexit
atexit.register(print, "first registered")
atexit.register(print, "second registered")
@atexit.register
def fails():
    raise ValueError("in atexit")
print("end of main")
