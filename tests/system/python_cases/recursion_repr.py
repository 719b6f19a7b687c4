x = []
for _ in range(100000):
    x = [x]
try:
    repr(x)
except RecursionError as e:
    print(type(e).__name__)
