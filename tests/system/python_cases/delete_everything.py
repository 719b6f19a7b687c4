for name in list(globals()):
    if name not in ("name", "__builtins__"):
        del globals()[name]
print(sorted(globals()))
raise ValueError("without names")
