"""Makes the file of its output larger than it was given, and unseals it.

problem: next
earns: all
hears: refused
process: same
"""

import ctypes
import fcntl
import mmap
import os

TARGETS = {}

for grow in (
    lambda: os.ftruncate(1, 1 << 30),
    lambda: os.posix_fallocate(1, 0, 1 << 30),
    lambda: fcntl.fcntl(1, 1033, 0),
    lambda: os.pwrite(1, b"x", 1 << 20),
):
    try:
        grow()
        print("LOOT: grew")
    except OSError as error:
        print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
