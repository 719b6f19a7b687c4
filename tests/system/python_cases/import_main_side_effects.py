import importlib, sys
m = importlib.import_module("__main__")
print(m is sys.modules["__main__"])
