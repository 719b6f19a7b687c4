import sys
print(sys.excepthook is sys.__excepthook__, sys.unraisablehook is sys.__unraisablehook__)
try:
    1 / 0
except ZeroDivisionError:
    sys.excepthook(*sys.exc_info())
