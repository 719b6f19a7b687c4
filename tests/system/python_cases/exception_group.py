# since: 3.11
def f(n):
    raise TypeError(n)
errors = []
for n in range(3):
    try:
        f(n)
    except TypeError as e:
        errors.append(e)
raise ExceptionGroup("several", [*errors, ExceptionGroup("nested", [ValueError("v")])])
