import threading
print(threading.current_thread() is threading.main_thread(), threading.active_count())
