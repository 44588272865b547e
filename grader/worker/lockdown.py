"""How a process locks itself down before it runs code that nobody vouches for.

The order matters, and is the one of `Cage.lock`: limits before anything else, the user before what
a change of user would undo, Landlock before the filter that would refuse it, the filter last. Where
a lock cannot be put on, `CannotLock` ends the process: it never runs a submission half locked.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import landlock
import seccomp
from lifeline import die_with_parent
from locks import CPU_SECONDS, FILE_BYTES, Locks

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_PR_CAPBSET_DROP = 24
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION = 0x2008_0522
_LIBC = ctypes.CDLL(None, use_errno=True)


class CannotLock(Exception):
    """A lock that was asked for could not be put on; the message says which and why."""


class Cage:
    """The locks of one process, prepared before it is forked.

    ruleset: a descriptor of Landlock's rules, or None. base: bytes of address space that are mapped
    before a submission is there; None where the system does not say.
    """

    def __init__(self, locks: Locks, ruleset: int | None, base: int | None) -> None:
        self.locks = locks
        self.ruleset = ruleset
        self._base = base
        self._filters = seccomp.Filters(no_open=locks.no_open) if locks.seccomp else None

    def lock(self, mebibytes: int, parent: int) -> None:
        """Puts every lock on, for good. The process may map so many MiB more than the base.

        parent: who has to live on for this process to live on. Raises CannotLock.
        """
        locks = self.locks
        if locks.limits:
            _try("limits", limit_resources, locks.open_files)
        if locks.memory:
            _try("memory limit", limit_memory, self._base, mebibytes)
        if locks.own_user:
            _try("own user", become_user, locks.own_user + os.getpid() % locks.user_range)
        if locks.capabilities:
            _try("capabilities", drop_capabilities)
        if locks.parent_death:
            die_with_parent(parent)
        # Said either way: a fork has it from its parent, and a change of user takes it away.
        _try("not dumpable", set_dumpable, locks.dumpable)
        if locks.landlock or locks.seccomp:
            _try("no new privileges", _prctl, _PR_SET_NO_NEW_PRIVS, 1)
        if locks.landlock:
            if self.ruleset is None:
                raise CannotLock("landlock: no rules were given")
            _try("landlock", landlock.restrict, self.ruleset)
        if self.ruleset is not None:
            os.close(self.ruleset)
            self.ruleset = None
        if self._filters is not None:
            _try("seccomp", self._filters.install)

    def close_paths(self) -> None:
        """From here on nothing can be opened, where `no_open` is among the locks."""
        if self._filters is not None:
            self._filters.close_paths()

    @property
    def opens(self) -> bool:
        """Whether files can still be opened after `close_paths`."""
        return not self.locks.no_open


def address_space() -> int | None:
    """Bytes of address space this process has mapped; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def limit_resources(files: int) -> None:
    """No core files, no processes, few open files, small files, a last bound on processor time."""
    import resource

    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, files),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
    ]
    if sys.platform == "linux":
        # Elsewhere Python's own processes might count. Root is not bound by it.
        limits += [(resource.RLIMIT_NPROC, 0), (resource.RLIMIT_MEMLOCK, 0)]
    for limit, value in limits:
        resource.setrlimit(limit, (value, value))


def limit_memory(base: int | None, mebibytes: int) -> None:
    """Lets this process map `mebibytes` more than `base`.

    By difference: how much address space PyTorch alone takes varies by gigabytes between builds.
    """
    if base is None:
        return
    import resource

    most = base + (mebibytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def become_user(number: int) -> None:
    """Gives up this user and its groups for one that owns nothing and runs nothing else."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)


def drop_capabilities() -> None:
    """Leaves root no more than any user may, for good."""
    if os.geteuid() != 0:
        return
    for number in range(64):
        if _LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            break  # there are no more of them, or they cannot be taken back: both are fine
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _checked("capset", _LIBC.syscall(_CAPSET[os.uname().machine], header, bytes(24)))


def set_dumpable(dumpable: bool) -> None:
    """Opens or closes this process to debuggers, and its part of /proc to others (Linux)."""
    if sys.platform == "linux":
        _prctl(_PR_SET_DUMPABLE, int(dumpable))


def _prctl(option: int, value: int) -> None:
    _checked(f"prctl {option}", _LIBC.prctl(option, value, 0, 0, 0))


def _checked(what: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _try(what: str, put_on: Callable[..., None], *arguments: object) -> None:
    try:
        put_on(*arguments)
    except (OSError, ValueError) as error:
        raise CannotLock(f"{what}: {error}") from None
