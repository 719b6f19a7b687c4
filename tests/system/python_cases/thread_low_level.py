import _thread, time
def work():
    raise ValueError("low")
_thread.start_new_thread(work, ())
time.sleep(0.3)
print("end")
