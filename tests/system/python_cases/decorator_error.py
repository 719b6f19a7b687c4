def deco(f):
    raise TypeError("not today")
@deco
def g():
    pass
