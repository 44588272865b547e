"""Classroom 50's `result.json`: whole points, no more than the maximum, and whose they are.

Who handed in what is not the report's to say: the runner tells it in variables. Extra credit is
left out, and hidden checks are one row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.clean import clean_line
from grader.export.sheet import Row, Sheet, Ungraded, fit, moment, strict_json
from grader.report import FaultReport, Report

_UNKNOWN = "unknown"


def render(report: Report | FaultReport, environment: Mapping[str, str] | None = None) -> str:
    """The result, with the identity that the runner's variables give ("unknown" where they do not).

    A fault of the grader is 0 of 0: it must not be read as a zero of the file's points.
    """
    identity = _identity(environment or {})
    return fit(
        report,
        lambda sheet: _graded(sheet, identity),
        lambda found: _ungraded(found, identity),
    )


def _identity(environment: Mapping[str, str]) -> dict[str, str]:
    def told(*names: str) -> str:
        values = (clean_line(environment.get(name, "")) for name in names)
        return next(filter(None, values), _UNKNOWN)

    tag = told("SUBMISSION_TAG")
    return {
        "classroom": told("CLASSROOM"),
        "assignment": told("ASSIGNMENT"),
        "submission": tag if tag.startswith("submit/") else f"submit/{tag}",
        "commit": told("COMMIT_URL"),
        "release": told("RELEASE_URL"),
        "review": told("REVIEW_URL", "COMMIT_URL"),
    }


def _graded(sheet: Sheet, identity: dict[str, str]) -> str:
    report = sheet.report
    return _document(identity, report.started_at, [_row(row, sheet) for row in sheet.scored])


def _ungraded(found: Ungraded, identity: dict[str, str]) -> str:
    test = _test("could not be graded", False, 0, found.most or 0, found.reason)
    return _document(identity, found.started_at, [test])


def _document(identity: dict[str, str], started_at: str, tests: list[dict[str, Any]]) -> str:
    return strict_json(
        {
            "schema": "classroom50/result/v1",
            **identity,
            "datetime": f"{moment(started_at)}Z",
            "score": sum(test["score"] for test in tests),
            "max-score": sum(test["max-score"] for test in tests),
            "tests": tests,
        }
    )


def _row(row: Row, sheet: Sheet) -> dict[str, Any]:
    message = row.message
    if sheet.load_error and not row.hidden:
        message = sheet.remarks[0]
    return _test(row.title, row.passed, row.earned, row.points, message)


def _test(name: str, passed: bool, score: int, most: int, message: str) -> dict[str, Any]:
    test = {"test-name": name, "passed": passed, "score": score, "max-score": most}
    return {**test, "message": message} if message else test
