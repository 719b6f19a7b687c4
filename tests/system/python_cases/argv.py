# args: one "two words" --three=3 ü -c
import sys
print(sys.argv[1:], len(sys.argv))
