"""One lane: `python -P -m grader.lane CONNECTION_FD`, started by `grader.lanes` alone.

Receives the kit, then one `Job` after another, and answers each with its report, with what the kit
got wrong, or with the UsageError that prevents it. It holds the launcher, and a desk for each kind
of job that came lately. Ends when the connection does, also in the middle of a grading.
"""

from __future__ import annotations

import sys
import time
from multiprocessing.connection import Connection

from grader.desk import Answer, Desk, Died
from grader.faults import KitFault
from grader.kit import Kit
from grader.lanes import Job, fault
from grader.report import FaultReport
from grader.workers import Launcher, launcher

ENDING_SECONDS = 0.2
DESKS = 4  # each takes some 40 MB; a class is rarely about more problems at once

Kind = tuple[str, str, str, bool, bool]


def main() -> None:
    """Grades until nobody asks any more."""
    connection = Connection(int(sys.argv[1]))
    try:
        lane = Lane(connection.recv(), connection)
        while True:
            connection.send(lane.answer(connection.recv()))
    except (EOFError, ConnectionError, Died):
        sys.exit()  # whoever asked is gone, or sees that this lane is


class Lane:
    """A launcher and its desks."""

    def __init__(self, kit: Kit, connection: Connection) -> None:
        self._kit = kit
        self._connection = connection
        self._started = _launched()
        self._desks: dict[Kind, Desk] = {}
        self._seeds: dict[Kind, int] = {}

    def answer(self, job: Job) -> Answer:
        """The answer to a job. EOFError where nobody waits for it any more, Died where a desk has
        ended in the middle of it."""
        found = self._tried(job)
        # Whatever ended the launcher, a submission or the system: the next one has nothing to do
        # with it, and this one is tried once more.
        if isinstance(found, FaultReport) and self._has_ended():
            self._renew()
            found = self._tried(job)
        return found

    def _tried(self, job: Job) -> Answer:
        try:
            # Waited for here, once, and known to every desk.
            self._started.isolation()
            self._started.versions()
        except KitFault as error:
            return fault(self._kit, job, str(error), error.check)
        return self._desk(job).grade(job)

    def _has_ended(self) -> bool:
        """Whether the launcher cannot make workers any more; one that is ending is waited for."""
        end = time.monotonic() + ENDING_SECONDS
        while self._started.alive() and time.monotonic() < end:
            time.sleep(0.01)
        return not self._started.alive()

    def _desk(self, job: Job) -> Desk:
        kind = (job.slug, job.library, job.device, job.hidden, job.on_trust)
        desk = self._desks.pop(kind, None)
        # A desk is ready for one seed. Another is drawn for one job, or used for many from now on.
        if desk is not None and job.seed != desk.seed and job.seed == self._seeds.get(kind):
            desk.close()
            desk = None
        if desk is None:
            desk = Desk(self._kit, job, self._started, self._connection)
        self._desks[kind] = desk  # the last used is the last
        self._seeds[kind] = job.seed
        if len(self._desks) > DESKS:
            self._desks.pop(next(iter(self._desks))).close()
        return desk

    def _renew(self) -> None:
        for desk in self._desks.values():
            desk.close()
        self._desks.clear()
        self._started.close()
        self._started = _launched()


def _launched() -> Launcher:
    started = launcher("auto")
    started.last_long()
    return started


if __name__ == "__main__":
    main()
