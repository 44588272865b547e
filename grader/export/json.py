"""The score document of `grade run --json` (`grader/schema/score-v1.json`), with everything in it.

It is the instructor's: it tells the seed and the titles of hidden checks.
"""

from __future__ import annotations

from grader.report import FaultReport, Report, to_json


def render(report: Report | FaultReport) -> str:
    """The document, or an `error` and no score."""
    return to_json(report)
