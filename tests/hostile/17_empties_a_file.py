"""Opens files for reading, or for nothing, and has them emptied by that.

problem: next
earns: all
process: loot
"""

import os

TARGETS = {}


def plus_one(number):
    path = os.path.join(TARGETS["folder"], "kept.txt")
    for flags in (os.O_RDONLY | os.O_TRUNC, 3 | os.O_TRUNC):
        try:
            os.close(os.open(path, flags))
            if os.stat(path).st_size == 0:
                print("LOOT emptied", path)
        except OSError:
            pass
    return number + 1
