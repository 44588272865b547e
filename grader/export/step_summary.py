"""The summary of a step of GitHub Actions: Markdown for the file `GITHUB_STEP_SUMMARY` names.

Tables hold titles and numbers; what a submission had a part in stands in fenced blocks, where
nothing in it is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.actions import markdown
from grader.export.sheet import Row, Sheet, Ungraded, fit
from grader.report import FaultReport, Report


def render(report: Report | FaultReport) -> str:
    """The points, a table of the checks, and the messages folded in."""
    return fit(report, _graded, _ungraded)


def _graded(sheet: Sheet) -> str:
    lines = [f"### {markdown(f'{sheet.report.problem}: {sheet.points}')}", ""]
    if sheet.load_error:
        lines += ["The file could not be loaded, so no check was run.", ""]
        lines += [*_fenced(sheet.load_error), ""]
    if sheet.cause:
        lines += [markdown(sheet.cause), ""]
    lines += ["| check | points |", "|---|---|", *map(_row, sheet.rows), ""]
    for row in sheet.rows:
        if row.message and not sheet.load_error:
            lines += _folded(row.name, row.message)
    if sheet.output:
        lines += _folded("What the file printed", sheet.output)
    if sheet.left_out:
        lines += [sheet.left_out, ""]
    return "\n".join(lines)


def _ungraded(found: Ungraded) -> str:
    told = f": {found.points}" if found.points else ""
    title = f"{markdown(found.problem)}: could not be graded{told}"
    return f"### {title}\n\n{markdown(found.reason)}\n"


def _row(row: Row) -> str:
    told = f"{row.earned} / {row.points}"
    name = markdown(row.name).replace("|", "&#124;")
    return f"| {name} | {told if row.passed else f'**{told}**'} |"


def _folded(title: str, text: str) -> Iterator[str]:
    yield from ("<details>", f"<summary>{markdown(title)}</summary>", "")
    yield from (*_fenced(text), "", "</details>", "")


def _fenced(text: str) -> list[str]:
    """A block of code, its fence longer than any in the text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return [fence, text, fence]
