"""Watches a file, to learn when somebody else reads it.

problem: next
earns: all
hears: refused
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
try:
    watching = call(294, 0)
    print("LOOT: watches", call(254, watching, path, 1))
except OSError as error:
    print("refused:", type(error).__name__, error)
try:
    print("LOOT: watches all", call(300, 0, 0))
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
