print("before")
def f(:
    pass
