"""Landlock: a process gives up, for good, every file but those on a list (Linux 5.13 and newer).

Needs no privilege. What is handled is everything the kernel's version knows: reading, writing,
making, removing, linking and truncating files (1 to 3), TCP (4), ioctl on devices (5), signals and
abstract sockets to processes outside (6). What no version stops (UDP, `stat`, descriptors that are
already open) is the business of `seccomp` and of closing them.

The numbers are those of the kernel's uapi header <linux/landlock.h>; they are the same on every
processor. Used on both sides, and imports nothing of the project.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable

NEWEST = 7  # versions 8 and 9 add nothing that is wanted here

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16}
_NET_BITS = 0b11  # bind, connect
_SCOPE_BITS = 0b11  # abstract unix sockets, signals


def version() -> int:
    """The version of Landlock this kernel offers, at most NEWEST; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    found = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, min(int(found), NEWEST))


def ruleset(readable: Iterable[str], of_version: int) -> int:
    """A descriptor of rules that leave these files, and what lies under these folders, readable.

    Paths that are not there are left out. Raises OSError where the kernel refuses.
    """
    libc = _libc()
    words = [(1 << _FILE_BITS[of_version]) - 1]
    if of_version >= 4:
        words.append(_NET_BITS)
    if of_version >= 6:
        words.append(_SCOPE_BITS)
    handled = struct.pack(f"={len(words)}Q", *words)
    made = libc.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    if made < 0:
        raise _error("landlock_create_ruleset")
    for path in readable:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            folder = stat.S_ISDIR(os.fstat(fd).st_mode)
            rule = struct.pack("=Qi", _READ_FILE | _READ_DIR if folder else _READ_FILE, fd)
            if libc.syscall(_ADD_RULE, made, _RULE_PATH_BENEATH, rule, 0) < 0:
                raise _error("landlock_add_rule")
        finally:
            os.close(fd)
    return int(made)


def restrict(ruleset_fd: int) -> None:
    """Puts the rules on this process for good; it must not be able to gain privileges."""
    if _libc().syscall(_RESTRICT_SELF, ruleset_fd, 0) < 0:
        raise _error("landlock_restrict_self")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")
