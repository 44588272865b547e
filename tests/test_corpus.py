"""Every file under `solutions/` is graded: a grader is proved by what it gives and what it refuses.

Each file is graded with one of three seeds; `GRADER_ALL_SEEDS=1` grades each with all three. Where
the solutions are not (a learner's kit), there is nothing to prove and the tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits
from grader import problem as problems
from grader import session, submission_file
from grader.report import Report, to_json
from grader.workers import Launcher, launcher

KIT = kits.find()
SEEDS = (1, 20_260, 4_294_967_295)
SLUGS = problems.slugs(KIT)

# What no check may pay for, whatever the problem asks.
WORTHLESS = ("returns_none", "returns_empty", "returns_zeros", "returns_constant",
             "returns_always_equal")  # fmt: skip


def corpus(folder: str) -> list[Any]:
    """The files of one folder of every problem, each with its seed."""
    paths = sorted((KIT.solutions or KIT.root / "solutions").glob(f"*/{folder}/*.py"))
    wanted = [(path, SEEDS[index % len(SEEDS)]) for index, path in enumerate(paths)]
    if os.environ.get("GRADER_ALL_SEEDS"):
        wanted = [(path, seed) for path in paths for seed in SEEDS]
    return [
        pytest.param(path, seed, id=f"{path.parent.parent.name}-{path.stem}-{seed}")
        for path, seed in wanted
    ]


@pytest.fixture(scope="module", name="started")
def _started() -> Iterator[Launcher]:
    started = launcher("auto")
    yield started
    started.close()


@pytest.fixture(name="graded")
def _graded(
    started: Launcher, valid_score: Callable[[str], dict[str, Any]]
) -> Callable[[Path, str, int], Report]:
    """Grades a file in the library its name ends in; its score document is legal."""

    def grade(path: Path, slug: str, seed: int) -> Report:
        problem = problems.load(KIT, slug)
        ending = path.stem.rpartition("_")[2]
        report = session.grade(
            KIT,
            problem,
            submission_file.read(path),
            library=ending if ending in problem.libraries else problem.libraries[0],
            seed=seed,
            started=started,
        )
        valid_score(to_json(report))
        assert {check.id for check in report.checks}, "0 of 0 is no score"
        return report

    return grade


def lost(report: Report) -> dict[str, str | None]:
    """The scored checks that were not earned, with what was said."""
    return {c.id: c.message for c in report.checks if not c.earned and not c.extra}


needs_solutions = pytest.mark.skipif(KIT.solutions is None, reason="this kit has no solutions")


@needs_solutions
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("slug", "library"),
    [(slug, library) for slug in SLUGS for library in problems.load(KIT, slug).libraries],
)
def test_a_reference_has_full_marks_and_every_extra_point(graded, slug, library, seed):
    """The reference earns everything there is, in every library, whatever the seed."""
    path = problems.load(KIT, slug).solution(library)
    report = graded(path, slug, seed)
    assert lost(report) == {}
    assert report.extra.earned == report.extra.max
    assert (report.passed, report.verdict) == (True, "correct")


@pytest.mark.parametrize("path", sorted(KIT.templates.glob("*.py")), ids=lambda path: path.stem)
def test_an_untouched_stub_loads_and_earns_nothing(graded, path):
    """A stub is a file that loads, fails every check and says that it is not written yet."""
    report = graded(path, path.stem.removesuffix("_numpy"), SEEDS[0])
    assert report.load_error is None
    assert (report.score, report.extra.earned) == (0, 0)
    assert all("NotImplementedError" in (check.message or "") for check in report.checks)


@needs_solutions
@pytest.mark.parametrize(("path", "seed"), corpus("right"))
def test_another_right_way_has_full_marks(graded, path, seed):
    """A right file has full marks; only extra credit may be missing."""
    report = graded(path, path.parent.parent.name, seed)
    assert lost(report) == {}
    assert report.verdict == "correct"


@needs_solutions
@pytest.mark.parametrize(("path", "seed"), corpus("wrong"))
def test_a_wrong_submission_loses_points(graded, path, seed):
    """A wrong file is graded, loses points, and gets none at all where it answers nothing."""
    report = graded(path, path.parent.parent.name, seed)
    assert report.score < report.max_score
    assert report.verdict != "correct"
    if path.stem.startswith(WORTHLESS):
        assert (report.score, report.extra.earned) == (0, 0)


@needs_solutions
@pytest.mark.parametrize(("path", "seed"), corpus("stream"))
def test_other_draws_are_told_apart_from_bias(graded, path, seed):
    """A file of the right law with other random numbers loses the points for the draws alone."""
    report = graded(path, path.parent.parent.name, seed)
    assert report.verdict == "lossless_other_draws"
    groups = {c.group for c in report.checks if not c.earned and not c.extra}
    assert groups <= {"draws", "seeded"}
