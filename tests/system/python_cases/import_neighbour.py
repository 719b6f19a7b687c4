import os, sys
with open("neighbour_module.py", "w") as f:
    f.write("value = 41\ndef boom():\n    return 1 / 0\n")
import neighbour_module
print(neighbour_module.value)
os.chdir("/")
neighbour_module.boom()
