import os, sys
print(sys.path[0] == os.getcwd())
print(len(sys.path), len(set(sys.path)))
