import sys
sys.unraisablehook = lambda u: print("hook", u.exc_type.__name__, u.err_msg)
class A:
    def __del__(self):
        raise KeyError("k")
A()
