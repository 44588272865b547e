"""Becomes another program, which ends well.

problem: next
earns: all
hears: refused: PermissionError
process: earns 0 | hears ended the process during loading (exit code 0)
"""

import os

TARGETS = {}

try:
    os.execv("/bin/true", ["true"])
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
