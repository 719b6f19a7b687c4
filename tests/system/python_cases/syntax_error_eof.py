# since: 3.10
def f():
