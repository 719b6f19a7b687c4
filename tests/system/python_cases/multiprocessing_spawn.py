import multiprocessing as mp
if __name__ == "__main__":
    p = mp.get_context("spawn").Process(target=print, args=("from the spawned child",))
    p.start()
    p.join()
    print(p.exitcode)
