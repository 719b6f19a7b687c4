import sys, io
class Tee(io.StringIO):
    def write(self, text):
        sys.__stdout__.write(text.replace("division", "DIVISION"))
        return len(text)
sys.stderr = Tee()
def f():
    1 / 0
f()
