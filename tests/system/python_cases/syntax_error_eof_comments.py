for x in y:
    # only
    # comments
