"""Lists the folder of the solutions, and that of another file.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import glob
import os

TARGETS = {}

for folder in (os.path.dirname(TARGETS["reference"]), TARGETS["folder"], "/"):
    try:
        print("LOOT:", os.listdir(folder))
    except OSError as error:
        print("refused:", type(error).__name__, error.errno)
found = glob.glob(os.path.join(TARGETS["folder"], "*"))
print("LOOT" if found else "refused:", found)


def plus_one(number):
    return number + 1
