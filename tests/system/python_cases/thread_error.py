import threading
def work(x):
    return 1 / x
t = threading.Thread(target=work, args=(0,), name="worker")
t.start()
t.join()
print("after")
