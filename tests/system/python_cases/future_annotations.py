from __future__ import annotations
def f(x: undefined_name) -> also_undefined:
    return x
print(f.__annotations__, f(1))
