"""A problem's pages in a terminal: Markdown with its formulas as readable text.

Piped, a page is its own Markdown with the formulas turned into Unicode; on a terminal it is laid
out and its code is coloured. Formulas stand between `$` and `$`, or `$$` and `$$`; one that is a
paragraph by itself is set apart. What is in code is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader import formulas

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 88  # lines longer than this are tiring to read

_FENCE = re.compile(r" *(`{3,}|~{3,})")
_SPAN = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<dollar>\\\$)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|\$(?P<inline>(?![\s$])(?:[^$\\]|\\.)*?(?<!\s))\$(?!\d)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Formula:
    """A displayed formula that stands by itself, one string for each of its lines."""

    lines: tuple[str, ...]


def plain(markdown: str) -> str:
    """The page as text: its Markdown, with every formula in Unicode."""
    parts = []
    for part in _parts(markdown, shown=lambda text: text):
        if isinstance(part, Formula):
            parts.append("\n".join(f"    {line}" for line in part.lines) + "\n")
        else:
            parts.append(part)
    return "".join(parts)


def show(markdown: str, console: Console) -> None:
    """Lay the page out on a terminal."""
    from rich.markdown import Markdown
    from rich.padding import Padding
    from rich.text import Text

    width = min(console.width, WIDTH)
    for part in _parts(markdown, shown=_escaped):
        if isinstance(part, Formula):
            text = Text("\n".join(part.lines), style="bold")
            console.print(Padding(text, (0, 0, 1, 4)), width=width)
        elif part.strip():
            page = Markdown(part, code_theme="ansi_dark", hyperlinks=False)
            console.print(page, width=width)
            console.print()


def _parts(markdown: str, shown: Callable[[str], str]) -> Iterator[str | Formula]:
    """The page cut at its displayed formulas; `shown` is applied to each other formula's text."""
    text = ""
    for block, is_code in _blocks(markdown):
        if is_code:
            text += block
            continue
        at = 0
        for span in _SPAN.finditer(block):
            text += block[at : span.start()]
            at = span.end()
            if (formula := _displayed(span, block)) is not None:
                yield text
                yield Formula(tuple(formulas.lines(formula)))
                text = ""
                at += block.startswith("\n", at)
            else:
                text += _shown_span(span, shown)
        text += block[at:]
    yield text


def _displayed(span: re.Match[str], block: str) -> str | None:
    """The formula, if it stands by itself: between `$$` on its own lines, or a whole paragraph."""
    if span["display"] is not None and (span.start() == 0 or block[span.start() - 1] == "\n"):
        return span["display"]
    return span["inline"] if span.start() == 0 and span[0] == block.rstrip() else None


def _shown_span(span: re.Match[str], shown: Callable[[str], str]) -> str:
    if span["dollar"] is not None:
        return shown("$")
    formula = span["inline"] if span["inline"] is not None else span["display"]
    return span[0] if formula is None else shown(formulas.unicode(formula))


def _blocks(markdown: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs with the blank lines after them, and fenced code; the flag is True for code."""
    block, fence = "", None
    for line in markdown.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence is not None:
            block += line
            if mark and mark[1].startswith(fence) and not line.strip(" `~\n"):
                yield block, True
                block, fence = "", None
        elif mark:
            yield block, False
            block, fence = line, mark[1]
        else:
            block += line
            if not line.strip():
                yield block, False
                block = ""
    yield block, fence is not None


def _escaped(text: str) -> str:
    """A formula's text as Markdown that shows it and reads no markup into it."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
