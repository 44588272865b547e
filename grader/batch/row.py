"""What came of one learner's work on one problem: a line of results.jsonl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

Status = Literal["graded", "unreadable", "missing", "ambiguous", "fault"]
STATUSES: tuple[Status, ...] = get_args(Status)


class Damaged(ValueError):
    """A row or a document is not what its format says; the message says where in it."""


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one learner's work on one problem.

    problem: None where nothing tells it. reason: why it was not graded, or why this file was.
    score_file: the score document's path in RESULTS. key: of everything the result depends on.
    source_group: the same for files that differ in comments and blank lines alone.
    """

    learner: str
    problem: str | None
    file: str | None
    sha256: str | None
    status: Status
    reason: str | None
    score: int | None = None
    max_score: int | None = None
    extra: int | None = None
    verdict: str | None = None
    likely_cause: str | None = None
    seconds: float | None = None
    score_file: str | None = None
    key: str | None = None
    source_group: str | None = None


_TEXT = (str, type(None))
_COUNT = (int, type(None))
_FIELDS: dict[str, tuple[type, ...]] = {
    "learner": (str,),
    "problem": _TEXT,
    "file": _TEXT,
    "sha256": _TEXT,
    "status": (str,),
    "reason": _TEXT,
    "score": _COUNT,
    "max_score": _COUNT,
    "extra": _COUNT,
    "verdict": _TEXT,
    "likely_cause": _TEXT,
    "seconds": (float, int, type(None)),
    "score_file": _TEXT,
    "source_group": _TEXT,
}
_MOST = 10**9  # points
_SCORE_FILE = re.compile(r"scores/[^/\\\x00\ud800-\udfff]+\.json")


def read(fields: Any) -> Row:
    """A row from what was read; Damaged where a field is absent or of another type."""
    if type(fields) is not dict:
        raise Damaged("not an object")
    for name, types in _FIELDS.items():
        if name not in fields:
            raise Damaged(f"no {name!r}")
        value = fields[name]
        if type(value) not in types or (types is _COUNT and not 0 <= (value or 0) <= _MOST):
            raise Damaged(f"{name!r} is {value!r:.60}")
    found = Row(**{name: fields[name] for name in _FIELDS})
    if found.status not in STATUSES:
        raise Damaged(f"'status' is {found.status!r:.60}")
    if found.score_file is not None and not _SCORE_FILE.fullmatch(found.score_file):
        raise Damaged(f"'score_file' is {found.score_file!r:.60}")
    if found.status == "graded":
        for name in ("problem", "score", "max_score", "score_file"):
            if getattr(found, name) is None:
                raise Damaged(f"graded, and no {name!r}")
        if not found.max_score:
            raise Damaged("'max_score' is 0")
    return found
