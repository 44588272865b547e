"""Takes the handle of a file and opens that, which needs no path.

problem: next
earns: all
hears: refused
machine: x86_64
process: may loot
"""

import ctypes
import os
import struct

TARGETS = {}

LIBC = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


handle = ctypes.create_string_buffer(struct.pack("<Ii", 128, 0), 8 + 128)
mount = ctypes.c_int()
path = ctypes.create_string_buffer(TARGETS["secret"].encode())
try:
    call(303, -100, path, handle, ctypes.byref(mount), 0)
    print("LOOT: has a handle")
    print("LOOT:", os.read(call(304, -100, handle, 0), 100))
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
