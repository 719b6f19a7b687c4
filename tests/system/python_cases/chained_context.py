def inner():
    raise KeyError("in")
try:
    inner()
except KeyError:
    undefined_name_here
