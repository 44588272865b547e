"""Forks.

problem: next
earns: all
hears: refused: PermissionError
process: loot as root
"""

import os
import time

TARGETS = {}

try:
    if os.fork() == 0:
        time.sleep(10)
        os._exit(0)
    print("LOOT: forked")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
