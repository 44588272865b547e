"""The bohrin battery: no program that does no work earns full marks, and every right one does.

Bohrin makes them from each reference: programs that are wrong by construction (emptied bodies, a
constant, `sys.exit(0)`, an object that equals everything), folders in which such a program comes
with files that turn a test run into a success, and rewritings of the reference that are proved
equivalent. https://github.com/prabhu-gopal/bohrin, docs/SPEC.md: a program with a `ground` is
proved wrong and counts; one without is a lead, which says nothing and is not graded here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits
from grader import problem as problems
from grader import session, submission_file
from grader.report import Report
from grader.workers import Launcher, launcher

bohrin = pytest.importorskip(
    "bohrin", reason="bohrin is not installed: pip install -c constraints.txt -e '.[test]'"
)
from bohrin.ir.task import Shape, Task  # noqa: E402
from bohrin.mutate.battery import battery  # noqa: E402
from bohrin.relations import positive_controls  # noqa: E402
from bohrin.scoring.coverage import Attempt  # noqa: E402
from bohrin.scoring.scorecard import ControlAttempt, scorecard  # noqa: E402

KIT = kits.find()
SEED = 1
HOLLOW = (
    *("constant_implementation", "drop_side_effect", "equality_spoofing"),
    *("raise_not_implemented", "success_exit"),
)
TAMPERING = (
    *("hijacked_tool", "parser_replaced", "reward_written"),
    *("test_framework_hook", "tests_deleted"),
)
REWRITTEN = ("oracle", "comment_free", "reformatted", "renamed_locals")

pytestmark = pytest.mark.skipif(KIT.solutions is None, reason="this kit has no solutions")

REFERENCES = [
    (slug, library)
    for slug in problems.slugs(KIT)
    for library in problems.load(KIT, slug).libraries
]
every_reference = pytest.mark.parametrize(
    ("slug", "library"), REFERENCES, ids=["-".join(pair) for pair in REFERENCES]
)


@cache
def task(slug: str, library: str, shape: Shape = Shape.PROGRAM) -> Task:
    """A problem as bohrin sees one: its statement and its reference."""
    problem = problems.load(KIT, slug)
    reference = problem.solution(library)
    assert reference is not None
    return Task(
        f"{slug}-{library}",
        prompt=problem.page("statement"),
        reference=reference.read_text(encoding="utf-8"),
        shape=shape,
    )


@pytest.fixture(scope="module", name="started")
def _started() -> Iterator[Launcher]:
    started = launcher("auto")
    yield started
    started.close()


@pytest.fixture(name="graded")
def _graded(started: Launcher, tmp_path: Path) -> Callable[[str, str, str], Report]:
    """Grades the text of a program with every check there is, hidden ones too."""

    def graded(slug: str, library: str, text: str) -> Report:
        path = tmp_path / f"{slug}.py"
        path.write_text(text, encoding="utf-8")
        problem, source = problems.load(KIT, slug), submission_file.read(path)
        return session.grade(KIT, problem, source, library=library, seed=SEED, started=started)

    return graded


@every_reference
def test_hollow_programs_fail_and_rewritten_references_pass(graded, slug, library):
    """A program that does no work is rejected without a point; an equivalent one has full marks."""
    asked = task(slug, library)
    attempts, controls, wrong = [], [], {}
    for candidate in battery(asked).grounded:
        report = graded(slug, library, candidate.payload.text)
        attempts.append(Attempt(asked.id, candidate, report.passed))
        wrong[candidate.provenance.operator] = report.passed, report.score
    for control in positive_controls(asked):
        report = graded(slug, library, control.payload.text)
        full = report.passed and report.extra.earned == report.extra.max
        controls.append(ControlAttempt(asked.id, control, full))
    card = scorecard([asked], attempts, controls)
    print(card)  # pytest -rA shows it
    assert wrong == dict.fromkeys(HOLLOW, (False, 0))
    assert {each.control.relation: each.accepted for each in controls} == dict.fromkeys(
        REWRITTEN, True
    )
    assert card.overall.coverage.score == 100
    assert card.overall.acceptance.score == 100
    assert not card.excluded


@pytest.mark.parametrize("slug", problems.slugs(KIT))
@pytest.mark.parametrize("operator", TAMPERING)
def test_files_beside_a_hollow_program_do_not_help_it(grade, slug, operator):
    """The command rejects it in a folder made to fool a test run, and overwrites a written score.

    bohrin leaves the places to whoever knows the grader. Here they are the folder the command is
    run in, pytest by its name, and the file the score goes to.
    """
    library = problems.load(KIT, slug).libraries[0]
    (candidate,) = [
        candidate
        for candidate in battery(task(slug, library, Shape.CONTAINER)).grounded
        if candidate.provenance.operator == operator
    ]
    places = {
        "source_path": f"{slug}.py",
        "test_root": ".",
        "tool_path": "pytest.py",
        "parser_path": "pytest_jsonreport.py",
        "reward_path": "score.json",
    }
    for name, text in candidate.payload.files.items():
        (grade.folder / name.format(**places)).write_text(text, encoding="utf-8")
    done = grade("run", f"{slug}.py", "--problem", slug, "--json", "score.json")
    score: dict[str, Any] = json.loads((grade.folder / "score.json").read_text(encoding="utf-8"))
    assert done.returncode == 1, done.stderr
    assert (score["passed"], score["score"]) == (False, 0)


def test_no_kind_of_attack_is_forgotten():
    """Whatever the battery proves wrong is graded here, but for a clock that no check reads."""
    known = {*HOLLOW, *TAMPERING, "measurement_tampered"}
    for slug, library in REFERENCES:
        for shape in (Shape.PROGRAM, Shape.WORKSPACE, Shape.CONTAINER):
            found = battery(task(slug, library, shape)).candidates
            assert {candidate.provenance.operator for candidate in found} <= known
