def gen():
    yield 1
    raise StopIteration
for x in gen():
    print(x)
