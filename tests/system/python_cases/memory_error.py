def f():
    return bytearray(1 << 62)
f()
