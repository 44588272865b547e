"""Aborts.

problem: next
earns: less
hears: crashed (signal 6, SIGABRT) during a call
process: same
"""

import os

TARGETS = {}


def plus_one(number):
    if number == 13:
        os.abort()
    return number + 1
