name = "n"
print(f"{name!r:>10} {name.nothing} end")
