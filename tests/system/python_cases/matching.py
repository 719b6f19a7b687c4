# since: 3.10
def f(x):
    match x:
        case {"a": [1, *rest]}:
            return rest
        case _:
            raise ValueError(f"{x!r}")
print(f({"a": [1, 2, 3]}))
f(3)
