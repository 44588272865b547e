"""Opens a file past Python: open, openat, openat2, and creat.

problem: next
earns: all
hears: refused: 3
machine: x86_64
process: loot
"""

import ctypes
import os

TARGETS = {}

LIBC = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


path = ctypes.create_string_buffer(TARGETS["secret"].encode())
how = (ctypes.c_uint64 * 3)(0, 0, 0)
refused = 0
for arguments in ((2, path, 0), (257, -100, path, 0), (437, -100, path, how, 24)):
    try:
        print("LOOT:", os.read(call(*arguments), 100))
    except OSError:
        refused += 1
print("refused:", refused)


def plus_one(number):
    return number + 1
