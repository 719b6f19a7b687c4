# since: 3.10
while 1:
    if 1:


