from typing import Protocol, Generic, TypeVar
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, v: T):
        self.v = v
print(Box[int](3).v, Box.__module__)
