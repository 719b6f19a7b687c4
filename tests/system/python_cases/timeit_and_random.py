import random, timeit
random.seed(5)
print(random.random(), timeit.timeit("x+1", "x=1", number=10) >= 0)
