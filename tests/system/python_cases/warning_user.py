import warnings
def f():
    warnings.warn("careful")
f()
warnings.warn("again", DeprecationWarning)
