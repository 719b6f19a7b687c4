while 1:
    if 1:


