"""Classes for the benches: who hands in what, the command that grades it, and what that takes."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from measuring import PYTHON, ROOT, CannotRun, Cost, descendants, process, tree_cpu

sys.path.insert(0, str(ROOT))

GRADE = (PYTHON, "-m", "grader")
MIB = 1 << 20

_GIVEN = (
    "Ann Bob Zoë José Anaïs Łukasz Siân Ömer Đorđe Ngọc Ольга 明 ゆき فاطمة O'Neil Jean-Luc".split()
)
_FAMILY = (
    "Lovelace Gómez Łoś Nguyễn İnan Müller van_Dijk Иванова 李 鈴木 سعيد McKay Ó_Briain".split()
)

Item = TypeVar("Item")


@dataclass(frozen=True)
class File:
    """A file that a learner hands in. kind: right, wrong, stream or hostile."""

    slug: str
    kind: str
    name: str
    data: bytes


def learner(number: int) -> str:
    """A name as people have them; no two numbers have one."""
    given = _GIVEN[number % len(_GIVEN)]
    family = _FAMILY[number // len(_GIVEN) % len(_FAMILY)].replace("_", " ")
    return f"{given} {family} {number:05}"


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """So many of the items, evenly over all; several times over where there are not enough."""
    if not items:
        raise CannotRun("no files to choose from")
    whole, rest = divmod(count, len(items))
    return [*items] * whole + [items[i * len(items) // rest] for i in range(rest)]


def known(slug: str, kind: str) -> list[File]:
    """The known files of a problem that are of a kind; CannotRun in a kit without solutions."""
    if not (ROOT / "solutions").is_dir():
        raise CannotRun("no solutions here, so there are no known files to grade")
    return [
        File(slug, kind, f"{slug}_{path.name}", path.read_bytes())
        for path in sorted((ROOT / "solutions" / slug / kind).glob("*.py"))
    ]


def hand_in(place: Path, files: Iterable[File]) -> list[Path]:
    """Writes a class, a folder for each learner with one file in it; gives the files' paths."""
    paths = []
    for number, file in enumerate(files):
        path = place / learner(number) / file.name
        path.parent.mkdir(parents=True)
        path.write_bytes(file.data)
        paths.append(path)
    return paths


def tiny_kit(folder: Path) -> str:
    """Adds the tiny problem of tests/kits.py, with a hidden check, to a kit; gives its slug."""
    from tests import kits

    # Whoever hangs is stopped soon: the limits are not what is measured.
    toml = kits.TOML.replace("hidden = 0", "hidden = 3").replace(
        "submission = 10", "submission = 2"
    )
    written = kits.write_kit(folder, toml=toml, hidden=kits.HIDDEN, solution=kits.RIGHT)
    return written.slug


def mixed_kit(folder: Path) -> str:
    """Writes a kit of the problems here and a tiny one, whose slug it gives."""
    for name in ("problems", "templates", "solutions"):
        if (ROOT / name).is_dir():
            leave = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=leave)
    return tiny_kit(folder)


def batch(place: Path, out: Path, *options: object, kit: Path | None = None) -> list[str]:
    """The command that grades a class."""
    chosen = () if kit is None else ("--kit", kit)
    return [*map(str, (*GRADE, *chosen, "batch", place, "--out", out, *options))]


def rows(out: Path) -> Iterator[dict[str, Any]]:
    """The rows of a RESULTS folder."""
    with (out / "results.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def all_graded(out: Path, count: int) -> None:
    """CannotRun unless so many submissions were graded, and none was not."""
    found = [row["status"] for row in rows(out)]
    if found != ["graded"] * count:
        raise CannotRun(f"{count} files were to be graded, and {found.count('graded')} were")


# What a command takes ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    """How far a command was. done: as `watched` was told to count; memory: resident bytes by role,
    of the largest process that has it."""

    seconds: float
    cpu: float
    done: int
    memory: Mapping[str, int]


@dataclass
class Watched:
    """What a command took. peaks: the most memory that a process of each role ever had."""

    cost: Cost
    moments: list[Moment] = field(default_factory=list)
    peaks: dict[str, int] = field(default_factory=dict)


def watched(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    good: Collection[int] = (0,),
    done: Callable[[], int] = int,
    every: float = 0.25,
) -> Watched:
    """Runs a command as `measuring.process` does, and looks at its processes meanwhile.

    To be called where this process has no other children. every: seconds.
    """
    found = Watched(Cost(0, 0))
    over = threading.Event()
    began, before = time.perf_counter(), _children_cpu()

    def look() -> None:
        memory: dict[str, int] = {}
        for pid in descendants():
            role = role_of(pid)
            now, most = _memory(pid)
            memory[role] = max(memory.get(role, 0), now)
            found.peaks[role] = max(found.peaks.get(role, 0), most)
        count = done()
        seconds = time.perf_counter() - began
        found.moments.append(Moment(seconds, _children_cpu() - before, count, memory))

    def watch() -> None:
        while not over.wait(every):
            with contextlib.suppress(OSError):  # a process that has ended while it was looked at
                look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        found.cost = process(command, environment, good)
    finally:
        over.set()
        watcher.join()
    return found


def role_of(pid: int) -> str:
    """What a process is: command, lane, desk, zygote, worker, or other."""
    command = _command(pid)
    if b"\0grader.lane\0" in command:
        return "desk" if b"\0grader.lane\0" in _command(_parent(pid)) else "lane"
    if b"\0zygote\0" in command:
        return "worker" if b"\0zygote\0" in _command(_parent(pid)) else "zygote"
    return "command" if b"\0-m\0grader\0" in command else "other"


def cpu_of(pid: int) -> float:
    """CPU seconds so far of a process and of the children that it has waited for."""
    return sum(map(int, _fields(pid)[11:15])) / os.sysconf("SC_CLK_TCK")


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return tree_cpu() - used.ru_utime - used.ru_stime


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _parent(pid: int) -> int:
    fields = _fields(pid)
    return int(fields[1]) if fields else 0


def _fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; none where the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _memory(pid: int) -> tuple[int, int]:
    """Bytes that are resident in a process, and the most that ever were."""
    found = {"VmRSS": 0, "VmHWM": 0}
    try:
        for line in Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name in found:
                found[name] = int(value.split()[0]) << 10
    except OSError:
        pass  # it has ended since
    return found["VmRSS"], found["VmHWM"]
