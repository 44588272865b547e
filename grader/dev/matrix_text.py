"""The kill matrix as text: for a terminal, check by check, and as Markdown for a step summary."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from grader.clean import clean_line
from grader.dev.matrix import DRAWN, ORDER, Check, Finding, Matrix, Signs, sentence
from grader.render import Line

LEAST_WIDTH = 60
SHOWN = 12  # entries of a finding that a text tells; the JSON has them all

_BLANK = Line()


def lines(
    matrix: Matrix, width: int = 80, *, grid: bool = False, signs: Signs = DRAWN
) -> list[Line]:
    """The matrix for a terminal of `width` columns, to be drawn by `grader.render`.

    grid: every file by every check too, a letter each. signs: `PLAIN` for a pipe or a log.
    """
    return [*_lines(matrix, max(width, LEAST_WIDTH), signs, grid)]


def _lines(matrix: Matrix, width: int, signs: Signs, grid: bool) -> Iterator[Line]:
    wrong = len(matrix.of("wrong"))
    yield Line(body=((matrix.title, "strong"), (f"  ({matrix.problem}, {matrix.library})", "dim")))
    yield Line(body=((matrix.summary, ""),))
    yield _BLANK
    if matrix.sound:
        yield from _wrapped(sentence(matrix.headline), width, "", "good")
    for number, finding in enumerate(matrix.findings):
        yield from [_BLANK] if number else []
        yield from _told_finding(finding, width, "bad")
    yield _BLANK
    yield from _wrapped(
        f"How many of the {wrong} wrong files each check catches, and how many of these no other "
        "check does (alone). Points: h hidden, + extra credit.",
        width,
    )
    yield _BLANK
    yield from _table(matrix, width, signs)
    if matrix.alone:
        yield _BLANK
        yield Line(body=(("Caught by one check alone", "strong"),))
        for check in matrix.checks:
            if names := matrix.alone.get(check.id):
                yield from _wrapped(f"{check.number:>3}  {', '.join(names)}", width, " " * 5)
    for note in matrix.notes:
        yield _BLANK
        yield from _told_finding(note, width, "warn")
    if grid:
        yield _BLANK
        yield from _grid(matrix, width, signs)


def _told_finding(finding: Finding, width: int, style: str) -> Iterator[Line]:
    yield from _wrapped(sentence(finding.text), width, "", style)
    for item in _first(finding.items):
        yield from _wrapped(f"  {clean_line(item, 1000)}", width, " " * 6)


def _first(items: Sequence[str]) -> Sequence[str]:
    if len(items) <= SHOWN:
        return items
    return (*items[:SHOWN], f"and {len(items) - SHOWN} more")


def _table(matrix: Matrix, width: int, signs: Signs) -> Iterator[Line]:
    longest = max((len(check.id) for check in matrix.checks), default=0)
    name_width = min(longest, width - 29)
    bar_width = min(24, width - 23 - name_width)
    most = max(matrix.kills.values(), default=0) or 1
    heads = f"{'no':>3}  {'check':<{name_width}}  {'pts':>3} {'catches':<{bar_width + 4}} alone"
    yield Line(body=((heads, "dim"),))
    for group, checks in groupby(matrix.checks, lambda check: check.group):
        yield Line(body=((group, "strong"),))
        for check in checks:
            kills, alone = matrix.kills[check.id], len(matrix.alone.get(check.id, ()))
            length = -(-kills * bar_width // most)  # rounded up: one file is to be seen
            mark = "h" if check.hidden else "+" if check.extra else " "
            style = "dim" if check.id in matrix.untried else "" if kills else "bad"
            yield Line(
                body=(
                    (f"{check.number:>3}  ", "dim"),
                    (f"{_cut(check.id, name_width, signs):<{name_width}} ", style),
                    (f"{check.points:>3}{mark} ", "dim"),
                    (f"{kills:>3} ", style),
                    (f"{signs.bar * length:<{bar_width}} ", "good"),
                    (f"{alone or '':>5}", ""),
                )
            )


def _grid(matrix: Matrix, width: int, signs: Signs) -> Iterator[Line]:
    """Every file by every check, in as many blocks of columns as the width asks for."""
    legend = (
        f"{signs.killed} lost with every seed   {signs.sometimes} with some   "
        f"{signs.passed} passed   {signs.not_run} not run   "
        f"{signs.unnamed} lost, unnamed   {signs.not_lost} passed, but named"
    )
    yield from _wrapped(legend, width)
    longest = max((len(row.name) for row in matrix.rows), default=0)
    for block in _blocks(matrix.checks, width - min(longest, 28) - 2):
        gaps = sum(map(len, _gaps(block)))
        name_width = min(longest, width - len(block) - gaps - 2)
        yield _BLANK
        for place in (10, 1):
            digits = (
                (check.number // place % 10 if check.number >= place else " ") for check in block
            )
            head = "".join(f"{gap}{digit}" for gap, digit in zip(_gaps(block), digits, strict=True))
            yield Line(body=((f"{'':<{name_width}}  {head}", "dim"),))
        for kind in ORDER:
            rows = matrix.of(kind)
            if rows:
                yield Line(body=((kind, "strong"),))
            for row in rows:
                name = f"{_cut(row.name, name_width, signs):<{name_width}}  "
                cells = (
                    span
                    for gap, check in zip(_gaps(block), block, strict=True)
                    for span in ((gap, ""), signs.of(row, check))
                )
                yield Line(body=((name, ""), *cells))


def _blocks(checks: Sequence[Check], room: int) -> Iterator[Sequence[Check]]:
    """The checks in pieces that fit into `room` columns, a gap between groups."""
    block: list[Check] = []
    for check in checks:
        if len(block) + 1 + sum(map(len, _gaps([*block, check]))) > room and block:
            yield block
            block = []
        block.append(check)
    if block:
        yield block


def _gaps(block: Sequence[Check]) -> list[str]:
    """What stands before each check of a block: a blank where its group begins."""
    return [
        " " if at and check.group != block[at - 1].group else "" for at, check in enumerate(block)
    ]


def _cut(text: str, width: int, signs: Signs) -> str:
    return text if len(text) <= width else text[: width - len(signs.cut)] + signs.cut


def _wrapped(text: str, width: int, indent: str = "", style: str = "") -> Iterator[Line]:
    rows = textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    for row in rows or [""]:
        yield Line(body=((row, style),))
