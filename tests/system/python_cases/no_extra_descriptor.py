import os
print(sorted(int(n) for n in os.listdir("/proc/self/fd"))[:-1])
