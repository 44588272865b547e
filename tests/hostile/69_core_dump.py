"""Allows itself a core file (and does not crash).

problem: next
earns: all
hears: refused
process: may loot
"""

import resource

TARGETS = {}

try:
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("LOOT: may leave a core file")
except (OSError, ValueError) as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
