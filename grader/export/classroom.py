"""The step output that GitHub Classroom's own reporter reads: `result=` and the JSON in Base64.

For workflows that have the reporter; `github` needs none. The reporter shows a row's name and
prints it, so nothing that a submission had a part in is in this result. Extra credit is left out.
"""

from __future__ import annotations

import base64
from typing import Any

from grader.export.sheet import Row, Sheet, Ungraded, fit, harmless, strict_json
from grader.report import FaultReport, Report

_MOST_BYTES = 90_000  # in Base64 120,000; Linux takes 131,071 for a variable
# What stopped a check, by the kind of its failure; nothing else of a message is repeated.
_STOPPED = {
    "exception": "raised an exception",
    "import_error": "raised an exception",
    "timeout": "timed out",
    "memory": "used too much memory",
    "flood": "printed too much",
    "too_large": "returned too much",
    "exit": "ended the process",
    "crash": "crashed",
    "malformed": "answered with something that is not a value",
}


def render(report: Report | FaultReport) -> str:
    """One line for the file that `GITHUB_OUTPUT` names.

    A fault of the grader has a maximum of 0, which the reporter takes for ungraded; a file that
    cannot be read has no points of the usual one.
    """
    document = fit(report, _graded, _ungraded, _MOST_BYTES)
    return f"result={base64.b64encode(document.encode()).decode()}\n"


def _graded(sheet: Sheet) -> str:
    report = sheet.report
    status = "pass" if report.passed else "error" if sheet.load_error else "fail"
    return _document(status, report.max_score, [_row(row) for row in sheet.scored])


def _ungraded(found: Ungraded) -> str:
    why = "the grader is at fault" if found.state == "fault" else "the file cannot be read"
    test = _test(f"could not be graded: {why}", False, 0)
    return _document("error", found.most or 0, [test])


def _document(status: str, most: int, tests: list[dict[str, Any]]) -> str:
    return strict_json(
        {"version": 3, "status": status, "max_score": most, "tests": tests}, indent=None
    )


def _row(row: Row) -> dict[str, Any]:
    name = row.title if row.passed or row.hidden else f"{row.title}: {_why(row)}"
    return _test(name, row.passed, row.earned)


def _why(row: Row) -> str:
    match row.outcome:
        case "error":
            return _STOPPED.get(row.stopped or "", "stopped")
        case "not_run":
            return "not run"
    return "wrong answer"


def _test(name: str, passed: bool, score: int) -> dict[str, Any]:
    return {
        "name": harmless(name),
        "status": "pass" if passed else "fail",
        "score": score,
        "line_no": 0,  # not known
        "message": "",
        "test_code": "",
    }
