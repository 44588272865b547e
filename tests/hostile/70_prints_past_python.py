"""Writes to the descriptors of its output, from C and by system calls.

problem: next
earns: all
hears: xxxx
process: same
"""

import ctypes
import os

TARGETS = {}

LIBC = ctypes.CDLL(None)
for _ in range(1 << 10):
    LIBC.write(2, b"x" * (1 << 16), 1 << 16)
    try:
        os.write(1, b"x" * (1 << 16))
        os.pwrite(1, b"x", 1 << 15)
    except OSError:
        pass


def plus_one(number):
    return number + 1
