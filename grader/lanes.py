"""Gradings side by side: processes that grade one file after another, each with its own workers.

A lane keeps its launcher between gradings, so that PyTorch is imported once a lane. It is a new
interpreter (`python -m grader.lane`), started and served by a thread of this process. A lane that
dies is replaced and its file graded once more; if that dies as well, it is a fault of the kit, and
the other files are graded all the same.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from types import TracebackType

from grader.clean import clean
from grader.faults import UsageError
from grader.kit import Kit
from grader.report import FaultReport, Report
from grader.report import Kit as KitTold
from grader.submission_file import SubmissionSource

TRIES = 2
_DIED = "the process that graded this file died, twice; this is a fault of the grader"
_CLOSED = "the lanes were closed before this was graded"
AHEAD = 2  # files that wait for each lane, so that none waits for a file


@dataclass(frozen=True)
class Job:
    """One grading to make; the parameters are those of `grader.session.grade`."""

    slug: str
    source: SubmissionSource
    library: str
    seed: int
    device: str = "cpu"
    hidden: bool = True
    on_trust: bool = False


class Lanes:
    """So many lanes. Used as a context manager; may be used by many threads at once."""

    def __init__(self, kit: Kit, lanes: int | None = None) -> None:
        if lanes is not None and lanes < 1:
            raise UsageError(f"{lanes} lanes: there has to be one at least")
        self._kit = kit
        self._jobs: queue.SimpleQueue[tuple[Job, Future[Report | FaultReport]] | None]
        self._jobs = queue.SimpleQueue()
        self._running: set[_Lane] = set()
        self._closing = False
        self._submitting = threading.Lock()  # nothing is submitted once closing has begun
        self.count = lanes or cores()
        self._threads = [
            threading.Thread(target=self._serve, daemon=True) for _ in range(self.count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> Future[Report | FaultReport]:
        """Makes a grading when a lane is free. Its result is a report, or what the kit got wrong;
        it raises UsageError where the request cannot be met, and where the lanes are closed before
        it is made."""
        future: Future[Report | FaultReport] = Future()
        with self._submitting:
            if self._closing:
                raise UsageError(_CLOSED)
            self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """Ends every lane, in the middle of a grading if need be; whoever waits is told."""
        with self._submitting:
            self._closing = True
        for _ in self._threads:
            self._jobs.put(None)
        for lane in [*self._running]:
            lane.kill()
        for thread in self._threads:
            thread.join()
        with contextlib.suppress(queue.Empty):
            while True:
                if (taken := self._jobs.get_nowait()) is not None:
                    taken[1].set_exception(UsageError(_CLOSED))

    def __enter__(self) -> Lanes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _serve(self) -> None:
        """One lane's life, and that of those that replace it."""
        lane: _Lane | None = None
        while (taken := self._jobs.get()) is not None:
            job, future = taken
            if not future.set_running_or_notify_cancel():
                continue
            try:
                for _ in range(TRIES):
                    if self._closing:
                        raise UsageError(_CLOSED)
                    try:
                        lane = lane or self._opened()
                        future.set_result(lane.grade(job))
                        break
                    except (EOFError, ConnectionError):
                        self._end(lane)
                        lane = None
                else:
                    future.set_result(fault(self._kit, job, _DIED))
            except UsageError as error:
                future.set_exception(error)
            except BaseException as error:  # whoever waits for this file must not wait for ever
                self._end(lane)
                lane = None
                future.set_result(fault(self._kit, job, f"a lane failed: {error}"))
        self._end(lane)

    def _opened(self) -> _Lane:
        lane = _Lane(self._kit)
        self._running.add(lane)
        if self._closing:  # since this was looked at last, and maybe too late for `close` to see it
            self._end(lane)
            raise UsageError(_CLOSED)
        return lane

    def _end(self, lane: _Lane | None) -> None:
        if lane is not None:
            self._running.discard(lane)
            lane.close()


class _Lane:
    """A lane's process, as whoever serves it knows it."""

    def __init__(self, kit: Kit) -> None:
        ours, theirs = socket.socketpair()
        words = ["-m", "grader.lane", str(theirs.fileno())]
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", *words],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl-C is for whoever asked for it
                )
        except BaseException:
            ours.close()
            raise
        self._connection = Connection(ours.detach())
        self._kit: Kit | None = kit  # until it is sent

    def grade(self, job: Job) -> Report | FaultReport:
        """One grading. EOFError or ConnectionError where the lane has died."""
        if self._kit is not None:
            self._connection.send(self._kit)
            self._kit = None
        self._connection.send(job)
        answer = self._connection.recv()
        if isinstance(answer, UsageError):
            raise answer
        assert isinstance(answer, Report | FaultReport)
        return answer

    def kill(self) -> None:
        """Ends the process, and with it its workers; whoever serves the lane then sees it dead."""
        self._process.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """Ends the process and gives back what belongs to it."""
        self.kill()
        self._process.wait()
        self._connection.close()


def grade_all(
    kit: Kit, jobs: Iterable[Job], lanes: int | None = None
) -> Iterator[tuple[int, Report | FaultReport]]:
    """Grades the kit's own files, which are vouched for whatever the jobs say.

    Gives the place in `jobs` and what came out, in the order of completion. lanes: processes; one a
    core unless given. `jobs` is read no further ahead than the lanes need.
    """
    numbered = enumerate(replace(job, on_trust=True) for job in jobs)
    first = next(numbered, None)
    if first is None:
        return
    with Lanes(kit, lanes) as running:
        waiting = {running.submit(first[1]): first[0]}
        while waiting:
            for place, job in numbered:
                waiting[running.submit(job)] = place
                if len(waiting) >= AHEAD * running.count:
                    break
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(done), done.result()


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fault(kit: Kit, job: Job, message: str, check: str | None = None) -> FaultReport:
    """What the kit got wrong with a job."""
    return FaultReport(
        kit=KitTold(kit.name, kit.version),
        problem=job.slug,
        message=clean(message.replace(f"{kit.root}{os.sep}", "")),
        check=check,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
