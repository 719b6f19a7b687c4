import sys
sys.setrecursionlimit(3000)
print(sys.getrecursionlimit())
def f(n):
    return 0 if n == 0 else 1 + f(n - 1)
print(f(2500))
