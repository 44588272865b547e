"""Makes files that are nowhere but in memory.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

try:
    made = os.memfd_create("bomb")
    print("LOOT: made a file in memory")
    print("LOOT: wrote", os.write(made, b"x" * (1 << 19)))
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
