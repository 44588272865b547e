"""Exercism's `results.json` of a test runner, version 3: each check passes or does not.

It has neither points nor extra credit nor rows that are held back: checks for extra credit are left
out, and hidden ones are one row without text. A message for the whole is for status error alone, so
what else is to be said stands in the first failure, which is the one that a learner is shown.
"""

from __future__ import annotations

from typing import Any

from grader.export.sheet import Row, Sheet, Ungraded, fit, strict_json
from grader.report import FaultReport, Report

_MOST_BYTES = 500_000
_MOST_OUTPUT = 500  # UTF-16 units, of which an emoji is two
_MOST_MESSAGE = 65_535
_STATUS = {"passed": "pass", "failed": "fail", "error": "error", "not_run": "fail"}
_CUT = "\n(cut)"
_HIDDEN = "Not all of them are passed; which, and what they ask, is not told."
_NOT_TOLD = "Not passed; what it says is not told here."


def render(report: Report | FaultReport) -> str:
    """The result; status error, and no tests, where none was run."""
    return fit(report, _graded, _ungraded, _MOST_BYTES)


def _graded(sheet: Sheet) -> str:
    if sheet.load_error:
        return _error(f"<solution-dir>/{sheet.file}: {sheet.load_error}")
    tests = [_row(row) for row in sheet.scored]
    first = next((test for test in tests if test["status"] != "pass"), tests[0])
    if "message" in first:
        first["message"] = "\n\n".join([first["message"], *sheet.remarks])
    if sheet.output:
        first["output"] = _utf16(sheet.output, _MOST_OUTPUT)
    return strict_json(
        {
            "version": 3,
            "status": "pass" if first["status"] == "pass" else "fail",
            "message": None,
            "tests": tests,
        }
    )


def _ungraded(found: Ungraded) -> str:
    return _error(found.reason)


def _error(message: str) -> str:
    return strict_json({"version": 3, "status": "error", "message": _utf16(message, _MOST_MESSAGE)})


def _row(row: Row) -> dict[str, Any]:
    test: dict[str, Any] = {"name": row.name, "status": _STATUS[row.outcome]}
    if not row.passed:
        test["message"] = _HIDDEN if row.hidden else row.message or _NOT_TOLD
    return test


def _utf16(text: str, most: int) -> str:
    """The text in at most so many UTF-16 units, saying that it was cut."""
    units = text.encode("utf-16-le")
    if len(units) <= 2 * most:
        return text
    # Half of a pair is dropped.
    return units[: 2 * (most - len(_CUT))].decode("utf-16-le", "ignore") + _CUT
