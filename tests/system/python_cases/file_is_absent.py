# plain: differs
import sys
print("__file__" in globals(), hasattr(sys.modules["__main__"], "__file__"))
