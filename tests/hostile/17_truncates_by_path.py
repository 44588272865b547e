"""Cuts a file short, by its path and by opening it for that.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

path = os.path.join(TARGETS["folder"], "kept.txt")
for cut in (lambda: os.truncate(path, 1), lambda: os.open(path, os.O_RDONLY | os.O_TRUNC)):
    try:
        cut()
        print("LOOT: cut a file")
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
