class A:
    def __del__(self):
        raise ValueError("in del")
a = A()
del a
print("after")
