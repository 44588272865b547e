"""Writes to every object it has inherited, so that none of the memory is shared any more.

problem: next
earns: all
process: same
"""

import gc
import sys

TARGETS = {}

gc.unfreeze()
gc.collect()
seen = sum(sys.getrefcount(thing) > 0 for thing in gc.get_objects())
kept = gc.get_objects() * 2


def plus_one(number):
    return number + 1
