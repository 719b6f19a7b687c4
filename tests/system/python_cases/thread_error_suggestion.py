import threading
def work():
    result_value = 1
    return reslt_value
t = threading.Thread(target=work)
t.start()
t.join()
