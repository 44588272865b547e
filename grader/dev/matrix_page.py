"""The kill matrices as one page for a browser: a file that needs no network and no script.

Without JavaScript everything can be read; with it rows can be found by name, groups hidden, rows
and columns put in another order, and what is pointed at is told in a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2

from grader.dev.known import Kind
from grader.dev.matrix import ORDER, Mark, Matrix, Row, Told, sentence

# Letter for a class, sign for the eye, word for a screen reader. A check that is passed is an
# empty cell: it is what most cells say.
_MARKS: dict[Mark, tuple[str, str, str]] = {
    "killed": ("k", "✕", "lost"),
    "sometimes": ("s", "~", "lost with some seeds"),
    "not_run": ("n", "–", "not run"),
    "unnamed": ("u", "!", "lost, not named"),
    "not_lost": ("m", "○", "passed, but named"),
}
_ABOUT: dict[Kind, str] = {
    "wrong": "each has to lose exactly the checks that it names",
    "stream": "right law, other draws: each has to get its verdict",
    "right": "each has to get full marks",
}
_TOLD: dict[Told, tuple[str, str]] = {
    "own": ("✓", "told the sentence it asks for"),
    "other": ("?", "told another sentence"),
    "sometimes": ("~", "not told the same with every seed"),
    "nothing": ("", "told no likely cause"),
}


def render(matrices: Sequence[Matrix]) -> str:
    """The page: HTML with its styles and its script inside, every text escaped."""
    template = _environment().get_template("matrix.html.j2")
    return template.render(
        matrices=[_view(matrix) for matrix in matrices],
        marks=_MARKS,
        told=_TOLD,
        sentence=sentence,
        sound=all(matrix.sound for matrix in matrices),
        kits=list(dict.fromkeys(f"{matrix.kit.name} {matrix.kit.version}" for matrix in matrices)),
    )


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _view(matrix: Matrix) -> dict[str, object]:
    """What the template asks of a matrix and does not find in it by name."""
    most = max(matrix.kills.values(), default=0) or 1
    wrong = matrix.of("wrong")
    return {
        "id": f"{matrix.problem}-{matrix.library}",
        "matrix": matrix,
        "groups": [
            (group, sum(check.group == group for check in matrix.checks)) for group in matrix.groups
        ],
        "parts": [(kind, _ABOUT[kind], matrix.of(kind)) for kind in ORDER if matrix.of(kind)],
        "caught": len(wrong) - len(matrix.survivors),
        "wrong": len(wrong),
        "named": sum(row.told == "own" for row in wrong),
        "firsts": _first_of_groups(matrix),
        "share": {check: 100 * kills / most for check, kills in matrix.kills.items()},
        "cells": _cells,
    }


def _first_of_groups(matrix: Matrix) -> frozenset[str]:
    seen: dict[str, str] = {}
    for check in matrix.checks:
        seen.setdefault(check.group, check.id)
    return frozenset(seen.values())


def _cells(matrix: Matrix, row: Row) -> list[tuple[str, str, str] | None]:
    return [_MARKS.get(row.mark(check)) for check in matrix.checks]
