"""The programs of python_cases/, inside a sandbox: `fumehood python` against plain python."""

import os
import sys

from harness import FUMEHOOD
from host import NEEDS

lack = NEEDS["userns"]()
if lack:
    print("SKIP python_cases: " + lack)
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)
run = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_cases", "run.py")
os.execv(sys.executable, [sys.executable, "-B", run, "--fumehood", FUMEHOOD])
