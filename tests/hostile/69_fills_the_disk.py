"""Writes eight megabytes into a folder, in many files.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

try:
    for number in range(16):
        path = os.path.join(TARGETS["folder"], f"{TARGETS['mark']}_{number}")
        with open(path, "wb") as file:
            file.write(b"x" * (1 << 19))
    print("LOOT: wrote eight megabytes")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
