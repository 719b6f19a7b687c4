# stdin: one\ntwo\n
import sys
print(sys.stdin.read().split(), sys.stdin.isatty(), sys.stdout.isatty())
