"""A page cut into blocks, each with its line: fenced code, table rows, list items, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_FENCE = re.compile(r" *(`{3,}|~{3,}) *(\w*)")
_BEGINS = re.compile(r"\s*([-*+]|\d+[.)]) |#+ ")

Kind = Literal["code", "row", "text"]


@dataclass(frozen=True)
class Block:
    """line: where its text begins. For code that is the line after the fence, whose first word is
    the language."""

    kind: Kind
    line: int
    text: str
    language: str = ""

    @property
    def cells(self) -> list[str]:
        """The cells of a table row."""
        return [cell.strip() for cell in self.text.strip().strip("|").split("|")]


def blocks(markdown: str) -> Iterator[Block]:
    """Every block of a page, in order."""
    first, pending, fence, language = 1, list[str](), "", ""
    for number, line in enumerate(markdown.splitlines(), 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                yield Block("code", first, "\n".join(pending), language)
                pending, fence = [], ""
            else:
                pending.append(line)
            continue
        row = line.lstrip().startswith("|")
        if pending and (mark or row or not line.strip() or _BEGINS.match(line)):
            yield Block("text", first, "\n".join(pending))
            pending = []
        if mark:
            fence, language, first = mark[1], mark[2].lower(), number + 1
        elif row:
            yield Block("row", number, line)
        elif line.strip():
            first = first if pending else number
            pending.append(line)
    if pending:
        yield Block("code" if fence else "text", first, "\n".join(pending), language)
