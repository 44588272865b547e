"""Starts threads below Python: by _thread, by an executor, and by the C library.

problem: next
earns: all
hears: refused: 3
process: loot as root
"""

import _thread
import concurrent.futures
import ctypes
import time

TARGETS = {}

LIBC = ctypes.CDLL(None)
NOTHING = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda argument: None)


def by_c():
    if LIBC.pthread_create(ctypes.byref(ctypes.c_ulong()), None, NOTHING, None):
        raise RuntimeError("refused")
    time.sleep(0.2)


refused = 0
for start in (
    lambda: _thread.start_new_thread(time.sleep, (1,)),
    lambda: concurrent.futures.ThreadPoolExecutor(1).submit(int),
    by_c,
):
    try:
        start()
        print("LOOT: started a thread")
    except RuntimeError:
        refused += 1
print("refused:", refused)


def plus_one(number):
    return number + 1
