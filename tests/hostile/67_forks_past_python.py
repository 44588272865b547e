"""Forks by the system calls themselves: fork, clone, clone3.

problem: next
earns: all
hears: refused: 3
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
for arguments in ((57,), (56, 17, None, None, None, None)):
    try:
        if call(*arguments) == 0:
            os._exit(0)
        print("LOOT: forked")
    except OSError:
        refused += 1
if reaches_kernel(435, None, 0):
    print("LOOT: reached clone3")
else:
    refused += 1
print("refused:", refused)


def plus_one(number):
    return number + 1
