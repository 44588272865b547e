"""Asks the kernel for what most kernel bugs were found in, with arguments that make no sense.

problem: next
earns: all
hears: nothing of 24
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


NONE = None
CALLS = {
    "bpf": (321, 99, NONE, 0),
    "perf_event_open": (298, NONE, 0, -1, -1, 0),
    "userfaultfd": (323, 0xFFFF),
    "io_uring_setup": (425, 0, NONE),
    "io_uring_enter": (426, -1, 0, 0, 0, NONE, 0),
    "io_uring_register": (427, -1, 0, NONE, 0),
    "keyctl": (250, 0, -3, 0),
    "add_key": (248, NONE, NONE, NONE, 0, 0),
    "request_key": (249, NONE, NONE, NONE, 0),
    "kcmp": (312, 0, 0, 99, 0, 0),
    "modify_ldt": (154, 0, NONE, 0),
    "personality": (135, 0xFFFFFFFF),
    "splice": (275, -1, NONE, -1, NONE, 0, 0),
    "tee": (276, -1, -1, 0, 0),
    "vmsplice": (278, -1, NONE, 0, 0),
    "copy_file_range": (326, -1, NONE, -1, NONE, 0, 0),
    "memfd_secret": (447, 99),
    "pkey_alloc": (330, 99, 0),
    "move_pages": (279, 0, 0, NONE, NONE, NONE, 99),
    "process_madvise": (440, -1, NONE, 0, 0, 0),
    "io_setup": (206, 0, NONE),
    "syslog": (103, 99, NONE, 0),
    "quotactl": (179, -1, NONE, 0, NONE),
    "landlock_create_ruleset": (444, NONE, 0, 1),
}
found = [name for name, ask in CALLS.items() if reaches_kernel(*ask)]
print("LOOT: reached" if found else f"nothing of {len(CALLS)}", found)


def plus_one(number):
    return number + 1
