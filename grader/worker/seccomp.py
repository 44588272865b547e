"""seccomp: the system calls a worker may make, everything else refused (Linux, two processors).

The list is what computing needs: memory, time, reading and answering, reading the files that other
locks leave readable. Nothing on it makes a process, a socket, a timer or a file, or reaches another
process. What is refused fails with EPERM, which Python shows as a PermissionError, so that a
learner reads what happened; numbers too new for the list fail with ENOSYS, upon which the C library
falls back to older calls.

The filter is a program for the kernel's packet-filter machine (seccomp(2), <linux/filter.h>): the
processor's number is compared first, since the same call has other numbers elsewhere. Used in
workers; it imports nothing of the project, and the tests run its programs without a kernel.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from dataclasses import dataclass, replace

ALLOW, KILL = 0x7FFF_0000, 0x8000_0000
REFUSE = 0x0005_0000 | 1  # EPERM
UNKNOWN = 0x0005_0000 | 38  # ENOSYS
FIRST_NEW = 435  # clone3, and whatever came after it
X32 = 0x4000_0000  # x86-64's other numbering

# Each call with its number on x86-64 and on aarch64; None where it is not there.
Numbers = dict[str, tuple[int | None, int | None]]

# The most frequent first: the filter is read from the top.
COMPUTING: Numbers = {
    "recvfrom": (45, 207), "read": (0, 63), "write": (1, 64), "mmap": (9, 222),
    "munmap": (11, 215),
    # replies and output
    "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "pwrite64": (18, 68),
    "lseek": (8, 62), "close": (3, 57), "dup": (32, 23), "fstat": (5, 80),
    # waiting for what is there already
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    # memory
    "mremap": (25, 216), "mprotect": (10, 226), "brk": (12, 214), "madvise": (28, 233),
    "mlock": (149, 228), "membarrier": (324, 283),
    # signals of its own
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132), "restart_syscall": (219, 128),
    # time
    "gettimeofday": (96, 169), "time": (201, None), "nanosleep": (35, 101), "times": (100, 153),
    # the C library's and Python's own upkeep
    "set_robust_list": (273, 99), "rseq": (334, 293), "sched_yield": (24, 124),
    "getcpu": (309, 168), "gettid": (186, 178),
    "getrandom": (318, 278),
    # who and where it is
    "getpid": (39, 172), "getppid": (110, 173), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "uname": (63, 160), "sysinfo": (99, 179),
    "getrlimit": (97, 163), "getrusage": (98, 165),
    # its end
    "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip

# Calls that take a path; Landlock says which paths. Left out where nothing may be opened.
PATHS: Numbers = {
    "newfstatat": (262, 79), "stat": (4, None), "lstat": (6, None), "statx": (332, 291),
    "readlink": (89, None), "readlinkat": (267, 78),
    "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "getdents64": (217, 61), "getcwd": (79, 17),
}  # fmt: skip

OWN_PROCESS = -1  # stands for the number of the process that installs the filter


@dataclass(frozen=True)
class Narrowed:
    """A call that is allowed with some values of one argument only; all others are refused.

    place: of the argument, from 0; the lower 32 bits of its value count. The value is one of these
    (is_one_of), or is smaller (below), has one of these bits (has), or none of these (lacks).
    path: it takes a path as well.
    """

    numbers: tuple[int | None, int | None]
    place: int
    is_one_of: tuple[int, ...] = ()
    below: int = 0
    has: int = 0
    lacks: int = 0
    path: bool = False

    def code(self, pid: int) -> list[bytes]:
        """The instructions that decide, once the number of the call is known."""
        tests = [_op(_LOAD, k=_ARGUMENTS + 8 * self.place)]
        for value in self.is_one_of:
            own = pid if value == OWN_PROCESS else value
            tests += [_op(_IF_EQUAL, 0, 1, own), _op(_RETURN, k=ALLOW)]
        if self.below:
            tests += [_op(_IF_AT_LEAST, 1, 0, self.below), _op(_RETURN, k=ALLOW)]
        if self.has:
            tests += [_op(_IF_ANY_BIT, 0, 1, self.has), _op(_RETURN, k=ALLOW)]
        if self.lacks:
            tests += [_op(_IF_ANY_BIT, 1, 0, self.lacks), _op(_RETURN, k=ALLOW)]
        return [*tests, _op(_RETURN, k=REFUSE)]


_OWN_CLOCKS = 16  # above them, as negative numbers, are the clocks of other processes
_PRIVATE = 0x80  # a futex of this process alone; others reach whoever has the same file mapped
# Writing, making, emptying and nameless files; Landlock knows of emptying since version 3 only.
_NOT_READING = 0x3 | 0x40 | 0x200 | 0x40_0000
NARROWED: dict[str, Narrowed] = {
    "futex": Narrowed((202, 98), 1, has=_PRIVATE),
    # Flags: none, or no SIGPIPE. Not MSG_OOB, which nobody here reads.
    "sendto": Narrowed((44, 206), 3, (0, 0x4000)),
    "clock_gettime": Narrowed((228, 113), 0, below=_OWN_CLOCKS),
    "clock_getres": Narrowed((229, 114), 0, below=_OWN_CLOCKS),
    "clock_nanosleep": Narrowed((230, 115), 0, below=_OWN_CLOCKS),
    "openat": Narrowed((257, 56), 2, lacks=_NOT_READING, path=True),
    "open": Narrowed((2, None), 1, lacks=_NOT_READING, path=True),
    "kill": Narrowed((62, 129), 0, (OWN_PROCESS,)),
    "tgkill": Narrowed((234, 131), 0, (OWN_PROCESS,)),
    "sched_getaffinity": Narrowed((204, 123), 0, (0, OWN_PROCESS)),
    # No F_SETOWN and F_SETSIG: with them the kernel signals whom a process names.
    "fcntl": Narrowed((72, 25), 1, (0, 1, 2, 3, 4, 1030, 1034)),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX; never TIOCSTI, which types.
    "ioctl": Narrowed((16, 29), 1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    "prctl": Narrowed((157, 167), 0, (15, 16, 0x5356_4D41)),  # names of the thread and of memory
}
PRLIMIT = (302, 261)  # of this process, and reading only: no pointer to new limits
_PRCTL, _PR_SET_SECCOMP, _FILTER_MODE = "prctl", 22, 2
_PR_GET_SECCOMP = 21

ARCHITECTURES = {"x86_64": (0, 0xC000_003E), "aarch64": (1, 0xC000_00B7)}

# Instructions: load a word of the call's record, compare, return.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_INSTRUCTION = struct.Struct("=HBBI")


def supported() -> bool:
    """Whether this processor has a list here and this kernel takes filters."""
    if sys.platform != "linux" or struct.calcsize("P") != 8:
        return False
    return _machine() in ARCHITECTURES and _libc().prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


def program(machine: str, pid: int, *, paths: bool, another: bool) -> bytes:
    """The filter for the process `pid`. paths: with the calls that take a path. another: with
    the call that installs one more filter (filters add up: the stricter of them decides)."""
    which, architecture = ARCHITECTURES[machine]
    code = [
        _op(_LOAD, k=_ARCHITECTURE),
        _op(_IF_EQUAL, 1, 0, architecture),
        _op(_RETURN, k=KILL),
        _op(_LOAD, k=_NUMBER),
    ]
    if machine == "x86_64":
        code += [_op(_IF_AT_LEAST, 0, 1, X32), _op(_RETURN, k=UNKNOWN)]
    for numbers in (COMPUTING | PATHS if paths else COMPUTING).values():
        number = numbers[which]
        if number is not None:
            code += [_op(_IF_EQUAL, 0, 1, number), _op(_RETURN, k=ALLOW)]
    for name, narrowed in NARROWED.items():
        number = narrowed.numbers[which]
        if number is None or (narrowed.path and not paths):
            continue
        if name == _PRCTL and another:
            narrowed = replace(narrowed, is_one_of=(*narrowed.is_one_of, _PR_SET_SECCOMP))
        tests = narrowed.code(pid)
        code += [_op(_IF_EQUAL, 0, len(tests), number), *tests]
    code += [
        _op(_IF_EQUAL, 0, 9, PRLIMIT[which]),
        _op(_LOAD, k=_ARGUMENTS),
        _op(_IF_EQUAL, 1, 0, 0),
        _op(_IF_EQUAL, 0, 5, pid),
        _op(_LOAD, k=_ARGUMENTS + 16),
        _op(_IF_EQUAL, 0, 3, 0),
        _op(_LOAD, k=_ARGUMENTS + 20),
        _op(_IF_EQUAL, 0, 1, 0),
        _op(_RETURN, k=ALLOW),
        _op(_RETURN, k=REFUSE),
        _op(_IF_AT_LEAST, 0, 1, FIRST_NEW),
        _op(_RETURN, k=UNKNOWN),
        _op(_RETURN, k=REFUSE),
    ]
    return b"".join(code)


class Filters:
    """The filters of one process, built before it is known which: a fork fills in its number."""

    def __init__(self, *, no_open: bool) -> None:
        machine = _machine()
        self._first = _Template(machine, paths=True, another=no_open)
        self._second = _Template(machine, paths=False, another=False) if no_open else None

    def install(self) -> None:
        """Puts the first filter on. Raises OSError where the kernel refuses."""
        self._first.install()

    def close_paths(self) -> None:
        """Puts on the filter without calls that take a path, where there is one."""
        if self._second is not None:
            self._second.install()


class _Template:
    """A program with a process number in it that is known later."""

    _STAND_IN = 0x7ABB_0731  # no process has this number: they end at 2**22

    def __init__(self, machine: str, *, paths: bool, another: bool) -> None:
        code = program(machine, self._STAND_IN, paths=paths, another=another)
        self._code = ctypes.create_string_buffer(code, len(code))
        self._places = [
            at + 4
            for at in range(0, len(code), _INSTRUCTION.size)
            if _INSTRUCTION.unpack_from(code, at)[3] == self._STAND_IN
        ]

    def install(self) -> None:
        for place in self._places:
            struct.pack_into("=I", self._code, place, os.getpid())
        length = len(self._code) // _INSTRUCTION.size
        header = struct.pack("@HP", length, ctypes.addressof(self._code))
        if _libc().prctl(_PR_SET_SECCOMP, _FILTER_MODE, header, 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"seccomp: {os.strerror(number)}")


def _op(code: int, if_true: int = 0, if_false: int = 0, k: int = 0) -> bytes:
    return _INSTRUCTION.pack(code, if_true, if_false, k)


def _machine() -> str:
    return os.uname().machine


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
