"""Reads the address 0.

problem: next
earns: less
hears: crashed (signal 11, SIGSEGV) during a call
process: same
"""

import ctypes

TARGETS = {}


def plus_one(number):
    if number == 13:
        ctypes.string_at(0)
    return number + 1
