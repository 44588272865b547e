"""Becomes root again, by user numbers and by capabilities.

problem: next
earns: all
hears: refused: 6
machine: x86_64
process: loot as root
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


header = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0))
wanted = ctypes.create_string_buffer(b"\xff" * 24)
refused = 0
for arguments in (
    (105, 0),
    (106, 0),
    (117, 0, 0, 0),
    (119, 0, 0, 0),
    (116, 0, None),
    (126, header, wanted),
):
    try:
        call(*arguments)
        print("LOOT: is allowed to", arguments[0])
    except OSError:
        refused += 1
print("refused:", refused)


def plus_one(number):
    return number + 1
