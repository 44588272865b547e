"""What result formats show of a report: rows, points and texts, cleaned, and cut to a size.

Whatever a submission had a part in is cleaned here, once; each format escapes it in its own way.
Rows, titles and points are the same however a submission ends; of a file that could not be read
there is the maximum alone, since no check was collected for it. Formats that cannot hold a row back
show all hidden checks as one, without text: how many points it has tells enough.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from grader.clean import TEXT_LIMIT, clean, clean_line
from grader.faults import KitFault
from grader.render import no_command
from grader.report import Cases, CheckResult, Failure, FaultReport, Outcome, Report

MOST_BYTES = 900_000  # PrairieLearn loses a result of more than 1 MiB, GitHub a longer summary

State = Literal["fault", "unreadable"]

_FAULT = (
    "This file could not be graded. The fault is in the grader, not in the file; "
    "whoever runs the grader finds it in its log."
)


@dataclass(frozen=True)
class Refused(FaultReport):
    """A file that could not be read, so that nothing could be graded: no fault of the kit.

    The message is for whoever handed it in. max_score: what a readable file would be graded out of;
    None where nobody can say, because it is not known for which problem the file is.
    """

    max_score: int | None = None


@dataclass(frozen=True)
class Row:
    """One check, or all hidden ones. extra: beside the score, as extra credit.

    message: empty where it is passed, and where it may tell nothing. line: of the submission,
    where one is to blame.
    """

    title: str
    group: str
    points: int
    earned: int
    extra: bool
    hidden: bool
    outcome: Outcome
    message: str
    line: int | None
    seconds: float
    stopped: str | None

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    @property
    def name(self) -> str:
        return f"{self.title} (extra credit)" if self.extra else self.title

    @property
    def told(self) -> str:
        """How many of its points are earned."""
        return _points(self.earned, self.points)


@dataclass(frozen=True)
class Sheet:
    """One grading, ready to be shown.

    public, hidden: the rows of the checks, in order, each by itself. folded: the hidden ones as
    one, and those for extra credit as one. load_error: why the file could not be loaded, with its
    line; empty where it was. left_out: what was, to keep the result small.
    """

    report: Report
    file: str
    public: tuple[Row, ...]
    hidden: tuple[Row, ...]
    folded: tuple[Row, ...]
    load_error: str
    load_line: int | None
    cause: str
    output: str
    left_out: str

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, for formats that cannot hold one back."""
        return self.public + self.folded

    @property
    def scored(self) -> tuple[Row, ...]:
        """As `rows`, without extra credit, for formats that have no place for it."""
        return tuple(row for row in self.rows if not row.extra)

    @property
    def points(self) -> str:
        """The score in words, as everybody may know it."""
        told = _points(self.report.score, self.report.max_score)
        if self.report.seed is None:
            told += " (no hidden checks were run)"
        if self.report.extra.max:
            told += f", and {self.report.extra.earned} of {self.report.extra.max} of extra credit"
        return told

    @property
    def remarks(self) -> list[str]:
        """What is to be said beside the rows: why nothing ran, what it looks like, what is cut."""
        return [remark for remark in (self._not_loaded, self.cause, self.left_out) if remark]

    @property
    def _not_loaded(self) -> str:
        if not self.load_error:
            return ""
        return f"The file could not be loaded, so no check was run.\n{self.load_error}"


@dataclass(frozen=True)
class Ungraded:
    """A grading that did not take place. reason: for whoever handed the file in.

    most: what the file has none of, where it is the learner's that there is nothing to grade; None
    where nobody is to have a score.
    """

    kit: str
    version: str
    problem: str
    started_at: str
    state: State
    reason: str
    most: int | None

    @property
    def points(self) -> str:
        """The score in words; empty where there is none."""
        return "" if self.most is None else _points(0, self.most)


def fit(
    report: Report | FaultReport,
    graded: Callable[[Sheet], str],
    ungraded: Callable[[Ungraded], str],
    most: int = MOST_BYTES,
) -> str:
    """The result as one of the two functions writes it, in at most so many bytes.

    Where it is too large, texts are left out, the least telling first; never rows or points.
    A report without a scored check is of a grading that did not take place.
    """
    if isinstance(report, FaultReport) or not report.max_score:
        return ungraded(_ungraded(report))
    for cut in _CUTS:
        text = graded(_sheet(report, cut))
        if len(text.encode()) <= most:
            return text
    raise KitFault(f"{report.problem}: too many checks for a result of {most} bytes")


def for_learners(report: Report) -> Report:
    """The report as it may stand in a log that learners read: hidden checks folded, and no seed."""
    public = tuple(check for check in report.checks if not check.hidden)
    is_lost = any(check.outcome != "passed" and not check.extra for check in public)
    return replace(
        report,
        checks=(*public, *_folded(report.checks)),
        seed=None,
        # Where only hidden checks were lost, it would tell what they found.
        likely_cause=report.likely_cause if is_lost else None,
    )


def strict_json(document: dict[str, Any], indent: int | None = 2) -> str:
    """Strict JSON in ASCII, in lines or (indent None) in one; a last newline.

    Raises TypeError for a value that is not exactly of a type that JSON has: a float of NumPy's
    would be written as Python's.
    """
    _only_json(document)
    separators = (",", ":") if indent is None else None
    text = json.dumps(document, allow_nan=False, indent=indent, separators=separators)
    # Only strings hold it, and a CI runner that prints the result would take it for a command.
    return text.replace("##", "#\\u0023") + "\n"


def harmless(text: str) -> str:
    """The text so that no line of it is a command to a CI runner, wherever it is printed."""
    return "\n".join(map(no_command, text.split("\n")))


def counted(number: int, thing: str) -> str:
    """The number and what is counted, of which there may be one."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def moment(started_at: str) -> str:
    """A moment of a report in UTC, to the second and without its zone: 2026-11-29T17:51:03."""
    return datetime.fromisoformat(started_at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")


# ---- from a report


@dataclass(frozen=True)
class _Cut:
    """How much of the texts is kept: of the messages those of so many failures."""

    left_out: str = ""
    output: bool = True
    traceback: bool = True
    messages: int | None = None
    title: int = 200


_CUTS = (
    _Cut(),
    _Cut("what the file printed", output=False),
    _Cut("what the file printed and tracebacks", output=False, traceback=False),
    _Cut(
        "what the file printed, tracebacks, and messages after the fifth failure",
        output=False,
        traceback=False,
        messages=5,
    ),
    _Cut("all texts but titles", output=False, traceback=False, messages=0, title=60),
)
_OURS = re.compile(r"^ *line (\d{1,6})(?:, in |: )", re.MULTILINE)


def _sheet(report: Report, cut: _Cut) -> Sheet:
    public = [check for check in report.checks if not check.hidden]
    missed = [check.id for check in public if check.outcome != "passed"][: cut.messages]
    load_error = _load_error(report.load_error, cut) if report.load_error else ""
    cause = for_learners(report).likely_cause
    left_out = f"Left out, to keep this result small: {cut.left_out}." if cut.left_out else ""
    return Sheet(
        report=report,
        file=clean_line(report.submission.file) or "submission",
        public=tuple(_row(check, cut, check.id in missed) for check in public),
        hidden=tuple(_row(check, cut, False) for check in report.checks if check.hidden),
        folded=tuple(_row(check, cut, False) for check in _folded(report.checks)),
        load_error=load_error,
        load_line=_line(load_error),
        cause=f"Likely cause: {clean_line(cause.sentence, 600)}" if cause else "",
        output=_printed(report) if cut.output else "",
        left_out=left_out,
    )


def _row(check: CheckResult, cut: _Cut, is_told: bool) -> Row:
    message = clean(check.message or "", TEXT_LIMIT) if is_told else ""
    if message and check.outcome == "not_run":
        message = f"Not run: {message}"
    elif message and check.hint:
        message += f"\nHint: {clean_line(check.hint, 600)}"
    return Row(
        title=clean_line(check.title, cut.title),
        group=clean_line(check.group),
        points=check.points,
        earned=check.earned,
        extra=check.extra,
        hidden=check.hidden,
        outcome=check.outcome,
        message=message,
        line=_line(message) if check.outcome == "error" else None,
        seconds=check.seconds,
        stopped=check.stopped,
    )


def _load_error(failure: Failure, cut: _Cut) -> str:
    parts = [failure.message, failure.traceback if cut.traceback else None]
    # Nothing at all would mean that the file was loaded.
    return clean("\n".join(filter(None, parts))) or "nothing is told of why"


def _folded(checks: Sequence[CheckResult]) -> Iterator[CheckResult]:
    """The hidden checks as one and those for extra credit as one, where there are any."""
    for extra in (False, True):
        hidden = [check for check in checks if check.hidden and check.extra is extra]
        if not hidden:
            continue
        outcomes = {check.outcome for check in hidden}
        outcome = outcomes.pop() if len(outcomes) == 1 else "failed"
        yield CheckResult(
            id="hidden",
            title="hidden checks",
            group="hidden",
            points=sum(check.points for check in hidden),
            extra=extra,
            earned=sum(check.earned for check in hidden),
            outcome=outcome,
            message=None if outcome == "passed" else "not all of them are passed",
            hint=None,
            cases=Cases(0, 0),
            seconds=0.0,
            hidden=True,
        )


def _printed(report: Report) -> str:
    text = clean(report.output.text).rstrip("\n")
    return f"{text}\n(more was printed than is kept)" if report.output.truncated else text


def _line(text: str) -> int | None:
    """The line of the submission that a message ends up at."""
    found = _OURS.findall(text)
    return int(found[-1]) if found else None


def _points(earned: int, most: int) -> str:
    return f"{earned} of {counted(most, 'point')}"


def _ungraded(report: Report | FaultReport) -> Ungraded:
    state: State = "fault"
    reason = _FAULT  # what a fault says of itself may quote a hidden check
    most = None
    if isinstance(report, Refused):
        state = "unreadable"
        most = report.max_score or None
        reason = f"This file could not be graded. {report.message}"
    return Ungraded(
        kit=harmless(clean_line(report.kit.name)) or "kit",
        version=harmless(clean_line(report.kit.version)) or "unversioned",
        problem=harmless(clean_line(report.problem or "")) or "submission",
        started_at=report.started_at,
        state=state,
        reason=harmless(clean_line(reason, 600)),
        most=most,
    )


def _only_json(value: object) -> None:
    if type(value) is dict:
        for key, entry in value.items():
            if type(key) is not str:
                raise TypeError(f"a key of {type(key).__name__}, not of str")
            _only_json(entry)
    elif type(value) is list:
        for entry in value:
            _only_json(entry)
    elif type(value) not in (str, int, float, bool, type(None)):
        raise TypeError(f"a value of {type(value).__name__}, which JSON does not have")
