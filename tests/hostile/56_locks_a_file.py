"""Uses locks on an open file as a signal to other processes.

problem: next
earns: all
hears: refused
process: loot
"""

import fcntl
import os

TARGETS = {}

for lock in (
    lambda: fcntl.flock(1, fcntl.LOCK_EX | fcntl.LOCK_NB),
    lambda: fcntl.lockf(1, fcntl.LOCK_EX | fcntl.LOCK_NB),
    lambda: fcntl.fcntl(1, 1033, 0x1),
):
    try:
        lock()
        print("LOOT: locked")
    except OSError as error:
        print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
