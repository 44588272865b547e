"""One grading as a page for a browser: a file without script, network or fonts of its own.

Everything that a submission had a part in is escaped text, and a content security policy lets
nothing run, nor style but what the template holds. Hidden checks are one row.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from itertools import groupby
from pathlib import Path

import jinja2

from grader.clean import clean_line
from grader.export.sheet import Row, Sheet, Ungraded, fit, harmless, moment
from grader.report import FaultReport, Report

_STATES = {
    "passed": ("✓", "passed"),
    "failed": ("✗", "wrong"),
    "error": ("!", "stopped"),
    "not_run": ("–", "not run"),
}


def render(report: Report | FaultReport) -> str:
    """The page; of a grading that did not take place it says why."""
    return fit(report, _graded, _ungraded)


def _graded(sheet: Sheet) -> str:
    report = sheet.report
    scored = [row for row in sheet.rows if not row.extra]
    extra = [row for row in sheet.rows if row.extra]
    return _page(
        title=clean_line(report.title) or report.problem,
        subtitle=f"{sheet.file} with {report.library} on {clean_line(report.device)}",
        sheet=sheet,
        reason="",
        groups=[*_groups(scored), *([("extra credit, beside the score", extra)] if extra else [])],
        facts=[*_facts(sheet)],
    )


def _ungraded(found: Ungraded) -> str:
    return _page(
        title=found.problem,
        subtitle=f"could not be graded{f': {found.points}' if found.points else ''}",
        sheet=None,
        reason=found.reason,
        groups=[],
        facts=[("kit", f"{found.kit} {found.version}"), ("began", _shown(found.started_at))],
    )


def _page(**parts: object) -> str:
    return _template().render(states=_STATES, **parts).lstrip() + "\n"


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["policy"] = _policy_hash
    environment.filters["harmless"] = harmless
    return environment.get_template("report.html.j2")


def _groups(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """The rows group by group, in the order in which groups are first met."""
    order = list(dict.fromkeys(row.group for row in rows))
    together = groupby(sorted(rows, key=lambda row: order.index(row.group)), lambda row: row.group)
    return [(group, [*found]) for group, found in together]


def _facts(sheet: Sheet) -> list[tuple[str, str]]:
    report = sheet.report
    environment = report.environment
    torch = f", PyTorch {clean_line(environment.torch)}" if environment.torch else ""
    versions = f"Python {clean_line(environment.python)}{torch}, NumPy {environment.numpy}"
    return [
        ("kit", f"{clean_line(report.kit.name)} {clean_line(report.kit.version)}"),
        ("problem", report.problem),
        ("SHA-256 of the file", report.submission.sha256),
        ("graded with", f"{clean_line(versions)} on {clean_line(environment.platform)}"),
        ("isolation", report.isolation.level),
        ("began", _shown(report.started_at)),
    ]


def _shown(started_at: str) -> str:
    return f"{moment(started_at).replace('T', ' ')} UTC"


def _policy_hash(text: str) -> str:
    """What a content security policy calls an inline style by."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
