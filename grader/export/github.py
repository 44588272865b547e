"""What a step of GitHub Actions prints: an annotation for each failure, then the two notices.

The notices are the grade that GitHub Classroom takes; no reporter is needed. They come last. Of a
file that cannot be read they tell no points, or an earlier grade would stay; of a fault of the
grader there are none. The summary of the step is `step_summary`.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.actions import MOST_ANNOTATIONS, command
from grader.export.sheet import Row, Sheet, Ungraded, fit, harmless
from grader.report import FaultReport, Report


def render(report: Report | FaultReport) -> str:
    """Workflow commands, one on each line; hidden checks are counted, not told."""
    return fit(report, _graded, _ungraded)


def _graded(sheet: Sheet) -> str:
    report = sheet.report
    return _lines(*_annotations(sheet), *_notices(report.score, report.max_score))


def _ungraded(found: Ungraded) -> str:
    error = command("error", found.reason, title=f"{found.problem}: could not be graded")
    return _lines(error, *(() if found.most is None else _notices(0, found.most)))


def _lines(*commands: str) -> str:
    return "".join(f"{line}\n" for line in commands)


def _notices(score: int, most: int) -> tuple[str, str]:
    """The grade, as Classroom reads it."""
    total = f'{{"totalPoints":{score},"maxPoints":{most}}}'
    return (
        command("notice", f"Points {score}/{most}", title="Autograding complete"),
        command("notice", total, title="Autograding report"),
    )


def _annotations(sheet: Sheet) -> Iterator[str]:
    if sheet.load_error:
        yield _error(sheet, "could not be loaded", sheet.load_error, sheet.load_line)
        return
    lost = [row for row in sheet.scored if not row.passed]
    shown = lost if len(lost) <= MOST_ANNOTATIONS else lost[: MOST_ANNOTATIONS - 1]
    for row in shown:
        yield _error(sheet, row.title, _message(row), row.line)
    if more := len(lost) - len(shown):
        yield _error(sheet, "more", f"and {more} more; the job's summary has all", None)


def _message(row: Row) -> str:
    return row.message or row.told


def _error(sheet: Sheet, title: str, message: str, line: int | None) -> str:
    place: dict[str, str | int] = {"file": harmless(sheet.file)}
    if line is not None:
        place["line"] = line
    title = harmless(f"{sheet.report.problem}: {title}")
    return command("error", harmless(message), **place, title=title)
