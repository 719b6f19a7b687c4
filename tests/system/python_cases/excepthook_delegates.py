import sys
def hook(kind, value, trace):
    print("before")
    sys.__excepthook__(kind, value, trace)
    print("after")
sys.excepthook = hook
def f():
    raise ValueError("v")
f()
