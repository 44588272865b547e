"""Opens the hidden solution and another learner's file for writing (and writes nothing).

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

for name in ("neighbour", "reference"):
    try:
        os.close(os.open(TARGETS[name], os.O_RDWR))
        print("LOOT: can write to the", name)
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
