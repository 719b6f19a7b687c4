print(sorted(k for k in globals() if k != "__file__"))
print(__name__, __doc__, __package__, __spec__, __cached__, __annotations__ if "__annotations__" in globals() else {})
