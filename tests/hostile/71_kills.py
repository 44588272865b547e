"""Kills another process of the same user.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os
import signal

TARGETS = {}

try:
    os.kill(TARGETS["pid"], signal.SIGKILL)
    print("LOOT: killed")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
