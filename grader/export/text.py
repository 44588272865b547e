"""The screen of `grade run` as plain text, for whoever runs the command."""

from __future__ import annotations

import shlex

from grader import render as screens
from grader.clean import clean, clean_line
from grader.report import FaultReport, Report


def render(report: Report | FaultReport) -> str:
    """The screen, hidden checks by their titles; of a fault what is wrong with the kit."""
    if isinstance(report, FaultReport):
        where = f" (check {clean_line(report.check)})" if report.check else ""
        rows = f"Could not be graded: {clean(report.message)}{where}".split("\n")
        return screens.plain([screens.Line(body=((row, ""),)) for row in rows])
    file = clean_line(report.submission.file)
    again = shlex.join(["grade", "run", file, "--problem", report.problem])
    return screens.plain(screens.screen(report, again=again, marks=screens.WORDS))
