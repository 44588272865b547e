"""How far a submission is kept apart, by name: what each level needs and what this machine offers.

    locked    it reads a list of files (PyTorch, NumPy, Python's library), and nothing else: no
              writing, no network, no processes or threads, no other process. Landlock and seccomp.
    no-open   it opens nothing at all once it runs. seccomp alone, where Landlock is missing.
    process   a process of its own under limits, no more: it can read and do what its user can.

Which locks a level asks for is told here; `canary` proves that they bite, `worker/lockdown` puts
them on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from grader.faults import UsageError
from grader.report import Isolation
from grader.worker import landlock, seccomp
from grader.worker.locks import Locks

Level = Literal["locked", "no-open", "process"]
LEVELS: tuple[Level, ...] = ("locked", "no-open", "process")

# What a submission may import, besides Python's own library, and what these import in their turn.
PACKAGES = (
    "torch", "torchgen", "functorch", "numpy", "numpy.libs", "typing_extensions.py", "sympy",
    "mpmath", "networkx", "filelock", "fsspec", "jinja2", "markupsafe",
)  # fmt: skip

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_USERS = 2_000_000_000  # far above what systems hand out: one for each process number
_MOST_PROCESSES = 1 << 22
_NOT_LIBRARY = {"site-packages", "dist-packages", "test", "idlelib", "turtledemo", "ensurepip"}


def of_level(level: Level | Literal["auto"] = "auto") -> Locks:
    """The locks of a level, of the best one for "auto"; UsageError where it is not to be had."""
    locks = offered()
    best = level_of(locks)
    if level == "auto":
        return locks
    if level == "process":
        return replace(locks, landlock=False, seccomp=False, no_open=False)
    if not locks.seccomp or (level == "locked" and best != "locked"):
        raise UsageError(
            f"--isolation {level} cannot be had here: {'; '.join(missing(locks))}; "
            f"this machine offers {best}"
        )
    return replace(locks, landlock=False, no_open=True) if level == "no-open" else locks


def offered() -> Locks:
    """The best locks this machine has. What it claims here, the canary proves."""
    if sys.platform != "linux":
        return Locks(memory=False)
    has_filter, has_landlock = seccomp.supported(), landlock.version() > 0
    first, count = _users()
    return Locks(
        landlock=has_landlock and has_filter,
        seccomp=has_filter,
        no_open=has_filter and not has_landlock,
        own_user=first,
        user_range=count,
        capabilities=os.geteuid() == 0,
        dumpable=False,
        parent_death=True,
    )


def level_of(locks: Locks) -> Level:
    """The level that these locks make."""
    if locks.landlock and locks.seccomp and locks.limits:
        return "locked"
    return "no-open" if locks.no_open and locks.seccomp and locks.limits else "process"


def missing(locks: Locks) -> list[str]:
    """What these locks do without, in words for whoever grades."""
    said = []
    if sys.platform != "linux":
        return ["this system has neither Landlock nor seccomp, which are Linux's"]
    if not locks.landlock:
        absent = "this kernel offers no Landlock"
        said.append("Landlock was not asked for" if landlock.version() else absent)
    if not locks.seccomp:
        absent = f"no seccomp filter for {os.uname().machine} can be had here"
        said.append("seccomp was not asked for" if seccomp.supported() else absent)
    if not locks.own_user:
        said.append(f"no user of its own: {_why_no_user()}")
    return said


def told(locks: Locks, *, fresh: bool, canary: str, untried: tuple[str, ...]) -> Isolation:
    """The locks as the score document tells them."""
    layers = {
        "process": True,
        "wall clock": True,
        "output cap": True,
        "limits": locks.limits,
        "memory limit": locks.memory,
        "landlock": locks.landlock,
        "seccomp": locks.seccomp,
        "nothing opened": locks.no_open,
        "own user": bool(locks.own_user),
        "no capabilities": locks.capabilities,
        "not dumpable": not locks.dumpable,
        "ends with its parent": locks.parent_death,
        "fresh interpreter": fresh,
        "fork": not fresh,
    }
    unproven = [f"not tried, it fails here without locks too: {name}" for name in untried]
    return Isolation(
        level=level_of(locks),
        layers=tuple(name for name, on in layers.items() if on),
        landlock=landlock.version() if locks.landlock else 0,
        canary=canary,
        missing=(*missing(locks), *unproven),
    )


@contextlib.contextmanager
def closed_memory() -> Iterator[None]:
    """Keeps other processes of the same user from reading this one's memory (Linux).

    Where workers are locked they could not try; at level `process` the expected answers are here.
    """
    if sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None)
    before = libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_DUMPABLE, min(before, 1), 0, 0, 0)


def rules(locks: Locks) -> int | None:
    """A descriptor of Landlock's rules for workers, or None where they are not asked for."""
    if not locks.landlock:
        return None
    return landlock.ruleset(map(str, readable()), landlock.version())


def readable() -> Iterator[Path]:
    """The files and folders a locked worker may read; some may not be there.

    Never a folder in which other things may be installed too: a rule covers all that lies below.
    """
    yield from (Path("/dev/null"), Path("/dev/urandom"))
    library = Path(os.__file__).resolve().parent
    yield from _children(library, but=_NOT_LIBRARY)
    for entry in sys.path:
        folder = Path(entry or ".").resolve()
        if folder != Path.cwd() and "-packages" in folder.name:
            yield from (folder / name for name in PACKAGES)
    # Shared libraries that Python's own modules are linked with, loaded when these are imported.
    yield from map(Path, ("/etc/ld.so.cache", "/etc/localtime"))
    yield from map(Path, ("/usr/lib/locale", "/usr/share/locale", "/usr/share/zoneinfo"))
    machine = os.uname().machine
    for name in ("/lib", "/usr/lib"):
        yield Path(f"{name}/{machine}-linux-gnu")
    for prefix in {sys.base_prefix, sys.prefix}:
        libraries = _children(Path(prefix) / "lib")
        yield from (path for path in libraries if ".so" in path.name and path.is_file())


def _children(folder: Path, but: set[str] = frozenset()) -> list[Path]:  # type: ignore[assignment]
    try:
        return [folder / name for name in sorted(os.listdir(folder)) if name not in but]  # noqa: PTH208
    except OSError:
        return []


# ---- a user of its own, where root grades


def _users() -> tuple[int, int]:
    """The first of a range of users that workers can become, and how many; 0 where none is."""
    if os.geteuid() != 0 or _why_no_user():
        return 0, 0
    return _unused_users()


def _why_no_user() -> str:
    """What prevents a worker from becoming another user, in words; empty if nothing does."""
    if os.geteuid() != 0:
        return "only root can give it one"
    if not _unused_users()[1]:
        return "this container knows no other users"
    closed = _closed_folder()
    return f"only its owner can read Python in {closed}" if closed else ""


def _unused_users() -> tuple[int, int]:
    """Numbers that this user namespace knows and no account has."""
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
        known = [(int(first), int(count)) for first, _, count in map(str.split, lines)]
    except (OSError, ValueError):
        return 0, 0
    for first, count in known:
        if first <= _USERS and _USERS + _MOST_PROCESSES <= first + count:
            return _USERS, _MOST_PROCESSES
    # A container's own numbers, mostly 65536 of them: the upper ones below "nobody" are free.
    for first, count in known:
        if first <= 40_000 and first + count >= 60_000:
            return 40_000, 20_000
    return 0, 0


def _closed_folder() -> str:
    """The first folder or file of this Python that not everybody can read; empty if all can."""
    packages = [Path(entry) for entry in sys.path if entry.endswith("-packages")]
    needed = [Path(sys.executable), Path(os.__file__), *packages]
    for path in {*needed, *(each.resolve() for each in needed)}:
        for part in (*reversed(path.parents), path):
            try:
                mode = part.stat().st_mode
            except OSError:
                return str(part)
            wanted = stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
            if not mode & wanted:
                return str(part)
    return ""
