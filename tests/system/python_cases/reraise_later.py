saved = None
try:
    int("x")
except ValueError as e:
    saved = e
def again():
    raise saved
again()
