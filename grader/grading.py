"""Everything one grading holds while it runs: the problem, the file, and the workers it opened.

Used as a context manager, so that no worker outlives the grading.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from grader.faults import KitFault, UsageError
from grader.kit import Kit
from grader.memory import Memory
from grader.problem import Problem
from grader.report import Isolation, Output
from grader.submission import Clock, Helper, Submission, Trusted
from grader.workers import Fresh, Launcher


@dataclass(frozen=True)
class Request:
    """What is to be graded, and how.

    device: "cpu", or "cuda" to run the device checks on CUDA. seed: of the hidden checks.
    """

    kit: Kit
    problem: Problem
    source: bytes
    library: str
    device: str
    seed: int
    hidden: bool


class Grading:
    """The workers of one grading. The submission's main worker is opened at first use."""

    def __init__(self, request: Request, launcher: Launcher, memory: Memory | None = None) -> None:
        """memory: of a process that grades many submissions with these checks."""
        self.request = request
        self.memory = memory
        self._launcher = launcher
        self._clock = Clock(request.problem.limits.submission)
        self._cuda: Launcher | None = None
        self._opened: dict[str, Any] = {}
        self._running: list[Submission] = []
        self._closing = ExitStack()

    def __enter__(self) -> Grading:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._kill_all()
        self._closing.close()

    def prepare(self, asked: set[str]) -> None:
        """Starts the workers that checks will ask for by these fixture names, side by side.

        They load what they need while the first checks run.
        """
        if "submission" not in asked:
            return
        problem = self.request.problem
        self.submission.prepare()
        # What the kit's own code would be asked, a desk knows already.
        if self.memory is None or not self.memory.answers:
            if "draws" in asked and problem.draws is not None:
                self.draws.prepare()
            if "reference" in asked and problem.solution(self.request.library) is not None:
                self.reference().prepare()
        if "accelerator" in asked:
            self.submission_on(self.accelerator).prepare()

    @property
    def submission(self) -> Submission:
        """The submission in the worker that checks share."""
        return self.submission_on("")

    def submission_on(self, accelerator: str) -> Submission:
        """The submission in the worker that the checks on an accelerator share ("": on none)."""
        key = f"submission on {accelerator or 'cpu'}"
        if key not in self._opened:
            self._opened[key] = self.open_submission(accelerator)
        found: Submission = self._opened[key]
        return found

    def open_submission(self, accelerator: str = "") -> Submission:
        """The submission in a worker of its own, for a check that wants no history."""
        problem = self.request.problem
        opened = Submission(
            self._launcher_for(accelerator),
            self.request.source,
            [problem.entry],
            problem.parameters,
            problem.limits,
            accelerator=accelerator,
            clock=self._clock,
            memory=self.memory,
        )
        self._will_close(opened)
        return opened

    def reference(self, accelerator: str = "") -> Trusted:
        """The reference in a worker of its own; KitFault where this kit has no solutions."""
        problem = self.request.problem
        path = problem.solution(self.request.library)
        if path is None:
            raise KitFault(f"{problem.slug}: a check asks for the reference, which is not here")
        return self._trusted(
            f"reference {path.name}", path.read_bytes(), [problem.entry], accelerator
        )

    @property
    def draws(self) -> Helper:
        """The problem's trusted draws in their own worker; KitFault where there is no draws.py."""
        problem = self.request.problem
        if problem.draws is None:
            raise KitFault(f"problems/{problem.slug}/draws.py: a check asks for it; write it")
        helper = self._trusted("helper draws.py", problem.draws.read_bytes(), [])
        assert isinstance(helper, Helper)
        return helper

    def require_device(self) -> None:
        """UsageError where the device that was asked for is not here."""
        if self.request.device == "cuda":
            reason = self.submission_on("cuda").unavailable()
            if reason:
                raise UsageError(f"--device cuda: {reason}; leave --device out")

    @property
    def accelerator(self) -> str:
        """What device checks run on: "sim" or "cuda"."""
        return "cuda" if self.request.device == "cuda" else "sim"

    def isolation(self) -> Isolation:
        """What keeps the submission apart, proved; on CUDA some of its workers are less so."""
        if self.request.device == "cuda":
            return self._launcher_for("cuda").isolation()
        return self._launcher.isolation()

    def versions(self) -> dict[str, Any]:
        """What the submission runs on."""
        return self._launcher.versions()

    def watch(self, rng: random.Random | None) -> None:
        """From now on a check draws its inputs from `rng`, or from nothing."""
        if self.memory is not None:
            self.memory.rng = rng

    def stop_telling(self) -> None:
        """From now on nothing that the submission prints is told: hidden checks begin."""
        self.submission.stop_telling()

    def output(self) -> Output:
        """What the submission printed in its shared worker. This ends all workers."""
        self._kill_all()
        return self.submission.close()

    def _kill_all(self) -> None:
        """Kills every worker before any is waited for, so that they end side by side."""
        for running in self._running:
            running.retire()

    def _will_close(self, opened: Submission) -> None:
        self._running.append(opened)
        self._closing.callback(opened.close)

    def _trusted(
        self, what: str, source: bytes, entries: list[str], accelerator: str = ""
    ) -> Trusted:
        """Source of the kit's own, opened once for each place it runs in."""
        key = f"{what} on {accelerator or 'cpu'}"
        if key not in self._opened:
            problem = self.request.problem
            opened = Submission(
                self._launcher_for(accelerator),
                source,
                entries,
                problem.parameters,
                problem.limits,
                accelerator=accelerator,
            )
            self._will_close(opened)
            kind = Trusted if entries else Helper
            self._opened[key] = kind(f"{problem.slug}: the {what}", opened, self.memory)
        found: Trusted = self._opened[key]
        return found

    def _launcher_for(self, accelerator: str) -> Launcher:
        if accelerator != "cuda":
            return self._launcher
        if self._cuda is None:
            self._cuda = Fresh("cuda")
            self._closing.callback(self._cuda.close)
        return self._cuda
