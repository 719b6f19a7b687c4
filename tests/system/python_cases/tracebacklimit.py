import sys
sys.tracebacklimit = 1
def a():
    b()
def b():
    1 / 0
a()
