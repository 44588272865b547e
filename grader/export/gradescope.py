"""Gradescope's `results.json`: a row for each check, hidden ones shown when grades are published.

A hidden row hides the total from learners until then, so what is told beside the rows counts public
points only. Extra credit is a row of no maximum, whose points are part of the score. The format has
no word for a grading that did not take place: that is a zero with one failed row that says why, and
that has points where the learner is the one to mend it.
"""

from __future__ import annotations

from typing import Any

from grader.export.sheet import Row, Sheet, Ungraded, counted, fit, strict_json
from grader.report import FaultReport, Report


def render(report: Report | FaultReport) -> str:
    """The result; every text in it is plain text to Gradescope, never HTML or Markdown."""
    return fit(report, _graded, _ungraded)


def _graded(sheet: Sheet) -> str:
    report = sheet.report
    rows = [*sheet.public, *sheet.hidden]
    return _document(
        {
            "score": sum(row.earned for row in rows),
            # Without hidden checks, whose time could tell their inputs.
            "execution_time": round(sum(row.seconds for row in rows), 3),
            "output": _output(sheet),
        },
        {
            "kit": report.kit.version,
            "problem": report.problem,
            "state": "not_loaded" if sheet.load_error else "graded",
            "sha256": report.submission.sha256,
        },
        [_row(number, row) for number, row in enumerate(rows, 1)],
    )


def _ungraded(found: Ungraded) -> str:
    row: dict[str, Any] = {"name": "Could not be graded", "status": "failed"}
    if found.most is not None:
        row |= {"score": 0, "max_score": found.most}
    return _document(
        {"score": 0, "output": found.reason},
        {"kit": found.version, "problem": found.problem, "state": found.state},
        [{**row, "output": found.reason}],
    )


def _document(head: dict[str, Any], about: dict[str, str], tests: list[dict[str, Any]]) -> str:
    return strict_json(
        {
            **head,
            "output_format": "text",
            "test_output_format": "text",
            "test_name_format": "text",
            "visibility": "visible",
            "extra_data": about,
            "tests": tests,
        }
    )


def _row(number: int, row: Row) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": row.name,
        "number": str(number),
        "score": row.earned,
        "max_score": 0 if row.extra else row.points,
        "status": "passed" if row.passed else "failed",
        "tags": [row.group],
    }
    if row.hidden:
        test["visibility"] = "after_published"
    elif row.message:
        test["output"] = row.message
    return test


def _output(sheet: Sheet) -> str:
    public = [row for row in sheet.public if not row.extra]
    earned, most = sum(row.earned for row in public), sum(row.points for row in public)
    told = [
        f"{sheet.report.problem}: {earned} of {counted(most, 'public point')}.{_of_hidden(sheet)}"
    ]
    told += sheet.remarks
    if sheet.output:
        told.append(f"What your file printed:\n{sheet.output}")
    return "\n\n".join(told)


def _of_hidden(sheet: Sheet) -> str:
    if not sheet.hidden:
        return ""
    number, points = len(sheet.hidden), sum(row.points for row in sheet.hidden)
    told = "A hidden check" if number == 1 else f"{number} hidden checks"
    are = "is" if number == 1 else "are"
    return f" {told} worth {counted(points, 'point')} {are} shown when grades are published."
