"""A desk: a process that has collected a problem's checks once, and judges many submissions.

What depends on the kit alone is done before: pytest is configured, the check files are imported,
the reference has passed every check with the seed that is graded with, and what it taught is kept
(`grader.memory`); nothing that a submission does is. Not forked for every submission: the copies of
what Python touches would cost more than the checks. The workers are forked by the lane's launcher,
which all of its desks share.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from collections.abc import Callable
from multiprocessing import connection as connections
from multiprocessing.connection import Connection, Pipe

from grader import checkrun, problem, session
from grader.faults import KitFault, UsageError
from grader.grading import Grading, Request
from grader.isolation import closed_memory
from grader.kit import Kit
from grader.lanes import Job, fault
from grader.memory import Memory
from grader.problem import Problem
from grader.report import FaultReport, Isolation, Report
from grader.worker.lifeline import die_with_parent
from grader.workers import Launcher

Answer = Report | FaultReport | UsageError


class Died(Exception):
    """A desk's process has ended in the middle of a grading."""


class Desk:
    """A desk, as the lane that started it knows it."""

    def __init__(self, kit: Kit, first: Job, started: Launcher, asker: Connection) -> None:
        """first: a job like those to come. asker: where the lane gets its jobs from."""
        self.seed = first.seed
        self._connection, theirs = Pipe()
        self._asker = asker
        lane = os.getpid()
        gc.freeze()
        self._pid = os.fork()
        if self._pid == 0:
            asker.close()
            self._connection.close()
            die_with_parent(lane)
            try:
                _Clerk(kit, first, started, theirs).work()
            finally:
                os._exit(1)
        theirs.close()

    def grade(self, job: Job) -> Answer:
        """The answer to a job. Raises Died, and EOFError where whoever asked is gone."""
        try:
            self._connection.send(job)
            # A lane is asked one thing at a time: whatever comes from there now is its end.
            if self._asker in connections.wait([self._connection, self._asker]):
                raise EOFError
            answer: Answer = self._connection.recv()
        except (EOFError, ConnectionError):
            if self._asker.poll():
                raise EOFError from None
            raise Died from None
        return answer

    def close(self) -> None:
        """Ends the process."""
        self._connection.close()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


class _Clerk:
    """Who works at a desk."""

    def __init__(self, kit: Kit, first: Job, started: Launcher, connection: Connection) -> None:
        self._kit = kit
        self._problem: Problem
        self._started = started
        self._connection = connection
        self._memory = Memory()
        self._job = first

    def work(self) -> None:
        """Grades until nobody asks any more."""
        with contextlib.suppress(EOFError):
            self._job = self._connection.recv()
            try:
                self._problem = problem.load(self._kit, self._job.slug)
                session.require_checkable(self._problem, self._job.library)
                checkrun.park(Grading(self._request(), self._started), self._serve)
            except Exception as error:
                self._refuse(error)

    def _serve(self, run: checkrun.Run) -> None:
        """Judges one submission after another, once the reference has passed the checks."""
        try:
            self._get_ready(run)
        except Exception as error:
            self._refuse(error)
        else:
            self._answer_all(lambda: self._answer(run))

    def _refuse(self, error: Exception) -> None:
        """Tells everybody: it has nothing to do with a submission."""
        self._answer_all(lambda: self._told(error))

    def _answer_all(self, answer: Callable[[], Answer]) -> None:
        """Answers the job that is there and all that follow."""
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                self._connection.send(answer())
                self._job = self._connection.recv()

    def _get_ready(self, run: checkrun.Run) -> None:
        with contextlib.ExitStack() as stack, Grading(self._request(), self._started) as grading:
            apart = self._enter(grading, stack)
            session.prove(grading.request, self._started, apart, self._memory, run)
        self._memory.close()
        gc.collect()
        gc.freeze()  # what is kept need not be looked through after every submission

    def _answer(self, run: checkrun.Run) -> Answer:
        try:
            return self._judged(run)
        except Exception as error:
            return self._told(error)

    def _judged(self, run: checkrun.Run) -> Report:
        began = session.Began.now()
        with (
            contextlib.ExitStack() as stack,
            Grading(self._request(), self._started, self._memory) as grading,
        ):
            apart = self._enter(grading, stack)
            return session.judged(grading, self._job.source, run(grading), apart, began)

    def _enter(self, grading: Grading, stack: contextlib.ExitStack) -> Isolation:
        """How far the submission is kept apart; UsageError where that is not enough."""
        grading.require_device()
        apart = session.require_level(
            grading.isolation(),
            asked=False,
            hidden=grading.request.hidden,
            on_trust=self._job.on_trust,
        )
        if apart.level == "process":
            stack.enter_context(closed_memory())
        return apart

    def _request(self) -> Request:
        job = self._job
        return Request(
            kit=self._kit,
            problem=self._problem,
            source=job.source.text.encode(),
            library=job.library,
            device=job.device,
            seed=job.seed,
            hidden=job.hidden and self._problem.hidden is not None,
        )

    def _told(self, error: Exception) -> Answer:
        if isinstance(error, UsageError):
            return error
        if isinstance(error, KitFault):
            return fault(self._kit, self._job, str(error), error.check)
        crash = f"the grader itself crashed ({type(error).__name__}: {error})"
        return fault(self._kit, self._job, crash)
