async def co():
    pass
def f():
    co()
f()
