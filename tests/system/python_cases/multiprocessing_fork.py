import multiprocessing as mp
class Job:
    def __init__(self, n):
        self.n = n
def work(job):
    return Job(job.n * 2)
if __name__ == "__main__":
    with mp.get_context("fork").Pool(2) as pool:
        print([j.n for j in pool.map(work, [Job(1), Job(2)])])
        try:
            pool.map(len, [3])
        except TypeError as e:
            print("TypeError", e)
