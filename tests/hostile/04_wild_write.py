"""Overwrites an object that Python itself needs, then answers.

problem: next
earns: less
hears: crashed (signal 11, SIGSEGV)
process: same
"""

import ctypes

TARGETS = {}


def plus_one(number):
    if number == 13:
        ctypes.memset(id(int), 0x41, 256)
    return number + 1
