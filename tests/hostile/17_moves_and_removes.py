"""Renames, links and removes another file.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

path = os.path.join(TARGETS["folder"], "kept.txt")
for change in (
    lambda: os.link(path, path + "_link"),
    lambda: os.symlink(path, path + "_symlink"),
    lambda: os.rename(path, path + "_moved"),
    lambda: os.unlink(path),
):
    try:
        change()
        print("LOOT: changed a folder")
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
