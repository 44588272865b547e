"""What the class page's script reads: two JSON texts inside the page.

`core` is read when the page opens: names, scores, and one letter per check. `more` is read when a
learner is looked at: what was said about each failed check, what was printed, hashes. Texts of a
class are much alike, so every line, every text and every failure is written once and told by
number; the texts of so many learners go in as a budget of bytes allows.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from grader.batch.overview import TROUBLES, Overview
from grader.batch.row import STATUSES, Row
from grader.clean import clean, clean_line

NONE = -1  # for "nothing there" in the columns of numbers
TEXT_MOST = 16_000  # characters of one text: any message, and most of what is printed

K = TypeVar("K", bound=Hashable)


def script_text(value: Any) -> Markup:
    """Strict JSON that cannot end or change the script element that it stands in."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


class _Numbered(Generic[K]):
    """Values that are written once and told by number; `size` is about what they take as JSON."""

    def __init__(self, written: Callable[[K], Any]) -> None:
        self.values: list[Any] = []
        self.size = 0
        self._numbers: dict[K, int] = {}
        self._written = written

    def number(self, key: K) -> int:
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.values)
            value = self._written(key)
            self.values.append(value)
            self.size += len(json.dumps(value)) + 1
        return found


class Details:
    """What is told about learners one at a time, until `budget` bytes of it are there."""

    def __init__(self, rows: Sequence[Row], budget: int) -> None:
        self.left_out = 0
        self._rows: list[Any] = [0] * len(rows)
        self._budget = budget
        self._size = 0
        self._lines = _Numbered[str](lambda line: line)
        self._texts = _Numbered[str](self._text)
        self._failures = _Numbered[tuple[Any, ...]](list)

    def add(
        self, at: int, document: Mapping[str, Any], columns: Mapping[tuple[bool, str], int]
    ) -> None:
        """Takes in a score document, unless the budget is spent."""
        if self.size > self._budget:
            self.left_out += 1
            return
        load, cause, output = document["load_error"], document["likely_cause"], document["output"]
        self._rows[at] = [
            document["submission"]["sha256"],
            clean_line(f"{document['library']}, {document['device']}"),
            self._number(cause["sentence"] if cause else None),
            NONE if cause is None or cause["hint"] is None else int(cause["hint"]),
            self._number(load["message"] if load else None),
            self._number(load["traceback"] if load else None),
            self._number(output["text"]),
            int(bool(output["truncated"])),
            _seconds(document["seconds"]),
            [
                self._failure(columns[bool(check["hidden"]), check["id"]], check)
                for check in document["checks"]
                if check["outcome"] != "passed"
            ],
        ]
        self._size += len(json.dumps(self._rows[at])) + 1

    @property
    def size(self) -> int:
        return self._size + self._lines.size + self._texts.size + self._failures.size

    def as_dict(self) -> dict[str, Any]:
        return {
            "lines": self._lines.values,
            "texts": self._texts.values,
            "failures": self._failures.values,
            "rows": self._rows,
        }

    def _failure(self, column: int, check: Mapping[str, Any]) -> int:
        cases = check["cases"]
        return self._failures.number(
            (
                column,
                self._number(check["message"]),
                self._number(check["hint"]),
                int(cases["passed"]),
                int(cases["total"]),
            )
        )

    def _number(self, text: str | None) -> int:
        return self._texts.number(text) if text else NONE

    def _text(self, text: str) -> list[int]:
        return [self._lines.number(line) for line in clean(text, TEXT_MOST).split("\n")]


def _seconds(number: Any) -> float:
    if not math.isfinite(number):
        raise ValueError("no number of seconds")
    return float(number)


def core(overview: Overview, pictures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the page knows of everybody; columns of numbers have one entry a row."""
    rows = overview.rows
    places = {problem.slug: at for at, problem in enumerate(overview.problems)}
    causes = _Numbered[tuple[int, str]](list)
    verdicts = _Numbered[str](lambda verdict: verdict)
    causes_of, groups = array("l"), array("l", [NONE]) * len(rows)
    for cause in overview.causes:  # so that their numbers are their places in that list
        causes.number((places[cause.problem.slug], cause.sentence))
    cause_of = {at: number for number, cause in enumerate(overview.causes) for at in cause.rows}
    causes_of.extend(cause_of.get(at, NONE) for at in range(len(rows)))
    for number, group in enumerate(overview.same_source):
        for at in group:
            groups[at] = number
    return {
        "problems": [
            {
                "slug": problem.slug,
                "title": problem.title,
                "max": problem.max_score,
                "checks": [
                    [check.id, check.title, check.group, check.points, check.extra, check.hidden]
                    for check in problem.checks
                ],
                "order": problem.order,
                "patterns": problem.patterns,
            }
            for problem in overview.problems
        ],
        "pictures": pictures,
        "names": overview.names,
        "causes": causes.values,
        "statuses": STATUSES,
        "troubles": TROUBLES,
        "reasons": {
            at: clean(row.reason, 1000) for at, row in enumerate(rows) if row.reason is not None
        },
        "learner": list(overview.learners),
        "problem": [NONE if row.problem is None else places[row.problem] for row in rows],
        "score": [NONE if row.score is None else row.score for row in rows],
        "most": [NONE if row.max_score is None else row.max_score for row in rows],
        "extra": [row.extra or 0 for row in rows],
        "status": [STATUSES.index(row.status) for row in rows],
        "verdict": [verdicts.number(row.verdict) if row.verdict else NONE for row in rows],
        "cause": list(causes_of),
        "group": list(groups),
        "pattern": list(overview.patterns),
        "trouble": [_flags(overview, at) for at in range(len(rows))],
        "verdicts": [str(clean_line(verdict)) for verdict in verdicts.values],
    }


def _flags(overview: Overview, at: int) -> int:
    met = overview.troubles.get(at, {})
    return sum(1 << number for number, kind in enumerate(TROUBLES) if kind in met)


def more(rows: Sequence[Row], details: Details) -> dict[str, Any]:
    """What the page tells of one learner at a time."""
    files = _Numbered[str](clean_line)
    return {
        **details.as_dict(),
        "files": [NONE if row.file is None else files.number(row.file) for row in rows],
        "file_names": files.values,
        "score_files": [
            row.score_file.removeprefix("scores/") if row.score_file else 0 for row in rows
        ],
    }
