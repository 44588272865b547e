"""A report as the learner's screen: pure functions from a Report to lines, from lines to text.

`screen` says what is shown and in which order; `plain` makes ASCII-framed text of it for a pipe or
a file, `styled` something rich can print. Text that a submission had a part in is cleaned again
here and never read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.clean import clean, clean_line
from grader.report import CheckResult, Failure, Isolation, Output, Report

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH = 100
LEAST_WIDTH = 40
IN_FULL = 4  # failures told with their inputs; fixing one often mends the others
OUTPUT_LINES = 20  # of what the submission printed; the score JSON keeps more

Span = tuple[str, str]


@dataclass(frozen=True)
class Line:
    """One line: spans of text and style names. Where it is too long, it goes on under `body`."""

    lead: tuple[Span, ...] = ()
    body: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Marks:
    """How the outcomes of a check are drawn."""

    passed: str
    failed: str
    error: str
    not_run: str

    def of(self, check: CheckResult) -> Span:
        match check.outcome:
            case "passed":
                return self.passed, "good"
            case "failed":
                return self.failed, "bad"
            case "error":
                return self.error, "bad"
        return self.not_run, "dim"


SIGNS = Marks(passed="✓", failed="✗", error="✗", not_run="–")
WORDS = Marks(passed="pass", failed="FAIL", error="FAIL", not_run="----")

_VERDICTS = {
    "correct": ("correct", "good"),
    "incorrect": ("incorrect", "bad"),
    "lossless_other_draws": (
        "lossless, other draws: the output follows the target's law, "
        "but not from the random numbers the statement asks for",
        "warn",
    ),
    "biased": ("biased: the output does not follow the target's law", "bad"),
    "not_run": ("not run: the file could not be loaded", "bad"),
}


def screen(
    report: Report,
    *,
    again: str,
    hidden_points: int = 0,
    marks: Marks = SIGNS,
    full: bool = False,
) -> list[Line]:
    """Everything a learner is told about one grading.

    `again` is the command that grades the file again; `hidden_points` is how much the problem's
    hidden checks are worth, told where they did not run. With `full` every failure is told with its
    inputs; without, the first few are and the others in one line, so that the screen stays one.
    """
    return [
        *_header(report),
        *(_load_error(report) if report.load_error else _checks(report, marks, full)),
        *_output(report.output),
        *_result(report, hidden_points),
        *_next(report, clean_line(again)),
    ]


def plain(lines: list[Line]) -> str:
    """The lines as text without colour, cursor movement or wrapping."""
    rows = ("".join(text for text, _ in (*line.lead, *line.body)).rstrip() for line in lines)
    return "\n".join(map(no_command, rows)) + "\n"


_RUNNERS_WORD = re.compile(r"##(?=[\w.]*\[)")


def no_command(row: str) -> str:
    """The row so that a CI runner which reads it takes no part of it for a command of its own.

    Such commands begin with two colons, or have ##[, ##vso[ or ##teamcity[ anywhere; a learner's
    text may.
    """
    row = _RUNNERS_WORD.sub("## ", row)
    bare = row.lstrip()
    return f"{row[: len(row) - len(bare)]}| {bare}" if bare.startswith("::") else row


def styled(lines: list[Line]) -> RenderableType:
    """The lines for a terminal: coloured, and wrapped under the place where their text begins."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    styles = {
        "": "",
        "bad": "red",
        "code": "cyan",
        "dim": "dim",
        "good": "green",
        "strong": "bold",
        "warn": "yellow",
    }

    def text(spans: tuple[Span, ...]) -> Text:
        return Text.assemble(*((part, styles[style]) for part, style in spans))

    rows: list[RenderableType] = []
    for line in lines:
        lead, body = text(line.lead), text(line.body)
        if not line.lead:
            rows.append(body)
            continue
        row = Table.grid(padding=0)
        row.add_column(width=lead.cell_len, no_wrap=True)
        row.add_column(overflow="fold")
        row.add_row(lead, body)
        rows.append(row)
    return Group(*rows)


def _header(report: Report) -> Iterator[Line]:
    file = clean_line(report.submission.file)
    yield Line(body=((report.title, "strong"), (f"  ({report.problem})", "dim")))
    # The name is a learner's choice: a line must not begin with it.
    where = f"{report.library} on {report.device}"
    yield Line(body=(("File: ", "dim"), (file, ""), (f" with {where}", "dim")))
    yield Line()


def _load_error(report: Report) -> Iterator[Line]:
    failure = report.load_error
    if failure is None:
        return
    yield Line(body=(("Your file could not be loaded, so no check was run.", "bad"),))
    yield Line()
    yield from _failure(failure)
    yield Line()


def _failure(failure: Failure) -> Iterator[Line]:
    yield from _block(failure.message, "  ", "strong")
    if failure.traceback:
        yield Line()
        yield from _block(failure.traceback, "  ", "code")


def _checks(report: Report, marks: Marks, full: bool) -> Iterator[Line]:
    told = _Told(report.checks, full)
    for extra in (False, True):
        checks = [check for check in report.checks if check.extra is extra]
        if extra and checks:
            yield Line(body=(("Extra credit, beside the score", "strong"),))
            yield Line()
        for group in dict.fromkeys(check.group for check in checks):
            yield Line(body=((group, "strong" if not extra else ""),))
            for check in checks:
                if check.group == group:
                    yield from _check(check, marks, told)
            yield Line()
    if told.shortened:
        note = "The other failures are told in one line; --full tells all of them."
        yield Line(body=((note, "dim"),))
        yield Line()


class _Told:
    """How much of each failure is said: some in full, the others in one line.

    In full go the most telling ones. Where every case of a check fails, its title names the
    mistake; where one in ten does, the mistake is another check's.
    """

    def __init__(self, checks: Sequence[CheckResult], full: bool) -> None:
        self.shortened = False
        self._full = full
        self._shown: set[str] = set()
        self._in_full: dict[str, str] = {}
        self._least = min(map(_share_passed, _missed(checks)), default=0.0)
        for check in sorted(_missed(checks), key=_how_telling):
            message = clean(check.message or "")
            if "\n" in message and len(self._in_full) < IN_FULL:
                self._in_full.setdefault(self._mistake(check), check.id)

    def of(self, check: CheckResult) -> str:
        """The message to show for a failure."""
        message, finding = clean(check.message or ""), _finding(clean(check.message or ""))
        brief, mistake = finding.partition("\n")[0], self._mistake(check)
        if self._full or message == brief:
            return message
        if self._in_full.get(mistake) == check.id:
            self._shown.add(mistake)
            return message
        self.shortened = True
        if check.outcome == "error" and mistake in self._in_full:
            return f"{brief} (as {'above' if mistake in self._shown else 'below'})"
        case = check.cases.first_failure
        return f"{clean_line(case)}: {brief}" if case else brief

    def is_hint_due(self, check: CheckResult) -> bool:
        """Whether the check's hint fits, being about its rule and not about another mistake."""
        if self._in_full.get(self._mistake(check), check.id) != check.id:
            return False
        share = _share_passed(check)
        return share < 0.5 or share == self._least

    @staticmethod
    def _mistake(check: CheckResult) -> str:
        # The same exception at the same line is one mistake. The same wrong number is not.
        return _finding(clean(check.message or "")) if check.outcome == "error" else check.id


def _missed(checks: Sequence[CheckResult]) -> list[CheckResult]:
    return [check for check in checks if check.outcome in ("failed", "error")]


def _how_telling(check: CheckResult) -> tuple[bool, bool, float]:
    """What to order failures by, the one that names its mistake best first.

    A hint is there only where the check is about the kind of mistake that was made; a hidden check
    says next to nothing; and of the others the one tells most of whose cases most failed.
    """
    return check.hint is None, check.hidden, _share_passed(check)


def _share_passed(check: CheckResult) -> float:
    return check.cases.passed / check.cases.total if check.cases.total else 0.0


def _finding(message: str) -> str:
    """What a message ends in: the difference or the exception, without the inputs before it."""
    rows = message.rstrip("\n").split("\n")
    last = max((at for at, row in enumerate(rows) if not row.startswith(" ")), default=0)
    return "\n".join(rows[last:])


def _check(check: CheckResult, marks: Marks, told: _Told) -> Iterator[Line]:
    mark, style = marks.of(check)
    points = f"{check.earned}/{check.points}"
    body: list[Span] = [(clean_line(check.title, 400), "" if style != "dim" else "dim")]
    if check.hidden:
        body.append(("  (hidden)", "dim"))
    yield Line(lead=((f"  {mark} ", style), (f"{points:>5}  ", "dim")), body=tuple(body))
    if check.outcome == "passed":
        return
    indent = " " * (len(mark) + 10)
    if check.outcome == "not_run":
        yield from _block(f"not run: {check.message}", indent, "dim")
        return
    yield from _block(told.of(check), indent, "")
    if check.hint and told.is_hint_due(check):
        yield Line(lead=((f"{indent}Hint: ", "warn"),), body=((clean_line(check.hint, 600), ""),))


def _block(text: str, indent: str, style: str) -> Iterator[Line]:
    """Text of several lines, each going on under its own first letter."""
    for row in clean(text).expandtabs(4).rstrip("\n").split("\n"):
        bare = row.lstrip(" ")
        yield Line(lead=((indent + row[: len(row) - len(bare)], ""),), body=((bare, style),))


def _output(output: Output) -> Iterator[Line]:
    if not output.text and not output.truncated:
        return
    yield Line(body=(("What your file printed", "strong"),))
    rows = clean(output.text).expandtabs(4).rstrip("\n").split("\n")
    for row in rows[:OUTPUT_LINES]:
        yield Line(lead=(("  | ", "dim"),), body=((row, ""),))
    if len(rows) > OUTPUT_LINES:
        more = len(rows) - OUTPUT_LINES
        yield Line(body=((f"  ({more} more lines; --json keeps them)", "dim"),))
    if output.truncated:
        yield Line(body=(("  (more was printed than is kept)", "dim"),))
    yield Line()


def _result(report: Report, hidden_points: int) -> Iterator[Line]:
    style = "good" if report.passed else "bad"
    yield _entry("Score", (f"{report.score} of {report.max_score}", style))
    if report.extra.max:
        earned, most = report.extra.earned, report.extra.max
        yield _entry("Extra credit", (f"{earned} of {most}", "good" if earned == most else ""))
    yield _entry("Verdict", _VERDICTS[report.verdict])
    if report.seed is not None:
        seed = report.seed
        yield _entry("Seed", (f"{seed} (--seed {seed} draws the same hidden inputs)", ""))
    elif hidden_points:
        yield _entry("Hidden", (f"{hidden_points} more points when your course grades it", "dim"))
    if report.likely_cause:
        yield _entry("Likely cause", (clean_line(report.likely_cause.sentence, 600), "warn"))
    yield _entry("Isolation", (_isolation(report.isolation), "dim"))
    yield Line()


def _isolation(found: Isolation) -> str:
    """What kept the file apart: the level and, of its layers, those that are locks."""
    names = {"landlock": f"Landlock {found.landlock}", "seccomp": "seccomp"}
    names |= {name: name for name in ("nothing opened", "own user", "no capabilities", "limits")}
    layers = ", ".join(words for name, words in names.items() if name in found.layers)
    layers = f" ({layers})" if layers else ""
    trust = "; on trust, since the file could read the hidden checks" if found.on_trust else ""
    return f"{found.level}{layers}{trust}"


def _entry(name: str, value: Span) -> Line:
    return Line(lead=((f"{name + ':':<14}", "strong"),), body=(value,))


def _next(report: Report, again: str) -> Iterator[Line]:
    for sentence in _advice(report, again):
        yield Line(body=((sentence, ""),))


def _advice(report: Report, again: str) -> Iterator[str]:
    slug = report.problem
    if report.load_error:
        yield f"Next: put that right, then grade again: {again}"
        return
    if report.passed:
        left = report.extra.max - report.extra.earned
        if left:
            yield f"Full marks. {left} points of extra credit are left: grade show {slug}"
        else:
            yield f"Full marks. What the idea leads to: grade show {slug} --learn"
        return
    if all("raised NotImplementedError" in (check.message or "") for check in report.checks):
        yield f"Next: write the function; what it has to do: grade show {slug}"
        yield f"Where to begin: grade hint {slug}    Then: {again}"
        return
    scored = [check for check in _missed(report.checks) if not check.extra]
    # What a biased answer breaks is the law, whatever else it breaks with it.
    law = [check for check in scored if report.verdict == "biased" and check.group == "law"]
    first = min(law or scored, key=_how_telling, default=None)
    if first is None:
        yield f"Next: some checks could not be run here; see why above, then: {again}"
        return
    if report.verdict == "lossless_other_draws":
        yield f"Next: compare the order of your random draws with the statement: grade show {slug}"
    else:
        yield f"Next: start with this one: {clean_line(first.title, 200)}"
    hint = report.likely_cause.hint if report.likely_cause else None
    if hint is not None:
        yield f"Hint {hint} is about it: grade hint {slug} {hint}    Again: {again}"
    else:
        yield f"Stuck? grade hint {slug}    Again: {again}"
