"""A check of the kit as JUnit XML, the form that CI systems read: one suite for each problem.

A test case is a known file, or a rule of everything else. JUnit has no schema of its own; this is
the part that the common readers share. A case has one `failure` with all of its complaints, or one
`error` where the kit was at fault with that file.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from grader.dev.complaints import Complaint
from grader.dev.survey import Result, by_file
from grader.problem import LIBRARIES
from grader.report import FaultReport

if TYPE_CHECKING:
    from grader.dev.check import Verdict

KIT = "kit"  # the suite of what belongs to no problem

# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(verdict: Verdict) -> str:
    """The outcome as an XML document, with a declaration and a last newline."""
    root = ET.Element("testsuites", name="grade dev check")
    totals = [0, 0, 0]
    for name in (*verdict.problems, KIT):
        cases = [*_cases(verdict, name)]
        notes = verdict.notes if name == KIT else ()
        counts = _suite(root, name, cases, notes)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    _count(root, totals, verdict.seconds)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


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


@dataclass(frozen=True)
class _Case:
    group: str
    name: str
    file: str | None = None
    seconds: float = 0.0
    properties: tuple[tuple[str, str], ...] = ()
    complaints: list[Complaint] = field(default_factory=list)
    faulty: bool = False


def _cases(verdict: Verdict, suite: str) -> Iterator[_Case]:
    mine = [c for c in verdict.complaints if (problem_of(c, verdict.problems) or KIT) == suite]
    graded = set()
    for known, group in by_file([r for r in verdict.results if r.known.slug == suite]):
        graded.add(known.file)
        yield _Case(
            group=known.kind,
            name=known.name,
            file=known.file,
            seconds=sum(r.report.seconds for r in group if not isinstance(r.report, FaultReport)),
            properties=tuple(_properties(group)),
            complaints=[complaint for complaint in mine if complaint.file == known.file],
            faulty=any(isinstance(result.report, FaultReport) for result in group),
        )
    for rule in dict.fromkeys((*verdict.rules, *(complaint.rule for complaint in mine))):
        broken = [complaint for complaint in mine if complaint.rule == rule]
        others = [complaint for complaint in broken if complaint.file not in graded]
        # A rule that only known files break is red there; green here would contradict that.
        if others or not broken:
            yield _Case("rule", rule, others[0].file if others else None, complaints=others)


def _properties(group: Sequence[Result]) -> Iterator[tuple[str, str]]:
    for result in group:
        report = result.report
        if isinstance(report, FaultReport):
            yield f"seed {result.seed}", "the kit is at fault"
        else:
            told = f"{report.score} of {report.max_score}, {report.verdict}"
            yield f"seed {result.seed}", told


def _suite(
    root: ET.Element, name: str, cases: Sequence[_Case], notes: Sequence[str]
) -> tuple[int, int, int]:
    suite = ET.SubElement(root, "testsuite", name=_legal(name))
    errors = 0
    for case in cases:
        element = ET.SubElement(
            suite,
            "testcase",
            classname=_legal(f"{name}.{case.group}"),
            name=_legal(case.name),
            time=f"{case.seconds:.3f}",
        )
        if case.file:
            element.set("file", _legal(case.file))
        if case.complaints:
            element.set("line", str(case.complaints[0].line))
        if case.properties:
            properties = ET.SubElement(element, "properties")
            for key, text in case.properties:
                ET.SubElement(properties, "property", name=_legal(key), value=_legal(text))
        if case.complaints:
            first = case.complaints[0]
            kind = "error" if case.faulty else "failure"
            message = " ".join(_legal(first.text).split())
            if len(case.complaints) > 1:
                message += f" (and {len(case.complaints) - 1} more)"
            failure = ET.SubElement(element, kind, type=_legal(first.rule), message=message)
            failure.text = _legal("\n".join(map(str, case.complaints)))
            errors += case.faulty
    if notes:
        ET.SubElement(suite, "system-out").text = _legal("\n".join(notes))
    failures = sum(bool(case.complaints) for case in cases) - errors
    counts = (len(cases), failures, errors)
    _count(suite, counts, sum(case.seconds for case in cases))
    return counts


def _count(element: ET.Element, counts: Sequence[int], seconds: float) -> None:
    for name, count in zip(("tests", "failures", "errors"), counts, strict=True):
        element.set(name, str(count))
    element.set("skipped", "0")
    element.set("time", f"{seconds:.3f}")


def _legal(text: str) -> str:
    """The text with what no XML may hold written out, as #x1B."""
    return _ILLEGAL.sub(lambda found: f"#x{ord(found[0]):02X}", text)
