import builtins
print(type(__builtins__).__name__, __builtins__ is builtins)
