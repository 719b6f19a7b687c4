exec = None
globals_ = globals
globals = None
BaseException = int
Exception = str
print = print
print("shadowed")
1 / 0
