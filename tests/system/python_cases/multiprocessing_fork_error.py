import multiprocessing as mp
def work():
    raise ValueError("in the child")
p = mp.get_context("fork").Process(target=work, name="child")
p.start()
p.join()
print(p.exitcode)
