import sys
x = 7
main = sys.modules["__main__"]
print(main.__dict__ is globals(), main.x, main.__name__)
import __main__
print(__main__.x, __main__ is main)
