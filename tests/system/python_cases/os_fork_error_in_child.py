import os
pid = os.fork()
if pid == 0:
    raise ValueError("child fails")
print(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))
