import warnings
def f():
    warnings.warn("from the caller", stacklevel=2)
f()
