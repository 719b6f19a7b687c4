from dataclasses import dataclass, field
from enum import Enum
from collections import namedtuple
from typing import NamedTuple, List, get_type_hints
@dataclass(order=True)
class D:
    a: int
    b: "List[D]" = field(default_factory=list)
class E(Enum):
    X = 1
N = namedtuple("N", "p q")
class T(NamedTuple):
    x: int = 0
print(D(1), D(1) < D(2), E.X, N(1, 2), T(), N.__module__, get_type_hints(D))
