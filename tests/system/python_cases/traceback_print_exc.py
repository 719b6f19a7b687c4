import traceback
def f():
    1 / 0
try:
    f()
except ZeroDivisionError:
    traceback.print_exc()
    print(traceback.format_exc())
