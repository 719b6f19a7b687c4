# since: 3.10
for x in y:
    # only
    # comments
