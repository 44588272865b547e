"""One grading, from a file's text to a Report.

The submission is never imported here: it runs in a worker. Before it is judged, the reference has
passed every check in the same environment; if it has not, nobody is given a score.
"""

from __future__ import annotations

import contextlib
import secrets
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from grader.faults import KitFault, UsageError
from grader.isolation import closed_memory
from grader.kit import Kit
from grader.problem import Problem
from grader.report import Isolation, Report, SubmissionFile
from grader.submission_file import SubmissionSource
from grader.workers import Launcher, Mode, launcher

if TYPE_CHECKING:
    from grader.grading import Request


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
    if library not in problem.libraries:
        offered = ", ".join(problem.libraries)
        raise UsageError(f"problem '{problem.slug}' is not offered in {library}, only in {offered}")
    if sys.flags.optimize:
        raise UsageError("checks need Python's assertions and docstrings: unset PYTHONOPTIMIZE")
    began, started_at = time.monotonic(), datetime.now(UTC)
    with contextlib.ExitStack() as stack:
        if started is None:
            started = launcher(workers)
            stack.callback(started.close)
        # pytest and numpy are imported here, while the worker process imports PyTorch.
        from grader import checkrun, diagnosis, score
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
            _prove(request, started, apart)
            records = checkrun.run(grading)
            results = score.checks(records)
            load_error = grading.submission.load_failure
            cause = None
            if load_error is None:
                cause = diagnosis.explain(grading, results, score.failures(records))
            output = grading.output()
        return score.report(
            problem=problem,
            request=request,
            submission=SubmissionFile(source.name, source.sha256, source.size),
            checks=results,
            records=records,
            load_error=load_error,
            likely_cause=cause,
            output=output,
            versions=started.versions(),
            isolation=apart,
            started_at=started_at,
            seconds=time.monotonic() - began,
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


def _prove(request: Request, started: Launcher, apart: Isolation) -> None:
    """Runs the reference through every check first, once per kit and environment."""
    from grader import checkrun, proof, score
    from grader.grading import Grading

    path = request.problem.solution(request.library)
    if path is None:
        return
    key = proof.key(request, apart.layers)
    if proof.known(key):
        return
    with Grading(replace(request, source=path.read_bytes()), started) as grading:
        results = score.checks(checkrun.run(grading))
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
