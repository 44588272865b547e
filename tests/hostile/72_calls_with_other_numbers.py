"""Calls the kernel by the numbers of another ABI, and by numbers that nobody has.

problem: next
earns: all
hears: refused: 6
machine: x86_64
process: same
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


refused = 0
for number in (0x40000000 + 2, 0x40000000 + 57, 0x40000000 + 257, 1000, 0x7FFFFFFF, -1):
    if reaches_kernel(number, None, 0, 0):
        print("LOOT: reached", number)
    else:
        refused += 1
print("refused:", refused)


def plus_one(number):
    return number + 1
