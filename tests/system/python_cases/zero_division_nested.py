def a(x):
    return b(x) + 1
def b(x):
    return (x +
            c(x, 0))
def c(x, y):
    return [i / y for i in range(x)]
a(3)
