import doctest
def add(a, b):
    """
    >>> add(1, 2)
    3
    >>> add(1, "a")
    Traceback (most recent call last):
    TypeError: unsupported operand type(s) for +: 'int' and 'str'
    """
    return a + b
print(doctest.testmod())
