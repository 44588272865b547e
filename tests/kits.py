"""A tiny kit on disk and its gradings: one problem, three checks, limits of a second."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema

from grader import kit, problem, session, submission_file
from grader.report import FaultReport, Report, to_json
from grader.workers import Launcher

SCHEMA = json.loads(
    (Path(__file__).parent.parent / "grader/schema/score-v1.json").read_text(encoding="utf-8")
)
_VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
_NUMBERS = itertools.count()

TOML = """\
format = 1
title = "The next number"
summary = "Add one."
entry = "plus_one"
parameters = ["number"]
libraries = ["torch"]
sampled = false
hints = ["Add one."]

[limits]
load = 3
call = 1
submission = 10
memory = 512

[points]
torch = { public = 7, hidden = 0, extra = 0 }

[[examples]]
title = "Two follows one"
args = [1]
returns = 2
"""

CHECKS = '''\
"""Three checks: what a submission earned before number 13, on it, and after it."""

import pytest

from grader.expect import exactly
from grader.submission import Case


@pytest.mark.points(4, group="values")
def test_before(submission):
    """Two follows one."""
    assert submission(1) == exactly(2)


@pytest.mark.points(2, group="values")
@pytest.mark.hint("Thirteen is a number like any other.")
def test_thirteen(submission):
    """Fourteen follows thirteen."""
    submission.check([Case((13,), exactly(14))])


@pytest.mark.points(1, group="values")
def test_after(submission):
    """Three follows two."""
    assert submission(2) == exactly(3)
'''

RIGHT = "def plus_one(number):\n    return number + 1\n"

HIDDEN = '''\
import pytest

from grader.expect import exactly


@pytest.mark.points(3, group="values")
def test_any_number(submission, reference, rng):
    """One more than any number follows it."""
    number = rng.randrange(1000)
    assert submission(number) == exactly(reference(number))
'''


@dataclass(frozen=True)
class TinyKit:
    """One problem on disk. Every kit has a slug of its own: Python imports a check file once."""

    root: Path
    slug: str

    @property
    def checks(self) -> Path:
        return self.root / "problems" / self.slug / "checks.py"

    @property
    def problem(self) -> problem.Problem:
        return problem.load(kit.find(self.root), self.slug)

    def grade(self, file: Path, started: Launcher, **how: Any) -> Report:
        """The report on a file; it is a legal score document, or this fails."""
        report = session.grade(
            kit.find(self.root),
            self.problem,
            submission_file.read(file),
            library="torch",
            started=started,
            **how,
        )
        validate(report)
        return report


def write_kit(
    folder: Path,
    *,
    checks: str = CHECKS,
    toml: str = TOML,
    hidden: str | None = None,
    solution: str | None = None,
) -> TinyKit:
    """Writes a kit; with `hidden` or `solution` it is an instructor's."""
    slug = f"next{next(_NUMBERS)}"
    files = {
        f"problems/{slug}/problem.toml": toml,
        f"problems/{slug}/statement.md": "# Next\n",
        f"problems/{slug}/learn.md": "# Next\n",
        f"problems/{slug}/checks.py": checks,
        f"templates/{slug}.py": "def plus_one(number):\n    raise NotImplementedError\n",
        f"solutions/{slug}/hidden.py": hidden,
        f"solutions/{slug}/solution.py": solution,
    }
    for name, text in files.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return TinyKit(folder, slug)


def validate(report: Report) -> None:
    """Fails unless the report is a legal score document."""
    _VALIDATOR.validate(json.loads(to_json(report)))


@dataclass(frozen=True)
class Process:
    """A line of the process table."""

    pid: int
    parent: int
    session: int
    command: str


def processes() -> list[Process]:
    """Every process that is not a zombie."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            state, parent, _, session = (
                (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
            )
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since
        if state != "Z":
            found.append(Process(int(folder.name), int(parent), int(session), command))
    return found


def descendants(pid: int | None = None) -> set[int]:
    """The processes that come from `pid` (this process unless given), and go on under it."""
    found: set[int] = set()
    table = processes()
    while True:
        above = found | {os.getpid() if pid is None else pid}
        more = {p.pid for p in table if p.parent in above} - found
        if not more:
            return found
        found |= more


def zygotes(parent: int | None = None) -> list[Process]:
    """The processes that fork workers for `parent` (this process unless given)."""
    parent = os.getpid() if parent is None else parent
    return [p for p in processes() if p.parent == parent and "worker zygote " in p.command]


def workers(parent: int | None = None) -> list[Process]:
    """Everything that runs on behalf of `parent`'s zygotes, except these."""
    sessions = {zygote.pid for zygote in zygotes(parent)}
    return [p for p in processes() if p.session in sessions and p.pid not in sessions]


def told(report: Report | FaultReport) -> dict[str, Any]:
    """A report without what differs from run to run."""
    assert isinstance(report, Report), report
    found = asdict(replace(report, seconds=0, started_at=""))
    for check in found["checks"]:
        check["seconds"] = 0
    return found
