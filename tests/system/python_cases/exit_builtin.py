print("x", end="")
exit(4)
