"""One grading, from a file's text to a Report.

The submission is never imported here: it runs in a worker. Before it is judged, the reference has
passed every check in the same environment; if it has not, nobody is given a score.
"""

from __future__ import annotations

import contextlib
import secrets
import sys
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from grader.faults import KitFault, UsageError
from grader.isolation import closed_memory
from grader.kit import Kit
from grader.problem import Problem
from grader.report import Isolation, Report, SubmissionFile
from grader.submission_file import SubmissionSource
from grader.workers import Launcher, Mode, launcher

if TYPE_CHECKING:
    from grader.checkrun import Run
    from grader.grading import Grading, Request
    from grader.memory import Memory


def grade(
    kit: Kit,
    problem: Problem,
    source: SubmissionSource,
    *,
    library: str,
    device: str = "cpu",
    seed: int | None = None,
    hidden: bool = True,
    workers: Mode = "auto",
    started: Launcher | None = None,
    require_isolation: bool = False,
    on_trust: bool = False,
) -> Report:
    """Grades one submission.

    device: "cpu", or "cuda" to run the device checks on CUDA. seed: of the hidden checks; drawn
    where it is None. hidden: run the hidden checks if the kit has them. started: a launcher that
    the caller made earlier and closes later. require_isolation: refuse level `process`, as hidden
    checks always do unless the file is graded `on_trust`: what it could then read or do is known,
    and accepted.

    Raises KitFault where the kit, not the submission, is wrong; UsageError for a library that the
    problem does not offer, for a device that is not here, and for a submission that would
    not be kept apart as far as is asked for.
    """
    began = Began.now()
    require_checkable(problem, library)
    with contextlib.ExitStack() as stack:
        if started is None:
            started = launcher(workers)
            stack.callback(started.close)
        # pytest and numpy are imported here, while the worker process imports PyTorch.
        from grader import checkrun
        from grader.grading import Grading, Request

        hidden = hidden and problem.hidden is not None
        request = Request(
            kit=kit,
            problem=problem,
            source=source.text.encode(),
            library=library,
            device=device,
            seed=secrets.randbelow(2**32) if seed is None else seed,
            hidden=hidden,
        )
        with Grading(request, started) as grading:
            grading.require_device()
            apart = require_level(
                grading.isolation(), asked=require_isolation, hidden=hidden, on_trust=on_trust
            )
            if apart.level == "process":
                stack.enter_context(closed_memory())
            # Nothing waits for PyTorch until the first check calls the submission.
            prove(request, started, apart)
            return judged(grading, source, checkrun.run(grading), apart, began)


@dataclass(frozen=True)
class Began:
    """When a grading began, by both clocks."""

    monotonic: float
    utc: datetime

    @classmethod
    def now(cls) -> Began:
        return cls(time.monotonic(), datetime.now(UTC))


def require_checkable(problem: Problem, library: str) -> None:
    """UsageError where the problem's checks cannot be run, whatever the submission."""
    if library not in problem.libraries:
        offered = ", ".join(problem.libraries)
        raise UsageError(f"problem '{problem.slug}' is not offered in {library}, only in {offered}")
    if sys.flags.optimize:
        raise UsageError("checks need Python's assertions and docstrings: unset PYTHONOPTIMIZE")


def judged(
    grading: Grading,
    source: SubmissionSource,
    records: list[dict[str, Any]],
    apart: Isolation,
    began: Began,
) -> Report:
    """The report on a submission whose checks have run. This ends its workers."""
    from grader import diagnosis, score

    results = score.checks(records)
    load_error = grading.submission.load_failure
    cause = None
    if load_error is None:
        cause = diagnosis.explain(grading, results, score.failures(records))
    return score.report(
        problem=grading.request.problem,
        request=grading.request,
        submission=SubmissionFile(source.name, source.sha256, source.size),
        checks=results,
        records=records,
        load_error=load_error,
        likely_cause=cause,
        output=grading.output(),
        versions=grading.versions(),
        isolation=apart,
        started_at=began.utc,
        seconds=time.monotonic() - began.monotonic,
    )


def require_level(apart: Isolation, *, asked: bool, hidden: bool, on_trust: bool) -> Isolation:
    """What keeps a submission apart, unless that is less than its grading needs (UsageError)."""
    if apart.level != "process":
        return apart
    lacks = f"isolation here is no more than a process of its own ({'; '.join(apart.missing)})"
    if asked:
        raise UsageError(f"{lacks}, and --require-isolation asks for more")
    if hidden and not on_trust:
        raise UsageError(
            f"{lacks}, and there are hidden checks, which a submission could read together with "
            "the solutions; say --no-hidden, or --i-trust-this-file if you vouch for it"
        )
    return replace(apart, on_trust=hidden)


def prove(
    request: Request,
    started: Launcher,
    apart: Isolation,
    memory: Memory | None = None,
    run: Run | None = None,
) -> None:
    """Runs the reference through every check first, once per kit and environment.

    memory: what is to learn from it, upon which it runs even if it has passed before. run: what
    runs the checks, unless it is a pytest of its own. KitFault where the reference does not pass;
    nothing happens where this kit has none.
    """
    from grader import checkrun, proof, score
    from grader.grading import Grading

    path = request.problem.solution(request.library)
    if path is None:
        return
    key = proof.key(request, apart.layers)
    if memory is None and proof.known(key):
        return
    with Grading(replace(request, source=path.read_bytes()), started, memory) as grading:
        results = score.checks((run or checkrun.run)(grading))
        broken = grading.submission.load_failure
    if broken is not None:
        where = f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
        raise KitFault(f"the reference {where} does not load: {broken.message}")
    for check in results:
        if check.outcome != "passed" and not score.no_device(check):
            raise KitFault(
                f"the reference {path.parent.parent.name}/{path.parent.name}/{path.name} fails the "
                f"check {check.id}, so nothing can be graded: {check.message}",
                check.id,
            )
    proof.remember(key)
