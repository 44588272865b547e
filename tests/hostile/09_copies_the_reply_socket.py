"""Copies the socket of its answers until no descriptor is left, and closes the first.

problem: next
earns: all
process: same
"""

import os

TARGETS = {}

copies = []
try:
    while len(copies) < 1000:
        copies.append(os.dup(0))
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
