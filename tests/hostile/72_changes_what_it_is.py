"""Changes by prctl what keeps it apart: its parent's end, its memory, its filter.

problem: next
earns: all
hears: refused: 8
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
for arguments in (
    (1, 0),
    (4, 1, 0, 0, 0),
    (8, 1, 0, 0, 0),
    (36, 1, 0, 0, 0),
    (0x59616D61, -1, 0, 0, 0),
    (26, 1, 0, 0, 0),
    (35, 1, 0, 0, 0),
    (59, 99, 0, 0, 0),
):
    if reaches_kernel(157, *arguments):
        print("LOOT: changed", arguments[0])
    else:
        refused += 1
print("refused:", refused)


def plus_one(number):
    return number + 1
