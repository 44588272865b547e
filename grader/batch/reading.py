"""Reading a RESULTS folder back: everything wrong with it is a UsageError that says where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.batch import row
from grader.batch.row import Damaged, Row
from grader.faults import UsageError

AGAIN = "run `grade batch` again with the same --out"


def rows(folder: Path, slugs: Sequence[str] | None = None) -> list[Row]:
    """The rows of a RESULTS folder, in their order there. slugs: the only problems there may be."""
    path = folder / "results.jsonl"
    if not path.is_file():
        raise UsageError(f"{folder}: no results.jsonl, so nothing is graded yet; {AGAIN}")
    found: list[Row] = []
    seen = set[tuple[str, str | None]]()
    for number, line in enumerate(text(path).split("\n"), 1):
        if line:
            try:
                found.append(row.read(strict(line)))
            except (ValueError, RecursionError) as error:
                what = error if isinstance(error, Damaged) else "not JSON"
                raise UsageError(f"{path}: line {number}: {what}; {AGAIN}") from None
            place = found[-1].learner, found[-1].problem
            if place in seen:
                raise UsageError(f"{path}: line {number}: a second row of one learner; {AGAIN}")
            seen.add(place)
            if slugs is not None and found[-1].problem not in (None, *slugs):
                raise UsageError(
                    f"{path}: line {number}: a problem that is not in manifest.json; {AGAIN}"
                )
    return found


def text(path: Path) -> str:
    """What a file of the folder holds."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: not there; {AGAIN}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8; {AGAIN}") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None


def document(path: Path) -> Any:
    """A JSON file of the folder."""
    found = text(path)
    try:
        return strict(found)
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: not JSON; {AGAIN}") from None


def require_once(checks: Sequence[Mapping[str, Any]]) -> None:
    """Damaged where a check of a score document stands there twice: it would count twice."""
    seen = set[tuple[bool, str]]()
    for check in checks:
        place = check["hidden"], check["id"]
        if place in seen:
            raise Damaged(f"the check {check['id']!r:.60} stands there twice")
        seen.add(place)


def strict(found: str) -> Any:
    """Strict JSON, unlike what Python reads by itself; ValueError where it is none."""
    return json.loads(found, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
