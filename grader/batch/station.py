"""What a Dask worker keeps for a batch: the same kit, found and compared, and warm lanes.

All of it runs on the worker's machine, and only answers: a worker that cannot grade as the others
do says why (`Refused`). A station opens with the first thing that is asked of it and closes once
nothing was asked for a while, so that nothing stays behind of a batch that was killed. Its lanes
end with the worker's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from distributed import get_worker

from grader import kit as kits
from grader.batch.grading import survey
from grader.batch.terms import Terms, code, digest, files, versions
from grader.faults import GradeError, UsageError
from grader.kit import Kit
from grader.lanes import Job, Lanes
from grader.report import FaultReport, Isolation, Report

IDLE_SECONDS = 60.0  # how long lanes stay warm for the next thing that is asked

_LOADED = code()  # as this process has imported it: a worker may be days old


@dataclass(frozen=True)
class Seen:
    """A worker that can grade: what keeps submissions apart there, and what they run on."""

    worker: str
    apart: Isolation
    versions: dict[str, Any]


@dataclass(frozen=True)
class Refused:
    """A worker that cannot. files: its own ones, where these are why."""

    worker: str
    reason: str
    files: Mapping[str, str] | None = None


class _Unfit(Exception):
    def __init__(self, reason: str, files: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.files = files


async def look(asked: Terms, dask_worker: Any = None) -> Seen | Refused:
    """Opens the station. dask_worker: given by Dask."""
    return await asyncio.to_thread(_look, asked, dask_worker)


def _look(asked: Terms, worker: Any) -> Seen | Refused:
    try:
        with _open_at(asked, worker) as station:
            return Seen(_name(worker), station.apart, station.versions)
    except _Unfit as unfit:
        return Refused(_name(worker), str(unfit), unfit.files)


def grade(
    asked: Terms, layers: tuple[str, ...], job: Job
) -> Report | FaultReport | Refused | UsageError:
    """One grading, where submissions are kept apart by exactly these layers.

    What prevents it is returned, not raised: Dask writes a submission into its log with an error.
    """
    worker = get_worker()
    try:
        with _open_at(asked, worker) as station:
            if (unlike := unlike_layers(station.apart, layers)) is not None:
                raise _Unfit(unlike)
            return station.lanes.submit(job).result()
    except _Unfit as unfit:
        return Refused(_name(worker), str(unfit), unfit.files)
    except UsageError as error:
        return error


def unlike_layers(apart: Isolation, layers: tuple[str, ...]) -> str | None:
    """In words, how a worker differs in what keeps submissions apart; None where it does not."""
    lacks = [name for name in layers if name not in apart.layers]
    adds = [name for name in apart.layers if name not in layers]
    if not lacks and not adds:
        return None
    told = [f"without {', '.join(lacks)}"] if lacks else []
    told += [f"with {', '.join(adds)}"] if adds else []
    return (
        f"it keeps submissions apart otherwise than the rest, {' and '.join(told)} "
        f"(level {apart.level}); use workers of one kind, run by the same kind of user"
    )


class _Station:
    """The lanes of one kit. busy: how much is asked of it now; used: when it was last."""

    def __init__(self, kit: Kit, threads: int) -> None:
        self.apart, self.versions = survey()
        self.lanes = Lanes(kit, threads)
        self.busy = 0
        self.used = time.monotonic()


_stations: dict[Terms, _Station] = {}
_changing = threading.Lock()


@contextlib.contextmanager
def _open_at(asked: Terms, worker: Any) -> Iterator[_Station]:
    """The station for these terms, with a lane for each of the worker's threads."""
    with _changing:
        station = _stations.get(asked)
        if station is None:
            kit = _same_kit(asked)
            try:
                station = _stations[asked] = _Station(kit, worker.state.nthreads)
            except (GradeError, OSError) as error:
                raise _Unfit(f"it cannot begin ({error})") from None
            threading.Thread(target=_close_when_idle, args=(asked, station), daemon=True).start()
        station.busy += 1
    try:
        yield station
    finally:
        with _changing:
            station.busy -= 1
            station.used = time.monotonic()


def _close_when_idle(asked: Terms, station: _Station) -> None:
    while True:
        time.sleep(IDLE_SECONDS / 10)
        with _changing:
            if not station.busy and time.monotonic() - station.used > IDLE_SECONDS:
                del _stations[asked]
                break
    station.lanes.close()


def _same_kit(asked: Terms) -> Kit:
    """The kit that is the same as whoever asks has: at the same place, or the installed one."""
    if code() != _LOADED:
        raise _Unfit("the grader's files have changed since it was started; start it again")
    if lacking := [each for each in asked.versions if each not in versions()]:
        others = [each for each in versions() if each not in asked.versions]
        raise _Unfit(
            f"it has {', '.join(others)} and not {', '.join(lacking)}; install the same versions"
        )
    other: dict[str, str] | None = None
    for folder in (asked.kit.root, None):
        with contextlib.suppress(GradeError, OSError):
            kit = kits.find(folder)
            found = files(kit, asked.slugs)
            if digest(found) == asked.digest:
                return replace(kit, name=asked.kit.name, version=asked.kit.version)
            other = other or found
    raise _Unfit(
        f"it has no kit that is the same, neither at {asked.kit.root} nor installed; give it the "
        "same files at the same path, or install the same package there",
        other,
    )


def _name(worker: Any) -> str:
    return f"{worker.name} on {socket.gethostname()}"
