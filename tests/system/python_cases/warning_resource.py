import warnings
warnings.simplefilter("always")
def f():
    return open("/dev/null")
f()
print("after")
