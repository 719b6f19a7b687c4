class A:
    def __del__(self):
        print("deleted")
        raise ValueError("late")
a = A()
