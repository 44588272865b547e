"""Reads the file of another learner, and what lies around it.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

try:
    print("LOOT:", open(TARGETS["neighbour"]).read()[:300])
except OSError as error:
    print("refused:", type(error).__name__, error)
try:
    print("LOOT:", os.listdir(os.path.dirname(TARGETS["neighbour"])))
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
