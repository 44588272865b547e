"""Keeps memory from being swapped out.

problem: next
earns: all
hears: refused
process: may loot
"""

import ctypes
import mmap

TARGETS = {}

LIBC = ctypes.CDLL(None, use_errno=True)
pages = mmap.mmap(-1, 16 << 20)
address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
for pin in (
    lambda: LIBC.mlock(ctypes.c_void_p(address), 16 << 20),
    lambda: LIBC.mlockall(3),
):
    print("refused:" if pin() else "LOOT: pinned", ctypes.get_errno())


def plus_one(number):
    return number + 1
