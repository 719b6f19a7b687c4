def f(*args):
    raise ValueError(args)
f(
    1,
    2,
    3,
)
