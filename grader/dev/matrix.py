"""The kill matrix: which check catches which known file, and what an instructor reads from it.

Rows are the known files of one problem and library, columns its checks. A check catches a file
that loses it with every seed it was graded with. Everything here is a value made from the results
of a survey; how it is shown is `grader.dev.matrix_text` and `grader.dev.matrix_page`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from grader.clean import clean_line
from grader.dev.known import Kind, Known
from grader.dev.survey import Result, by_file
from grader.problem import Problem
from grader.render import Span
from grader.report import CheckResult, Kit, Report
from grader.score import no_device

SCHEMA_VERSION = 1
ORDER: tuple[Kind, ...] = ("wrong", "stream", "right")  # of the rows

# killed: lost with every seed; sometimes: with some. not_run: a device this machine does not have.
State = Literal["killed", "sometimes", "passed", "not_run"]
# A state, and how it differs from what the file says: killed and not named by `fails:` (or lost by
# a right file), passed and named.
Mark = Literal["killed", "sometimes", "passed", "not_run", "unnamed", "not_lost"]
# The sentence the file asks for, another one, none, or not the same with every seed.
Told = Literal["own", "other", "nothing", "sometimes"]


@dataclass(frozen=True)
class Check:
    """A column, in the order of a learner's screen: group by group, hidden checks last in each.

    number: counts from 1, and is what a narrow table shows instead of the name.
    """

    number: int
    id: str
    title: str
    group: str
    points: int
    hidden: bool
    extra: bool


@dataclass(frozen=True)
class Row:
    """One known file, graded with each of `seeds`; `lost` and `scores` have one entry a seed.

    faults: what the kit itself was at fault for; a seed with a fault is not among `seeds`.
    """

    known: Known
    seeds: tuple[int, ...]
    lost: tuple[frozenset[str], ...]
    not_run: frozenset[str]
    scores: tuple[int, ...]
    max_score: int
    verdicts: tuple[str, ...]
    told: Told
    faults: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.known.name

    @cached_property
    def killers(self) -> frozenset[str]:
        """The checks that are lost with every seed."""
        return frozenset.intersection(*self.lost) if self.lost else frozenset()

    @cached_property
    def sometimes(self) -> frozenset[str]:
        """The checks that are lost with some seeds and passed with others."""
        return frozenset().union(*self.lost) - self.killers

    @cached_property
    def unnamed(self) -> frozenset[str]:
        """The checks that are always lost, and that `fails:` does not name."""
        return frozenset() if self.known.fails is None else self.killers - self.known.fails

    @cached_property
    def not_lost(self) -> frozenset[str]:
        """The checks that `fails:` names and that no seed made it lose."""
        if self.known.fails is None or not self.seeds:
            return frozenset()
        return self.known.fails - self.killers - self.sometimes - self.not_run

    def state(self, check: str) -> State:
        """What became of the check of this name."""
        if check in self.killers:
            return "killed"
        if check in self.sometimes:
            return "sometimes"
        return "not_run" if check in self.not_run else "passed"

    def mark(self, check: Check) -> Mark:
        """Its state, told apart from what the file should show."""
        state = self.state(check.id)
        if state == "killed" and (
            check.id in self.unnamed or (self.known.kind == "right" and not check.extra)
        ):
            return "unnamed"
        return "not_lost" if check.id in self.not_lost else state

    def losses(self, check: str) -> int:
        """With how many seeds the check was lost."""
        return sum(check in lost for lost in self.lost)

    @property
    def score(self) -> str:
        """`12`, or `12-15` where it depends on the seed."""
        if not self.scores:
            return "-"
        least, most = min(self.scores), max(self.scores)
        return str(least) if least == most else f"{least}-{most}"


@dataclass(frozen=True)
class Finding:
    """Something to mend or to know: a headline, and what it is about, one text each."""

    rule: str
    text: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    """The known files of a problem in one library, wrong ones first, by its checks."""

    kit: Kit
    problem: str
    title: str
    library: str
    versions: Mapping[str, str]  # of what the answers depend on: library -> version
    checks: tuple[Check, ...]
    rows: tuple[Row, ...]

    def of(self, kind: Kind) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.known.kind == kind)

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(seed for row in self.rows for seed in row.seeds))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(check.group for check in self.checks))

    @cached_property
    def kills(self) -> Mapping[str, int]:
        """How many wrong files each check catches, by its name."""
        return {c.id: sum(c.id in row.killers for row in self.of("wrong")) for c in self.checks}

    @cached_property
    def alone(self) -> Mapping[str, tuple[str, ...]]:
        """The wrong files that a check, and no other, catches; only checks that have any."""
        found: dict[str, tuple[str, ...]] = {}
        for row in self.of("wrong"):
            if len(row.killers) == 1:
                (check,) = row.killers
                found[check] = (*found.get(check, ()), row.name)
        return found

    @cached_property
    def untried(self) -> tuple[str, ...]:
        """The checks that could be run on no file: their columns say nothing."""
        wrong = [row for row in self.of("wrong") if row.seeds]
        return self.ordered(
            {c.id for c in self.checks if all(c.id in r.not_run for r in wrong)} if wrong else set()
        )

    @cached_property
    def dead(self) -> tuple[str, ...]:
        """The checks that catch no wrong file with every seed."""
        return self.ordered({c for c, kills in self.kills.items() if not kills} - {*self.untried})

    @cached_property
    def survivors(self) -> tuple[Row, ...]:
        """The wrong files that lose, with at least one seed, no check that counts for the score.

        Not those that would lose one that cannot be run here.
        """
        return tuple(
            row
            for row in self.of("wrong")
            if not all(lost & self.scored for lost in row.lost)
            and not row.not_run & (row.known.fails or frozenset())
        )

    @cached_property
    def scored(self) -> frozenset[str]:
        """The checks that are not extra credit."""
        return frozenset(check.id for check in self.checks if not check.extra)

    @cached_property
    def differing(self) -> tuple[Row, ...]:
        """The wrong files that do not lose exactly the checks they name, with every seed."""
        return tuple(
            row
            for row in self.of("wrong")
            if row.seeds
            and (row.known.fails is None or row.unnamed or row.not_lost or row.sometimes)
        )

    @cached_property
    def equal(self) -> tuple[tuple[str, ...], ...]:
        """Checks whose columns are the same: among the wrong files, each does what its twins do."""
        columns: dict[tuple[int, ...], list[str]] = {}
        for check in self.checks:
            if self.kills[check.id]:
                column = tuple(row.losses(check.id) for row in self.of("wrong"))
                columns.setdefault(column, []).append(check.id)
        return tuple(tuple(checks) for checks in columns.values() if len(checks) > 1)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What has to be mended; none if every check and every file does what it is there for."""
        return tuple(finding for finding in _findings(self) if finding.items)

    @cached_property
    def notes(self) -> tuple[Finding, ...]:
        """What is worth a thought and breaks no rule."""
        return tuple(note for note in _notes(self) if note.items)

    @property
    def sound(self) -> bool:
        return not self.findings

    @property
    def headline(self) -> str:
        """The whole in a sentence."""
        wrong = len(self.of("wrong"))
        if self.sound:
            tried = " that can be run here" if self.untried else ""
            return (
                f"sound: every check{tried} catches a wrong file, and each of the {wrong} wrong "
                "files is caught by exactly the checks it names"
            )
        return "not sound: " + "; ".join(finding.text for finding in self.findings)

    @property
    def summary(self) -> str:
        """What it is made of, in a line."""
        parts = [_count(len(self.checks), "check", "checks")]
        parts += [f"{len(self.of(kind))} {kind}" for kind in ORDER if self.of(kind)]
        seeds = ", ".join(map(str, self.seeds))
        return f"{', '.join(parts)}; {'seed' if len(self.seeds) == 1 else 'seeds'} {seeds}"

    def as_dict(self) -> dict[str, Any]:
        """The matrix as a versioned document of names, numbers and texts: strict JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "kit": {"name": self.kit.name, "version": self.kit.version},
            "problem": self.problem,
            "title": self.title,
            "library": self.library,
            "versions": dict(self.versions),
            "seeds": list(self.seeds),
            "sound": self.sound,
            "checks": [
                {
                    "id": check.id,
                    "title": check.title,
                    "group": check.group,
                    "points": check.points,
                    "hidden": check.hidden,
                    "extra": check.extra,
                    "kills": self.kills[check.id],
                    "alone": list(self.alone.get(check.id, ())),
                }
                for check in self.checks
            ],
            "files": [self._file(row) for row in self.rows],
            "dead": list(self.dead),
            "untried": list(self.untried),
            "survivors": [row.name for row in self.survivors],
            "differing": [row.name for row in self.differing],
            "equal": [list(checks) for checks in self.equal],
        }

    def _file(self, row: Row) -> dict[str, Any]:
        known = row.known
        return {
            "file": known.file,
            "name": row.name,
            "kind": known.kind,
            "story": known.story,
            "hear": known.hear,
            "told": row.told,
            "seeds": list(row.seeds),
            "scores": list(row.scores),
            "max_score": row.max_score,
            "verdicts": list(row.verdicts),
            "declared": None if known.fails is None else list(self.ordered(known.fails)),
            "killed_by": list(self.ordered(row.killers)),
            "sometimes": {check: row.losses(check) for check in self.ordered(row.sometimes)},
            "not_run": list(self.ordered(row.not_run)),
            "unnamed": list(self.ordered(row.unnamed)),
            "not_lost": list(self.ordered(row.not_lost)),
            "faults": list(row.faults),
        }

    def ordered(self, names: frozenset[str] | set[str]) -> tuple[str, ...]:
        """Names of checks in the order of the columns; names of no check after them."""
        known = [check.id for check in self.checks if check.id in names]
        return (*known, *sorted(names.difference(known)))


def matrices(problem: Problem, results: Sequence[Result]) -> list[Matrix]:
    """One matrix for each library of the problem that `results` has gradings in."""
    mine = [result for result in results if result.known.slug == problem.slug]
    made = []
    for library in problem.libraries:
        of_library = [result for result in mine if result.known.library == library]
        reports = [r.report for r in of_library if isinstance(r.report, Report)]
        if reports:
            made.append(_matrix(problem, library, of_library, reports))
    return made


def sentence(text: str) -> str:
    """A headline or a summary with a capital letter."""
    return text[:1].upper() + text[1:]


def to_json(matrices: Sequence[Matrix]) -> str:
    """The matrices as one strict JSON document: ASCII, no NaN, one trailing newline."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "sound": all(matrix.sound for matrix in matrices),
        "matrices": [matrix.as_dict() for matrix in matrices],
    }
    return json.dumps(document, allow_nan=False, ensure_ascii=True, indent=2) + "\n"


def _matrix(
    problem: Problem, library: str, results: Sequence[Result], reports: Sequence[Report]
) -> Matrix:
    found: dict[str, CheckResult] = {}
    for report in reports:
        for check in report.checks:
            found.setdefault(check.id, check)
    groups = list(dict.fromkeys(check.group for check in found.values()))
    ordered = sorted(found.values(), key=lambda check: groups.index(check.group))
    rows = [_row(known, group) for known, group in by_file(results)]
    first = reports[0]
    versions = {"torch": first.environment.torch, "numpy": first.environment.numpy}
    return Matrix(
        kit=first.kit,
        problem=problem.slug,
        title=problem.title,
        library=library,
        versions={name: version for name, version in versions.items() if version},
        checks=tuple(
            Check(number, c.id, c.title, c.group, c.points, c.hidden, c.extra)
            for number, c in enumerate(ordered, 1)
        ),
        rows=tuple(sorted(rows, key=lambda row: ORDER.index(row.known.kind))),
    )


def _row(known: Known, group: Sequence[Result]) -> Row:
    graded = [(result, result.report) for result in group if isinstance(result.report, Report)]
    reports = [report for _, report in graded]
    faults = [result.report.message for result in group if not isinstance(result.report, Report)]
    told = list(dict.fromkeys(_told(known, report) for report in reports))
    return Row(
        known=known,
        seeds=tuple(result.seed for result, _ in graded),
        lost=tuple(result.lost() for result, _ in graded),
        not_run=frozenset(c.id for report in reports for c in report.checks if no_device(c)),
        scores=tuple(report.score for report in reports),
        max_score=reports[0].max_score if reports else 0,
        verdicts=tuple(dict.fromkeys(report.verdict for report in reports)),
        told=(told[0] if len(told) == 1 else "sometimes") if told else "nothing",
        faults=tuple(dict.fromkeys(faults)),
    )


def _told(known: Known, report: Report) -> Told:
    cause = report.likely_cause
    if cause is None:
        return "nothing"
    return "own" if cause.sentence == known.hear else "other"


# ---- what follows


def _findings(matrix: Matrix) -> Iterator[Finding]:
    wrong = matrix.of("wrong")
    if not wrong:
        yield Finding(
            "no wrong file", "there is no wrong file", (f"solutions/{matrix.problem}/wrong",)
        )
    yield Finding(
        "dead check",
        _count(len(matrix.dead), "check catches", "checks catch") + " no wrong file",
        matrix.dead if wrong else (),
    )
    yield Finding(
        "survivor",
        _count(len(matrix.survivors), "wrong file has", "wrong files have") + " full marks",
        tuple(row.name for row in matrix.survivors),
    )
    yield Finding(
        "fails",
        _count(len(matrix.differing), "wrong file does", "wrong files do")
        + " not lose exactly the checks named",
        tuple(_difference(matrix, row) for row in matrix.differing),
    )
    right = [row for row in matrix.of("right") if frozenset().union(*row.lost) & matrix.scored]
    yield Finding(
        "right",
        _count(len(right), "right file loses", "right files lose") + " points",
        tuple(f"{row.name}: {_some(matrix, frozenset().union(*row.lost))}" for row in right),
    )
    stream = [
        row for row in matrix.of("stream") if row.seeds and row.verdicts != (_STREAM_VERDICT,)
    ]
    yield Finding(
        "stream",
        _count(len(stream), "stream file has", "stream files have") + " another verdict",
        tuple(f"{row.name}: {', '.join(row.verdicts)}" for row in stream),
    )
    accused = [row for row in matrix.of("right") if row.told != "nothing"]
    yield Finding(
        "accused",
        _count(len(accused), "right file is", "right files are") + " told a likely cause",
        tuple(row.name for row in accused),
    )
    faulty = [row for row in matrix.rows if row.faults]
    yield Finding(
        "fault",
        "the kit is at fault with " + _count(len(faulty), "file", "files"),
        tuple(f"{row.name}: {clean_line(fault, 300)}" for row in faulty for fault in row.faults),
    )


_STREAM_VERDICT = "lossless_other_draws"


def _notes(matrix: Matrix) -> Iterator[Finding]:
    yield Finding(
        "not run",
        _count(len(matrix.untried), "check", "checks") + " could not be run here",
        matrix.untried,
    )
    others = [row for row in matrix.rows if row.known.kind != "right" and row.told == "other"]
    yield Finding(
        "diagnosis",
        _count(len(others), "file is", "files are")
        + " told another sentence than the file asks for",
        tuple(row.name for row in others),
    )
    yield Finding(
        "equal",
        _count(len(matrix.equal), "set of checks catches", "sets of checks catch")
        + " the same files: one of each would do, unless they differ in what a learner is told",
        tuple(" = ".join(checks) for checks in matrix.equal),
    )


def _difference(matrix: Matrix, row: Row) -> str:
    """How what a file loses differs from what it names."""
    parts = []
    if row.known.fails is None:
        parts.append(f"names no checks; it loses {_some(matrix, row.killers) or 'none'}")
    if row.unnamed:
        parts.append(f"loses {_some(matrix, row.unnamed)} unnamed")
    if row.not_lost:
        parts.append(f"passes {_some(matrix, row.not_lost)}, named")
    for check in matrix.ordered(row.sometimes):
        parts.append(f"loses {check} with {row.losses(check)} of {len(row.seeds)} seeds")
    return f"{row.name}: {'; '.join(parts)}"


def _some(matrix: Matrix, names: frozenset[str], most: int = 6) -> str:
    ordered = matrix.ordered(names)
    more = f" and {len(ordered) - most} more" if len(ordered) > most else ""
    return ", ".join(ordered[:most]) + more


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


@dataclass(frozen=True)
class Signs:
    """How the cells of the grid, the bars and what was cut are drawn."""

    killed: str
    sometimes: str
    passed: str
    not_run: str
    unnamed: str  # killed, and `fails:` does not name the check
    not_lost: str  # passed, and `fails:` names the check
    bar: str
    cut: str

    def of(self, row: Row, check: Check) -> Span:
        match row.mark(check):
            case "killed":
                return self.killed, "good" if row.known.kind == "wrong" else "warn"
            case "sometimes":
                return self.sometimes, "bad"
            case "unnamed":
                return self.unnamed, "bad"
            case "not_lost":
                return self.not_lost, "bad"
            case "not_run":
                return self.not_run, "dim"
        return self.passed, "dim"


DRAWN = Signs("■", "~", "·", "-", "!", "○", bar="█", cut="…")
PLAIN = Signs("x", "~", ".", "-", "!", "o", bar="#", cut="...")
