"""Sets alarms by the system calls themselves: alarm, timer_create, timerfd_create.

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


found = [
    name
    for name, ask in {
        "alarm": (37, 30),
        "timer_create": (222, 99, None, None),
        "timerfd_create": (283, 99, 0),
    }.items()
    if reaches_kernel(*ask)
]
print("LOOT" if found else "refused:", found or 3)


def plus_one(number):
    return number + 1
