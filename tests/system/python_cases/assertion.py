def check(x):
    assert x > 3, "too small"
check(1)
