f = lambda x: x["a"]
f(f)
