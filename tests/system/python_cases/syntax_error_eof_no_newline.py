# since: 3.10
try:
    x = 1