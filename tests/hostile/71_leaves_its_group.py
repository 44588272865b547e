"""Leaves the group in which it can be ended, and joins that of its parent.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

for leave in (
    lambda: os.setpgid(0, os.getppid()),
    lambda: os.setpriority(os.PRIO_PROCESS, 0, 1),
    lambda: os.setsid(),
    lambda: os.umask(0),
):
    try:
        leave()
        print("LOOT: left")
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
