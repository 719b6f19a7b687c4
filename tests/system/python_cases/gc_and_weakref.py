import gc, weakref
class A:
    pass
a = A()
a.me = a
r = weakref.ref(a, lambda _: print("collected"))
del a
gc.collect()
print(r())
