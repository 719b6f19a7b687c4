class A:
    def __repr__(self):
        return "<an A>"
    def method(self):
        1 / 0
import weakref
class B:
    pass
b = B()
r = weakref.ref(b, lambda _: A().method())
del b
print("after")
