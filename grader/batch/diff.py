"""What a regrade changed: two RESULTS folders, learner by learner and check by check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.batch import reading
from grader.batch.row import Damaged, Row
from grader.clean import clean_line
from grader.faults import UsageError


@dataclass(frozen=True)
class Change:
    """One learner's change in one problem. before, after: None where there is no row.

    checks: those whose outcome changed, by id: the outcomes before and after.
    """

    learner: str
    problem: str | None
    before: Row | None
    after: Row | None
    checks: dict[str, tuple[str, str]]

    def lines(self) -> Iterator[str]:
        """The change in words: one line for it, one for each check."""
        name = f"{clean_line(self.learner)}  {clean_line(self.problem or '(no problem)')}"
        yield f"{name}: {_state(self.before)} → {_state(self.after)}"
        for check, (before, after) in self.checks.items():
            yield f"    {clean_line(check)}: {clean_line(before)} → {clean_line(after)}"


def compare(before: Path, after: Path) -> list[Change]:
    """Every change, by learner and problem. UsageError where a folder holds no results."""
    old, new = (
        {(row.learner, row.problem): row for row in reading.rows(folder)}
        for folder in (before, after)
    )
    changes = []
    for place in sorted({*old, *new}, key=lambda each: (each[0], each[1] or "")):
        first, second = old.get(place), new.get(place)
        checks = _checks(before, first, after, second)
        if checks or _facts(first) != _facts(second):
            changes.append(Change(*place, first, second, checks))
    return changes


def _checks(
    before: Path, first: Row | None, after: Path, second: Row | None
) -> dict[str, tuple[str, str]]:
    if first is None or second is None:
        return {}
    outcomes = [_outcomes(before, first), _outcomes(after, second)]
    names = [*dict.fromkeys([*outcomes[0], *outcomes[1]])]
    pairs = {name: (outcomes[0].get(name, "—"), outcomes[1].get(name, "—")) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _outcomes(folder: Path, row: Row) -> dict[str, str]:
    if row.status != "graded" or row.score_file is None:
        return {}
    path = folder / row.score_file
    document = reading.document(path)
    try:
        reading.require_once(document["checks"])
        found = {check["id"]: check["outcome"] for check in document["checks"]}
        if not all(type(text) is str for pair in found.items() for text in pair):
            raise TypeError
        return found
    except Damaged as error:
        raise UsageError(f"{path}: {error}; {reading.AGAIN}") from None
    except (KeyError, TypeError):
        raise UsageError(f"{path}: not a score document; {reading.AGAIN}") from None


def _facts(row: Row | None) -> Any:
    return row and (row.status, row.score, row.max_score, row.verdict)


def _state(row: Row | None) -> str:
    if row is None:
        return "not in the class"
    if row.status != "graded":
        return row.status
    verdict = clean_line(row.verdict or "").replace("_", " ")
    return f"{row.score} of {row.max_score}, {verdict}"
