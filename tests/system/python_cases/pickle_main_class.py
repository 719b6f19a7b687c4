import pickle
class P:
    def __init__(self, x):
        self.x = x
def f():
    return 3
p = pickle.loads(pickle.dumps(P(5)))
print(type(p) is P, p.x, pickle.loads(pickle.dumps(f)) is f, P.__module__)
