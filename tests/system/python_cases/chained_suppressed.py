try:
    1 / 0
except ZeroDivisionError:
    raise RuntimeError("only me") from None
