import sys
def f():
    return sys._getframe().f_lineno, sys._getframe(1).f_lineno, sys._getframe(1).f_globals is globals()
print(f())
