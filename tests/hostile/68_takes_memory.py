"""Takes memory, step by step, up to three gigabytes.

problem: next
earns: less
hears: used more than 512 MiB of memory
process: same
"""

import numpy as np

TARGETS = {}


def plus_one(number):
    if number == 13:
        kept = [np.empty(64 << 20, dtype=np.uint8) for _ in range(48)]
        print("LOOT: has", len(kept))
    return number + 1
