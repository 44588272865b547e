"""Raises the limits it was given.

problem: next
earns: all
hears: refused
process: may loot
"""

import resource

TARGETS = {}

for limit in (
    resource.RLIMIT_AS,
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_CPU,
    resource.RLIMIT_NOFILE,
    resource.RLIMIT_NPROC,
    resource.RLIMIT_MEMLOCK,
):
    for values in ((-1, -1), (1 << 30, 1 << 30)):
        try:
            resource.setrlimit(limit, values)
            print("LOOT: raised limit", limit)
        except (OSError, ValueError) as error:
            print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
