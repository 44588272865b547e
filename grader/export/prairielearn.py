"""PrairieLearn's `results.json`: a share of the points, and a row for each check.

It has no visibility for a row, so hidden checks are one. Extra credit has no place in a share: its
rows have no points and are shown grey. A file that cannot be loaded or graded is not gradable: that
costs no attempt.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from grader.export.sheet import Row, Sheet, Ungraded, fit, strict_json
from grader.report import FaultReport, Report


def render(report: Report | FaultReport) -> str:
    """The result. A `score` stands in it exactly if the submission is gradable."""
    return fit(report, _graded, _ungraded)


def _graded(sheet: Sheet) -> str:
    if sheet.load_error:
        reason = f"{sheet.file} could not be loaded: {sheet.load_error}"
        return _not_gradable(reason, sheet.output)
    share = Fraction(sheet.report.score, sheet.report.max_score)
    document: dict[str, Any] = {
        "gradable": True,
        "score": share.numerator if share.denominator == 1 else float(share),
        "message": "\n\n".join([sheet.points, *sheet.remarks]),
    }
    if sheet.output:
        document["output"] = sheet.output
    return strict_json({**document, "tests": [_row(row) for row in sheet.rows]})


def _ungraded(found: Ungraded) -> str:
    return _not_gradable(found.reason)


def _not_gradable(reason: str, output: str = "") -> str:
    document: dict[str, Any] = {
        "gradable": False,
        "format_errors": [reason],
        "message": "Not graded; no attempt used.",
    }
    if output:
        document["output"] = output
    return strict_json({**document, "tests": []})


def _row(row: Row) -> dict[str, Any]:
    earned, most = (0, 0) if row.extra else (row.earned, row.points)
    test: dict[str, Any] = {
        "name": row.name,
        "description": row.group,
        "points": earned,
        "max_points": most,
    }
    if row.extra:
        test["message"] = "\n".join(filter(None, [row.told, row.message]))
    elif row.message:
        test["message"] = row.message
    return test
