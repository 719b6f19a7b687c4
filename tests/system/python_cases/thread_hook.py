import threading
threading.excepthook = lambda args: print("hook", args.exc_type.__name__, args.thread.name)
t = threading.Thread(target=lambda: 1 / 0, name="T")
t.start()
t.join()
