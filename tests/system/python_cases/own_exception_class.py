class MyError(Exception):
    def __str__(self):
        return "mine"
class Outer:
    class Inner(Exception):
        pass
try:
    raise Outer.Inner("x")
except Outer.Inner:
    raise MyError
