"""Proves on this machine, today, that the locks bite: a process tries what they are there to stop.

What a kernel says of itself proves little: containers, sandboxes and emulated kernels leave parts
out. So two small processes try to read, write, connect, signal, fork and more, the first without
locks, the second with them (`worker/canary.py`). A lock that is asked for and does not bite is a
fault of the kit here (KitFault): nothing is graded as if it were locked.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader import interpreter
from grader.faults import KitFault
from grader.worker.locks import Locks

READ = "/etc/passwd"  # there, readable by everybody, and on no list of what a submission may read
SECONDS = 30.0  # it takes a tenth of a second; a machine may be busy

# For each lock, what it has to stop, and the error numbers that show that it did.
_EXPECTED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "landlock": (("read", "write"), ("EACCES", "EPERM")),
    "seccomp": (
        (
            "tcp", "udp", "abstract socket", "signal", "signal by owner", "fork", "thread", "exec",
            "ptrace", "unshare", "lift a limit", "empty a file",
        ),
        ("EPERM",),
    ),
    "no_open": (("read", "stat", "write"), ("EPERM",)),
    "limits": (("files",), ("EMFILE",)),
    "memory": (("memory",), ("ENOMEM",)),
}  # fmt: skip
_OTHER_SIGNS = {"thread": ("EAGAIN",)}  # what the C library makes of a refusal


@dataclass(frozen=True)
class Verdict:
    """What the canary proved. untried: attempts that fail here even without locks."""

    untried: tuple[str, ...]


class Canary:
    """The two processes at work; `verdict` waits for them. Made early, since they take a while."""

    def __init__(self, locks: Locks, rules: int | None) -> None:
        self._locks = locks
        with contextlib.ExitStack() as opened:
            name = f"canary-{secrets.token_hex(8)}"
            self._written = Path(tempfile.gettempdir()) / name
            kinds = ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM))
            self._tcp, self._udp = (opened.enter_context(socket.socket(*kind)) for kind in kinds)
            self._unix = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            with contextlib.suppress(OSError):  # no loopback here: then nobody can connect to it
                for bound in (self._tcp, self._udp):
                    bound.bind(("127.0.0.1", 0))
                self._tcp.listen()
            self._unix.bind(f"\0{name}")
            self._unix.listen()
            targets = {
                "read": READ,
                "write": str(self._written),
                "tcp": self._tcp.getsockname()[1],
                "udp": self._udp.getsockname()[1],
                "abstract": name,
                "grader": os.getpid(),
            }
            self._reply, theirs = socket.socketpair()
            opened.enter_context(self._reply)
            output = interpreter.output_file()
            opened.callback(os.close, output)
            with theirs:
                fds = [theirs.fileno(), output, *([] if rules is None else [rules])]
                arguments = ["canary", locks.encode(), *map(str, fds), json.dumps(targets)]
                self._process = interpreter.start(arguments, tuple(fds))
            opened.callback(self._end)
            self._opened = opened.pop_all()

    def verdict(self) -> Verdict:
        """What was proved; KitFault where a lock that was asked for does not bite here."""
        try:
            found = self._found()
            arrived = self._arrived()
        finally:
            self.close()
        for word, facts in found.items():
            if "cannot" in facts:
                raise KitFault(f"isolation: the locks cannot be tried ({word}): {facts['cannot']}")
        return judge(self._locks, found["unlocked"], found["locked"], arrived)

    def close(self) -> None:
        """Ends whatever still runs."""
        self._opened.close()

    def _found(self) -> dict[str, dict[str, str]]:
        self._reply.settimeout(SECONDS)
        try:
            text = b"".join(iter(lambda: self._reply.recv(1 << 16), b""))
            found = json.loads(text)
            return {word: found[word] for word in ("unlocked", "locked")}
        except (OSError, ValueError, KeyError):
            raise KitFault("isolation: the process that tries the locks gave no answer") from None

    def _arrived(self) -> str:
        """What reached this process from the locked one, or nothing."""
        for name, listening in (("tcp", self._tcp), ("abstract socket", self._unix)):
            while select.select([listening], [], [], 0)[0]:
                with listening.accept()[0] as connection:
                    connection.settimeout(1.0)
                    with contextlib.suppress(OSError):
                        if connection.recv(16) != b"unlocked":
                            return name
        while select.select([self._udp], [], [], 0)[0]:
            if self._udp.recv(16) != b"unlocked":
                return "udp"
        if self._written.exists():  # without locks it is removed where it is written
            self._written.unlink()
            return "write"
        return ""

    def _end(self) -> None:
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)


def judge(locks: Locks, unlocked: dict[str, str], locked: dict[str, str], arrived: str) -> Verdict:
    """Compares what happened with and without locks; KitFault where one does not bite, and where
    nothing that it has to stop could be tried here, which proves nothing."""
    untried: list[str] = []
    for name in asked_for(locks):
        attempts, signs = _EXPECTED[name]
        for attempt in attempts:
            if unlocked.get(attempt) != "done":
                untried.append(attempt)
            elif locked.get(attempt) not in _OTHER_SIGNS.get(attempt, signs):
                raise KitFault(
                    f"isolation: the lock '{name.replace('_', '-')}' is on, yet a process under it "
                    f"could: {attempt} ({locked.get(attempt)}); nothing is graded like this. "
                    "--isolation process grades without these locks"
                )
        if {*attempts} <= {*untried}:
            raise KitFault(
                f"isolation: the lock '{name.replace('_', '-')}' cannot be proved here: without it "
                f"too a process could not: {', '.join(attempts)}; nothing is graded like this. "
                "--isolation process grades without these locks"
            )
    if locked.get("output") == "done":
        raise KitFault("isolation: a worker's output can be made longer than its limit")
    if arrived and (locks.seccomp or locks.no_open):
        raise KitFault(f"isolation: something came out of a locked process: {arrived}")
    if locks.own_user:
        first, user = locks.own_user, int(locked.get("user", "0"))
        if not first <= user < first + locks.user_range:
            raise KitFault(f"isolation: a worker still runs as user {user}")
    if locks.capabilities and int(locked.get("CapEff", "1"), 16):
        raise KitFault(f"isolation: a worker keeps capabilities ({locked.get('CapEff')})")
    return Verdict(tuple(untried))


def asked_for(locks: Locks) -> list[str]:
    """The locks that are asked for, of those that the canary tries."""
    return [name for name in _EXPECTED if getattr(locks, name)]
