"""Makes a new file and a new folder.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

for make in (os.mkdir, os.mkfifo, lambda path: open(path, "x").close()):
    path = os.path.join(TARGETS["folder"], TARGETS["mark"])
    try:
        make(path)
        print("LOOT: made something")
        os.rename(path, path + "_")
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
