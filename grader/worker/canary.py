"""A process that tries what locks are there to stop, and says what happened.

It tries twice: without locks, where every attempt has to succeed, since an attempt that cannot
succeed proves nothing; and with them, where every attempt has to fail. It is the kit's own code,
and what it tries does no harm. The other end judges, and looks whether anything arrived.

The answer is {"unlocked": {…}, "locked": {…}}; in each, for every attempt, "done" or the name of
the error number; "user", the number of the user it ran as; two lines of the kernel's process
status; or "cannot" alone, where a lock could not be put on.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from lockdown import Cage, CannotLock, address_space
from locks import Locks

ALLOWANCE = 64  # MiB of memory
OUTPUT_BYTES = 64 << 10
_SYSCALLS = {  # execve, ptrace, unshare
    "x86_64": (59, 101, 272),
    "aarch64": (221, 117, 97),
}
_PTRACE_PEEKDATA = 2
_LIBC = ctypes.CDLL(None, use_errno=True)


def run(locks: Locks, reply_fd: int, fds: list[int], targets: dict[str, Any]) -> NoReturn:
    """Tries everything without locks and then with them; answers with one JSON object."""
    without = _in_a_child("unlocked", None, targets)
    cage = Cage(locks, fds[0] if fds else None, address_space())
    found = {"unlocked": without, "locked": _in_a_child("locked", cage, targets)}
    with socket.socket(fileno=reply_fd) as sock:
        sock.sendall(json.dumps(found).encode())
    os._exit(0)


def _in_a_child(word: str, cage: Cage | None, targets: dict[str, Any]) -> dict[str, str]:
    """What a child of this process could do, and what the kernel says of its privileges."""
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        ours.close()
        try:
            result = _tried(word, cage, targets, parent, theirs)
        except CannotLock as error:
            theirs.sendall(b" ")
            theirs.recv(1)
            result = {"cannot": str(error)}
        theirs.sendall(json.dumps(result).encode())
        os._exit(0)
    theirs.close()
    with ours:
        first = ours.recv(1)  # it is locked, or has ended
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        with contextlib.suppress(OSError):  # it has ended
            ours.sendall(b"x")
        text = first + b"".join(iter(lambda: ours.recv(1 << 16), b""))
    os.waitpid(pid, 0)
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    try:
        found: dict[str, str] = json.loads(text)
    except ValueError:
        return {"cannot": "the process that tried the locks ended early"}
    return found | {name: fields.get(name, "").strip() for name in ("CapEff", "Seccomp")}


def _tried(
    word: str, cage: Cage | None, targets: dict[str, Any], parent: int, sock: socket.socket
) -> dict[str, str]:
    attempts = _attempts(word, targets)
    if cage is not None:
        cage.lock(ALLOWANCE, parent)
        cage.close_paths()
    sock.sendall(b" ")  # JSON may begin with it
    sock.recv(1)
    found = {name: _outcome(attempt) for name, attempt in attempts.items()}
    return found | {"user": str(os.getuid())}


def _outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "error")
    except RuntimeError:  # "can't start new thread"
        return "EAGAIN"
    except ValueError:  # setrlimit says it so, and does not say more
        return "EPERM"
    return "done"


def _attempts(word: str, targets: dict[str, Any]) -> dict[str, Callable[[], object]]:
    """Everything that is tried. Nothing is imported or opened here, before the locks are on."""
    execve, ptrace, unshare = _SYSCALLS.get(os.uname().machine, (-1, -1, -1))
    secret, written = targets["read"], Path(targets["write"])
    message = word.encode()

    def write() -> None:
        with written.open("xb") as file:
            file.write(message)
        if word == "unlocked":
            written.unlink()

    def empty() -> None:
        if word == "unlocked":
            written.touch()
        os.close(os.open(written, 3 | os.O_TRUNC))  # neither to read nor to write
        written.unlink()

    def connect() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
            sock.connect(("127.0.0.1", targets["tcp"]))
            sock.sendall(message)

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(message, ("127.0.0.1", targets["udp"]))

    def connect_abstract() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.connect("\0" + targets["abstract"])
            sock.sendall(message)

    def fork() -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    def many_files() -> None:
        opened = []
        try:
            opened = [os.dup(0) for _ in range(100)]
        finally:
            for fd in opened:
                os.close(fd)

    def lift_a_limit() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))

    return {
        "read": lambda: Path(secret).read_bytes(),
        "stat": lambda: os.stat(secret),  # noqa: PTH116
        "write": write,
        "empty a file": empty,
        "tcp": connect,
        "udp": send,
        "abstract socket": connect_abstract,
        "signal": lambda: os.kill(targets["grader"], 0),
        "signal by owner": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid()),
        "fork": fork,
        "thread": lambda: _thread.start_new_thread(_nothing, ()),
        "exec": lambda: _reaches(execve, 0, 0, 0),
        "ptrace": lambda: _reaches(ptrace, _PTRACE_PEEKDATA, targets["grader"], 0, 0),
        "unshare": lambda: _reaches(unshare, 0),
        "lift a limit": lift_a_limit,
        "files": many_files,
        "memory": lambda: mmap.mmap(-1, (ALLOWANCE + 16) << 20).close(),
        "output": lambda: os.pwrite(1, b"x", OUTPUT_BYTES),
    }


def _reaches(number: int, *arguments: int) -> None:
    """Makes a system call that cannot work, so that it only shows whether the kernel takes it."""
    if _LIBC.syscall(number, *(ctypes.c_long(each) for each in arguments)) < 0:
        code = ctypes.get_errno()
        if code in (errno.EPERM, errno.ENOSYS):
            raise OSError(code, os.strerror(code))


def _nothing() -> None:
    pass
