import logging
logging.basicConfig(format="%(levelname)s %(funcName)s:%(lineno)d %(message)s")
def f():
    try:
        1 / 0
    except ZeroDivisionError:
        logging.exception("went wrong")
f()
logging.warning("w")
