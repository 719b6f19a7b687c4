try:
    raise OSError(2, "No such thing", "name")
finally:
    print("finally")
