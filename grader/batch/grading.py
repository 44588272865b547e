"""A batch: every submission of a class graded, by an engine, into a RESULTS folder.

What was graded before with the same file, problem, grader, seed and isolation is not graded again.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from grader import limits, submission_file
from grader import problem as problems
from grader.batch import handed_in
from grader.batch.handed_in import Submission
from grader.batch.results import Graded, Results, score_name
from grader.batch.row import Row
from grader.batch.terms import terms
from grader.faults import UsageError
from grader.kit import Kit
from grader.lanes import AHEAD, Job, Lanes
from grader.problem import Problem
from grader.report import FaultReport, Isolation, Report
from grader.workers import launcher

# How old results.jsonl and grades.csv may be while a batch runs: seconds, or so many times as long
# as it takes to write them.
TABLES_SECONDS, TABLES_SHARE = 5.0, 30.0

Progress = Callable[[int, int, Counter[str]], None]


class Engine(Protocol):
    """What makes gradings side by side; count: how many at once, which may change."""

    @property
    def count(self) -> int: ...

    def submit(self, job: Job) -> Future[Report | FaultReport]: ...


@dataclass(frozen=True)
class Plan:
    """How a class is graded.

    seed: of the hidden checks, for all of them; that of an earlier run, else drawn, unless given.
    fresh: grade again what was graded before. on_trust: the instructor vouches for every file.
    lanes: of this machine, one a core unless given. scheduler: the address of a Dask scheduler,
    whose workers then grade, and not this machine.
    """

    problem: str | None = None
    library: str = "auto"
    lanes: int | None = None
    seed: int | None = None
    hidden: bool = True
    fresh: bool = False
    on_trust: bool = False
    scheduler: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What a batch came to: rows by status, and how many of them were graded this time."""

    counts: dict[str, int]
    graded: int
    seconds: float


def grade(kit: Kit, place: Path, out: Path, plan: Plan, progress: Progress) -> Outcome:
    """Grades the class at `place` into `out`.

    progress: is told how many submissions are done, of how many, and their rows by outcome.
    Raises UsageError for a place that is no class, for results that cannot be written, where
    submissions would not be kept apart as hidden checks ask for, and for a cluster that is not
    there or would grade otherwise. What was graded until then, and until a KeyboardInterrupt, is
    kept.
    """
    began, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    slugs = problems.slugs(kit)
    if plan.problem is not None and plan.problem not in slugs:
        raise UsageError(f"no problem '{plan.problem}'; there are {', '.join(slugs)}")
    if place.is_dir() and out.resolve().is_relative_to(place.resolve()):
        raise UsageError(f"{out}: inside the class that is graded; choose an --out beside it")
    submissions = [*_light(handed_in.read(place, slugs, plan.problem))]
    results = Results(out)
    try:
        earlier = results.manifest() or {}
        seed = plan.seed if plan.seed is not None else earlier.get("seed")
        if type(seed) is not int or not 0 <= seed < 2**63:
            seed = secrets.randbelow(2**32)
        chosen = {each.problem for each in submissions if each.problem is not None}
        exercises = {slug: problems.load(kit, slug) for slug in sorted(chosen)}
        hidden = plan.hidden and kit.solutions is not None
        if plan.scheduler is None:
            limits.require(max((each.limits.memory for each in exercises.values()), default=0))
        with _engine(kit, [*exercises], plan) as (engine, apart, versions):
            manifest = {
                "kit": {"name": kit.name, "version": kit.version},
                "problems": {slug: _told(each) for slug, each in exercises.items()},
                "seed": seed,
                "hidden": hidden,
                "versions": versions,
                "isolation": asdict(apart),
                "class": place.resolve().name,
                "started_at": started_at,
                "finished_at": None,
                "seconds": None,
                "lanes": engine.count,
                "engine": "local" if plan.scheduler is None else "dask",
            }
            keys = _Keys(kit, exercises, replace(plan, seed=seed, hidden=hidden), apart)
            kept, left = _sorted_out(submissions, results, keys, plan)
            submissions.clear()
            new = len(left)
            results.begin(kept)
            results.write_manifest(manifest)
            done = Counter(row.verdict or row.status for row, _ in kept)
            _grade_all(left, results, engine, done, progress)
        seconds = round(time.monotonic() - began, 3)
        finished = datetime.now(UTC).isoformat(timespec="seconds")
        results.write_manifest(manifest | {"finished_at": finished, "seconds": seconds})
        counts = Counter[str](row.status for row in results.rows())
        return Outcome(dict(counts), new, seconds)
    except sqlite3.Error as error:
        raise UsageError(
            f"{out}: its state.sqlite cannot be used ({error}); remove it, and everything is "
            "graded again"
        ) from None
    finally:
        results.close()


def _sorted_out(
    submissions: list[Submission], results: Results, keys: _Keys, plan: Plan
) -> tuple[list[Graded], list[tuple[Job, Row]]]:
    """What there is no need to grade, since it was or cannot be; and what is left to grade."""
    kept: list[Graded] = []
    left = []
    for each in submissions:
        row = _row(each)
        if each.source is None or each.problem is None:
            kept.append((row, None))
            continue
        job, row = keys.job(each, row)
        known = None if plan.fresh else results.known(row.learner, row.problem, row.key or "")
        if known is None:
            left.append((job, row))
        else:
            kept.append((replace(known[0], file=row.file, reason=row.reason), known[1]))
    return kept, left


def _grade_all(
    left: list[tuple[Job, Row]],
    results: Results,
    engine: Engine,
    done: Counter[str],
    progress: Progress,
) -> None:
    """Makes the gradings. done: rows by outcome, those that are there already among them."""
    total = done.total() + len(left)
    progress(done.total(), total, done)
    waiting: dict[Future[Report | FaultReport], Row] = {}
    tables = time.monotonic() + TABLES_SECONDS
    left.reverse()
    while left:
        job, row = left.pop()  # and with it the text, which nobody needs any more
        waiting[engine.submit(job)] = row
        most = AHEAD * engine.count if left else 0
        while len(waiting) > most:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                graded, report = _finished(waiting.pop(future), future.result())
                results.add(graded, report)
                done[graded.verdict or graded.status] += 1
                progress(done.total(), total, done)
            if time.monotonic() > tables:
                tables = _next_tables(results)


def _next_tables(results: Results) -> float:
    """Writes the tables, and says when next: they take longer with every row, and may not take
    more than a small share of the time."""
    began = time.monotonic()
    results.write_tables()
    ended = time.monotonic()
    return ended + max(TABLES_SECONDS, TABLES_SHARE * (ended - began))


def _light(submissions: Iterator[Submission]) -> Iterator[Submission]:
    """Each submission as it comes; two learners with one text share it in memory."""
    seen: dict[str, Any] = {}
    for each in submissions:
        if each.source is not None:
            shared = seen.setdefault(each.source.sha256, each.source)
            each = replace(each, source=replace(each.source, text=shared.text))
        yield each


def _row(each: Submission) -> Row:
    """The row before anything is graded."""
    return Row(
        learner=each.learner,
        problem=each.problem,
        file=each.file,
        sha256=each.source.sha256 if each.source else None,
        status="fault" if each.status == "ready" else each.status,
        reason=each.reason,
        source_group=handed_in.source_group(each.source.text) if each.source else None,
    )


def _finished(row: Row, report: Report | FaultReport) -> tuple[Row, Report | FaultReport]:
    name = score_name(row.learner, row.problem or "")
    if isinstance(report, FaultReport):
        return replace(row, status="fault", reason=report.message, score_file=name), report
    return replace(
        row,
        status="graded",
        score=report.score,
        max_score=report.max_score,
        extra=report.extra.earned if report.extra.max else None,
        verdict=report.verdict,
        likely_cause=report.likely_cause.sentence if report.likely_cause else None,
        seconds=report.seconds,
        score_file=name,
    ), report


class _Keys:
    """What the result of a grading depends on, besides the submission, once for every library."""

    def __init__(
        self, kit: Kit, exercises: dict[str, Problem], plan: Plan, apart: Isolation
    ) -> None:
        self._kit = kit
        self._exercises = exercises
        self._plan = plan
        self._apart = apart
        self._known: dict[tuple[str, str], str] = {}

    def job(self, each: Submission, row: Row) -> tuple[Job, Row]:
        """The grading to make, and the row with its key."""
        assert each.source is not None
        assert each.problem is not None
        exercise = self._exercises[each.problem]
        library = submission_file.chosen_library(
            self._plan.library, each.source, each.problem, exercise.libraries
        )
        assert self._plan.seed is not None
        job = Job(
            each.problem,
            each.source,
            library,
            self._plan.seed,
            hidden=self._plan.hidden,
            on_trust=self._plan.on_trust,
        )
        facts = [self._besides(exercise, library), each.source.sha256, each.source.name]
        return job, replace(row, key=hashlib.sha256(json.dumps(facts).encode()).hexdigest())

    def _besides(self, exercise: Problem, library: str) -> str:
        known = self._known.get((exercise.slug, library))
        if known is None:
            these = terms(self._kit, [exercise.slug])
            kit = [these.kit.name, these.kit.version, these.digest, *these.versions]
            hidden = self._plan.hidden and exercise.hidden is not None
            known = json.dumps([*kit, library, hidden, self._plan.seed, *self._apart.layers])
            self._known[exercise.slug, library] = known
        return known


@contextmanager
def _engine(
    kit: Kit, slugs: list[str], plan: Plan
) -> Iterator[tuple[Engine, Isolation, dict[str, Any]]]:
    """What grades, how far it keeps submissions apart, and what they run on."""
    if plan.scheduler is None:
        apart, versions = survey()
        with Lanes(kit, plan.lanes) as lanes:
            yield lanes, _enough(apart, plan), versions
        return
    try:
        from grader.batch.cluster import Cluster
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("grader"):
            raise
        raise UsageError(
            f"--engine dask needs a package that is not installed ({error.name}): "
            'pip install "speculative-exercises[cluster]"'
        ) from None
    with Cluster(kit, slugs, plan.scheduler) as cluster:
        yield cluster, _enough(cluster.apart, plan), cluster.versions


def survey() -> tuple[Isolation, dict[str, Any]]:
    """How far submissions are kept apart on this machine, proved, and what they run on."""
    started = launcher("auto")
    try:
        apart, found = started.isolation(), started.versions()
        return apart, {name: found[name] for name in ("python", "torch", "numpy", "platform")}
    finally:
        started.close()


def _enough(apart: Isolation, plan: Plan) -> Isolation:
    """What keeps submissions apart, unless that is less than a class needs (UsageError)."""
    if apart.level != "process":
        return apart
    if not plan.on_trust:
        raise UsageError(
            "isolation here is no more than a process of its own "
            f"({'; '.join(apart.missing)}), and a class hands in files that nobody vouches "
            "for; say --i-trust-these-files if you vouch for all of them"
        )
    return replace(apart, on_trust=True)


def _told(exercise: Problem) -> dict[str, Any]:
    return {
        "title": exercise.title,
        "points": {library: asdict(points) for library, points in exercise.points.items()},
    }
