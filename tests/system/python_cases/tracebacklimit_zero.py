import sys
sys.tracebacklimit = 0
def a():
    1 / 0
a()
