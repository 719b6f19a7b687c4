with open("broken_module.py", "w") as f:
    f.write("def f(:\n    pass\n")
import broken_module
