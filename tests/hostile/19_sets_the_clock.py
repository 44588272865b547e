"""Asks for the clock of the machine, to set it (and sets nothing).

problem: next
earns: all
hears: refused: 2
machine: x86_64
process: may loot
"""

import ctypes
import errno
import os

TARGETS = {}

LIBC = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def reaches_kernel(number, *arguments):
    """Whether anything but the filter answers: nonsense is refused as such, or even done."""
    try:
        call(number, *arguments)
    except OSError as error:
        return error.errno not in (errno.EPERM, errno.ENOSYS, errno.EACCES)
    return True


found = [number for number in (159, 305) if reaches_kernel(number, 0, None)]
print("LOOT: reached" if found else "refused:", found or 2)


def plus_one(number):
    return number + 1
