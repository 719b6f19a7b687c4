import inspect
def f():
    info = inspect.getframeinfo(inspect.currentframe())
    return info.lineno, info.function, info.code_context
print(f())
