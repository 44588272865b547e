"""JUnit XML: a suite for the problem, a test case for each check, hidden ones as one.

It knows no partial credit: points are properties, and a failure says how many there were. A check
for extra credit that is not earned is `skipped`, since it is nobody's failure.
"""

from __future__ import annotations

from grader import junit_xml
from grader.clean import clean_line
from grader.export.sheet import Row, Sheet, Ungraded, fit, harmless, moment
from grader.junit_xml import Case, Suite, Trouble
from grader.report import FaultReport, Report


def render(report: Report | FaultReport) -> str:
    """The document; a file that could not be loaded is an error of every check."""
    return fit(report, _graded, _ungraded)


def _graded(sheet: Sheet) -> str:
    report = sheet.report
    suite = Suite(
        name=report.problem,
        cases=[_case(row, sheet) for row in sheet.rows],
        started=moment(report.started_at),
        properties={
            "points": str(report.score),
            "max_points": str(report.max_score),
            "kit_version": clean_line(report.kit.version),
            "library": report.library,
            "sha256": report.submission.sha256,
        },
        output=harmless("\n\n".join(filter(None, [*sheet.remarks, sheet.output]))),
    )
    return junit_xml.render(clean_line(report.kit.name) or "kit", [suite])


def _ungraded(found: Ungraded) -> str:
    kind = "GraderFault" if found.state == "fault" else "FileNotReadable"
    points = {} if found.most is None else {"points": "0", "max_points": str(found.most)}
    case = Case(
        found.state,
        "could not be graded",
        properties=[*points.items()],
        trouble=Trouble("error", kind, found.reason, found.reason),
    )
    suite = Suite(found.problem, [case], moment(found.started_at), points)
    return junit_xml.render(found.kit, [suite])


def _case(row: Row, sheet: Sheet) -> Case:
    properties = [("points", str(row.earned)), ("max_points", str(row.points))]
    if row.extra:
        properties.append(("extra_credit", "true"))
    return Case(
        group=harmless(row.group),
        name=harmless(row.name),
        seconds=row.seconds,
        properties=properties,
        trouble=None if row.passed else _trouble(row, sheet),
    )


def _trouble(row: Row, sheet: Sheet) -> Trouble:
    if sheet.load_error:
        why = harmless(f"the file could not be loaded: {sheet.load_error}")
        return Trouble("error", "NotLoaded", clean_line(why, 300), row.told)
    message = harmless(row.message)
    text = "\n".join(filter(None, [message, row.told]))
    line = clean_line(message, 300) or row.told
    if row.extra:
        return Trouble("skipped", "ExtraCredit", line, text)
    match row.outcome:
        case "error":
            return Trouble("error", "CheckError", line, text)
        case "not_run":
            return Trouble("skipped", "NotRun", line, text)
    return Trouble("failure", "CheckFailed", line, text)
