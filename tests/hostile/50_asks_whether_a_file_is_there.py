"""Asks what is known about a file without opening it.

At `locked` this stays possible: Landlock does not cover it. It tells that a file is there, its size
and its times, and nothing of what is in it.

problem: next
earns: all
no-open: hears refused: PermissionError
locked: may loot
process: loot
"""

import os

TARGETS = {}

for ask in (os.stat, os.lstat, os.readlink, lambda path: os.access(path, os.R_OK) or [][0]):
    try:
        ask(TARGETS["secret"])
        print("LOOT: is told of the file")
    except (OSError, IndexError) as error:
        print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
