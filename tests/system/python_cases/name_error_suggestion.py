def f():
    counter_total = 1
    return counter_totl
f()
