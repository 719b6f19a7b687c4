# only: status
import sys
def hook(*a):
    raise RuntimeError("hook failed")
sys.excepthook = hook
1 / 0
