def f():
    nonlocal nothing
