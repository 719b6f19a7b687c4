from concurrent.futures import ThreadPoolExecutor
def f(x):
    return 10 // x
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(f, [1, 2, 5])))
    pool.submit(f, 0).result()
