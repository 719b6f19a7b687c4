scope = {}
exec("def g(x):\n    return x + y", {"y": 3}, scope)
print(scope["g"].__code__.co_filename, eval("1+1"))
exec("z = 5")
print(z)
exec("def h():\n    return 1 / 0\n")
h()
