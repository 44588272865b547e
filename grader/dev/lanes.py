"""Gradings side by side: processes that grade one file after another, each with its own workers.

A lane keeps its launcher between gradings, so that PyTorch is imported once a lane. A lane that
dies takes the whole run with it: this is for the kit's own files, which nobody has to defend
against.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.faults import KitFault
from grader.kit import Kit
from grader.report import FaultReport, Report

if TYPE_CHECKING:
    from grader.submission_file import SubmissionSource
    from grader.workers import Launcher


@dataclass(frozen=True)
class Job:
    """One grading to make."""

    slug: str
    source: SubmissionSource
    library: str
    seed: int
    device: str = "cpu"


def grade_all(
    kit: Kit, jobs: Sequence[Job], lanes: int | None = None
) -> Iterator[tuple[int, Report | FaultReport]]:
    """Makes every grading; its place in `jobs` and what came out, in the order of completion.

    lanes: processes; one a core unless given. A kit that is at fault comes out as a FaultReport.
    Raises KitFault where a lane itself dies.
    """
    if not jobs:
        return
    lanes = min(lanes or cores(), len(jobs))
    # A new interpreter for each lane: forking one that has threads is not safe.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(lanes, context, _open_lane, (kit, os.getpid())) as pool:
        waiting: dict[Future[Report | FaultReport], int] = {
            pool.submit(_grade, job): place for place, job in enumerate(jobs)
        }
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BrokenProcessPool:
            raise KitFault(
                "a process that was grading died; this is a fault of the grader"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---- inside a lane

_kit: Kit | None = None
_launcher: Launcher | None = None


def _open_lane(kit: Kit, parent: int) -> None:
    global _kit, _launcher
    from grader.workers import launcher

    _kit, _launcher = kit, launcher("auto")
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Ends this lane once whoever asked for it is gone: nobody else would."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _grade(job: Job) -> Report | FaultReport:
    from datetime import UTC, datetime

    from grader import problem, session
    from grader import report as reports

    kit = _kit
    assert kit is not None
    try:
        return session.grade(
            kit,
            problem.load(kit, job.slug),
            job.source,
            library=job.library,
            device=job.device,
            seed=job.seed,
            started=_launcher,
            on_trust=True,  # the kit's own files
        )
    except KitFault as fault:
        return FaultReport(
            kit=reports.Kit(kit.name, kit.version),
            problem=job.slug,
            message=str(fault),
            check=fault.check,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
