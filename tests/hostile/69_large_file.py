"""Makes one file as large as can be without writing it.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

path = os.path.join(TARGETS["folder"], TARGETS["mark"])
try:
    made = os.open(path, os.O_CREAT | os.O_RDWR)
    print("LOOT: made a file")
    os.ftruncate(made, 1 << 40)
    print("LOOT: of a terabyte")
except OSError as error:
    print("refused:", type(error).__name__, error)
try:
    os.posix_fallocate(1, 0, 1 << 30)
    print("LOOT: grew")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
