_ = "mine"
print(_)
del _
print("_" in globals())
