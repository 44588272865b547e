"""Attaches to other processes as a debugger does (without stopping them).

problem: next
earns: all
hears: refused
machine: x86_64
process: may loot
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


for pid in (TARGETS["pid"], os.getppid()):
    try:
        call(101, 0x4206, pid, None, None)
        print("LOOT: traces", pid)
    except OSError as error:
        print("refused:", type(error).__name__, error)
try:
    call(101, 0, 0, None, None)
    print("LOOT: asks to be traced")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
