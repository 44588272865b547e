"""A check of the kit as JUnit XML: one suite for each problem.

A test case is a known file, or a rule of everything else. A case has one `failure` with all of its
complaints, or one `error` where the kit was at fault with that file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from grader import junit_xml
from grader.dev.complaints import Complaint
from grader.dev.survey import Result, by_file
from grader.junit_xml import Case, Suite, Trouble
from grader.problem import LIBRARIES
from grader.report import FaultReport

if TYPE_CHECKING:
    from grader.dev.check import Verdict

KIT = "kit"  # the suite of what belongs to no problem


def render(verdict: Verdict) -> str:
    """The outcome as an XML document, with a declaration and a last newline."""
    suites = [
        Suite(
            name=name,
            cases=[*_cases(verdict, name)],
            output="\n".join(verdict.notes) if name == KIT else "",
        )
        for name in (*verdict.problems, KIT)
    ]
    return junit_xml.render("grade dev check", suites, verdict.seconds)


def problem_of(complaint: Complaint, problems: Sequence[str]) -> str | None:
    """The problem that a complaint is about, told by its file; None if it is about none of them."""
    path = PurePosixPath(complaint.file)
    if len(path.parts) > 2 and path.parts[0] in ("problems", "solutions"):
        slug = path.parts[1]
    elif path.parts[0] == "templates":
        stem, _, ending = path.stem.rpartition("_")
        slug = stem if ending in LIBRARIES else path.stem
    else:
        return None
    return slug if slug in problems else None


def _cases(verdict: Verdict, suite: str) -> Iterator[Case]:
    mine = [c for c in verdict.complaints if (problem_of(c, verdict.problems) or KIT) == suite]
    graded = set()
    for known, group in by_file([r for r in verdict.results if r.known.slug == suite]):
        graded.add(known.file)
        complaints = [complaint for complaint in mine if complaint.file == known.file]
        faulty = any(isinstance(result.report, FaultReport) for result in group)
        yield Case(
            group=known.kind,
            name=known.name,
            seconds=sum(r.report.seconds for r in group if not isinstance(r.report, FaultReport)),
            file=known.file,
            line=complaints[0].line if complaints else None,
            properties=tuple(_properties(group)),
            trouble=_trouble(complaints, faulty),
        )
    for rule in dict.fromkeys((*verdict.rules, *(complaint.rule for complaint in mine))):
        broken = [complaint for complaint in mine if complaint.rule == rule]
        others = [complaint for complaint in broken if complaint.file not in graded]
        # A rule that only known files break is red there; green here would contradict that.
        if others or not broken:
            yield Case(
                group="rule",
                name=rule,
                file=others[0].file if others else None,
                line=others[0].line if others else None,
                trouble=_trouble(others),
            )


def _properties(group: Sequence[Result]) -> Iterator[tuple[str, str]]:
    for result in group:
        report = result.report
        if isinstance(report, FaultReport):
            yield f"seed {result.seed}", "the kit is at fault"
        else:
            told = f"{report.score} of {report.max_score}, {report.verdict}"
            yield f"seed {result.seed}", told


def _trouble(complaints: Sequence[Complaint], faulty: bool = False) -> Trouble | None:
    if not complaints:
        return None
    message = complaints[0].text
    if len(complaints) > 1:
        message += f" (and {len(complaints) - 1} more)"
    return Trouble(
        kind="error" if faulty else "failure",
        type=complaints[0].rule,
        message=message,
        text="\n".join(map(str, complaints)),
    )
