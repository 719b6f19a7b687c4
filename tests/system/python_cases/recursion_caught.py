def f(n):
    try:
        return f(n + 1)
    except RecursionError:
        return n
import sys
print(f(0), sys.getrecursionlimit())
