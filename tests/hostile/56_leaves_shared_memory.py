"""Leaves shared memory of each kind: POSIX, System V, a message queue, a semaphore.

What it makes it takes away again.

problem: next
earns: all
hears: refused: 3
machine: x86_64
process: loot
"""

import ctypes
import os
from multiprocessing import shared_memory

TARGETS = {}

LIBC = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


for number, arguments, remove in (
    (29, (0x5EED, 4096, 0o1600), 31),
    (68, (0x5EED, 0o1600), 71),
    (64, (0x5EED, 1, 0o1600), 66),
):
    try:
        made = call(number, *arguments)
        print("LOOT: left something", number)
        call(remove, made, 0, 0, 0)
    except OSError as error:
        print("refused:", 3, type(error).__name__, error.errno)
try:
    shared_memory.SharedMemory(TARGETS["mark"], create=True, size=100).unlink()
    print("LOOT: left shared memory")
except (OSError, ImportError) as error:
    print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
