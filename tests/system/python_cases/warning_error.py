import warnings
warnings.simplefilter("error")
def f():
    warnings.warn("now an error")
f()
