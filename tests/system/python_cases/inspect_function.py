import inspect
def f(a, b=2, *c):
    """Doc."""
    # a comment
    return a
print(inspect.getsource(f))
print(inspect.signature(f), inspect.getdoc(f), inspect.getsourcelines(f)[1])
print(inspect.getsource(lambda: 5))
