"""Makes another folder its own, and reads from there by a path that is not absolute.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

for move in (os.chdir, os.chroot):
    try:
        move(TARGETS["folder"])
        print("LOOT: moved")
        print("LOOT:", open("kept.txt").read())
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
