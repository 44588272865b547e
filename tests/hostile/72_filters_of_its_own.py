"""Puts a filter of its own on, whose answers would deceive the code around it.

problem: next
earns: all
hears: refused: 2
machine: x86_64
process: loot
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


allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
refused = 0
LIBC.prctl(38, 1, 0, 0, 0)
for arguments in ((157, 22, 2, program), (317, 1, 0, program)):
    try:
        call(*arguments)
        print("LOOT: has a filter of its own")
    except OSError:
        refused += 1
print("refused:", refused)


def plus_one(number):
    return number + 1
