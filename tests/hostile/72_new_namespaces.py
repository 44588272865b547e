"""Makes namespaces of its own, in which it would be root, and enters those of others.

problem: next
earns: all
hears: refused: 5
machine: x86_64
process: loot
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
for arguments in ((272, 0), (272, 0x10000000), (272, 0x20000), (308, -1, 0), (308, 0, 0x40000000)):
    if reaches_kernel(*arguments):
        print("LOOT: reached", arguments)
    else:
        refused += 1
print("refused:", refused)


def plus_one(number):
    return number + 1
