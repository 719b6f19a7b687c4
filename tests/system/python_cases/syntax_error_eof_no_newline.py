try:
    x = 1