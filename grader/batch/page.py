"""A results folder as one page for a browser: what did the class not understand?

The page is one HTML file without network or fonts of its own. What sums the class up is in its
HTML; the table of learners and each learner's own page are made by its script from JSON inside it
(`grader.batch.embedded`). Everything that a learner had a part in is escaped text, and a content
security policy lets nothing run or style but what this module put there.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from grader import score_file
from grader.batch import embedded, reading
from grader.batch.overview import (
    ABSENT,
    LETTERS,
    Check,
    Distribution,
    Overview,
    Problem,
    some,
)
from grader.batch.reading import AGAIN
from grader.batch.row import Damaged, Row
from grader.clean import clean_line
from grader.faults import UsageError
from grader.report import SCHEMA_VERSION

FORMAT = 1
PAGE = "report.html"
DETAILS = 20_000_000  # bytes of what is told about learners one at a time
PICTURED = 200  # learners in a heat map
NAMED = 60  # as many learners have their names beside it

_ABOUT_STATUS = {
    "missing": "missing",
    "unreadable": "unreadable",
    "ambiguous": "with more than one file",
    "fault": "broken by a fault of the kit",
}
_ABOUT_TROUBLE = {
    "load": ("could not be loaded", "No check could be tried."),
    "timeout": ("took too long", "A call, or the whole submission, was stopped."),
    "crash": ("crashed or ended the process", "The process was gone before it had answered."),
    "excess": ("took too much memory, or printed too much", "A limit of the problem was reached."),
    "raised": (
        "raised an exception",
        "In at least one check the code raised instead of answering.",
    ),
}


def write(folder: Path) -> Path:
    """Writes the page into a results folder, whole or not at all; gives its path."""
    text = render(folder)
    target = folder / PAGE
    score_file.write(target, text)
    return target


def render(folder: Path, *, budget: int = DETAILS, pictured: int = PICTURED) -> str:
    """The page of a results folder.

    budget: bytes of what is told about learners one at a time. pictured: learners in a heat map.
    Raises UsageError for a folder that is no results folder, or is damaged.
    """
    manifest = _manifest(folder)
    try:
        titles = {slug: str(about["title"]) for slug, about in manifest["problems"].items()}
    except (AttributeError, KeyError, TypeError):
        raise UsageError(f"{folder / 'manifest.json'}: no titles of problems; {AGAIN}") from None
    rows = _rows(folder, list(titles))
    overview = Overview(titles, rows)
    details = embedded.Details(rows, budget)
    for at in _worst_first(rows):
        _take_in(folder, overview, details, at)
    pictures = [_picture(overview, problem, pictured) for problem in overview.problems]
    return (
        _environment()
        .get_template("class.html.j2")
        .render(
            overview=overview,
            manifest=_about(manifest),
            parts=[
                _Part(problem, _Bars(found), picture, at)
                for at, (problem, picture) in enumerate(
                    zip(overview.problems, pictures, strict=True)
                )
                if (found := overview.distribution(problem)) is not None and picture is not None
            ],
            places={problem.slug: at for at, problem in enumerate(overview.problems)},
            hardest=_hardest(overview),
            of_status=_ABOUT_STATUS,
            of_trouble=_ABOUT_TROUBLE,
            left_out=details.left_out,
            core=embedded.script_text(
                embedded.core(
                    overview, [picture.as_dict() if picture else {} for picture in pictures]
                )
            ),
            more=embedded.script_text(embedded.more(rows, details)),
        )
    )


# Reading a results folder.


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    if not path.is_file():
        raise UsageError(
            f"{folder}: no results of a batch, for it has no manifest.json; "
            "give the folder that `grade batch --out` wrote"
        )
    found = reading.document(path)
    if type(found) is not dict or found.get("format") != FORMAT:
        has = found.get("format") if type(found) is dict else None
        raise UsageError(
            f"{path}: format {has!r:.40}, and this grader reads format {FORMAT}; "
            "use the version that wrote it, or grade again"
        )
    return found


def _rows(folder: Path, slugs: Sequence[str]) -> list[Row]:
    """The rows by learner and then by problem; UsageError where one is damaged."""
    places = {slug: place for place, slug in enumerate(slugs)}

    def key(row: Row) -> tuple[str, str, int]:
        return row.learner.casefold(), row.learner, places.get(row.problem or "", len(slugs))

    return sorted(reading.rows(folder, slugs), key=key)


def _worst_first(rows: Sequence[Row]) -> list[int]:
    """The graded rows: whoever earned least is told about in most detail."""
    graded = [at for at, row in enumerate(rows) if row.status == "graded"]
    return sorted(graded, key=lambda at: (rows[at].score or 0) / (rows[at].max_score or 1))


def _take_in(folder: Path, overview: Overview, details: embedded.Details, at: int) -> None:
    path = folder / str(overview.rows[at].score_file)
    document = reading.document(path)
    try:
        if document["schema_version"] != SCHEMA_VERSION or document["error"] is not None:
            raise Damaged(f"no score of schema version {SCHEMA_VERSION}")
        reading.require_once(document["checks"])
        overview.add(at, document)
        details.add(at, document, overview.problem(overview.rows[at]).places)
    except Damaged as error:
        raise UsageError(f"{path}: {error}; {AGAIN}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise UsageError(f"{path}: not a score document; {AGAIN}") from None


def _about(manifest: Mapping[str, Any]) -> dict[str, str]:
    """What the page says of the run itself; whatever is not told is left out."""

    def told(*names: str) -> str | None:
        value: Any = manifest
        for name in names:
            value = value.get(name) if type(value) is dict else None
        return clean_line(str(value), 300) if type(value) in (str, int, float) else None

    def pairs() -> Iterator[tuple[str, str | None]]:
        yield "class", told("class")
        yield "kit", " ".join(filter(None, [told("kit", "name"), told("kit", "version")]))
        yield "grader", told("grader", "version")
        yield "grader digest", told("grader", "digest")
        yield "seed of the hidden checks", told("seed")
        yield "isolation", told("isolation", "level")
        for name in ("python", "torch", "numpy", "platform"):
            yield name, told("versions", name)
        yield "began", told("started_at")
        yield "ended", told("finished_at")
        yield "lanes", told("lanes")
        yield "engine", told("engine")

    return {name: text for name, text in pairs() if text}


# Drawing.


@dataclass(frozen=True)
class _Bar:
    """One bar of a distribution, in units of its picture."""

    x: float
    y: float
    height: float
    count: int
    label: str
    said: str


class _Bars:
    """A distribution as bars."""

    WIDTH, HEIGHT, STEP = 440, 132, 40

    def __init__(self, found: Distribution) -> None:
        self.found = found
        most = max(found.bins)
        self.bars = []
        for at, count in enumerate(found.bins):
            height = round(96 * count / most, 1)
            if count:
                height = max(height, 1.5)
            last = at == len(found.bins) - 1
            label = "all" if last else f"{10 * at}"
            said = "full marks" if last else f"{10 * at} to under {10 * at + 10} % of the points"
            self.bars.append(_Bar(at * self.STEP + 2, 112 - height, height, count, label, said))

    @property
    def said(self) -> str:
        """The picture in words."""
        return "; ".join(f"{bar.said}: {bar.count}" for bar in self.bars if bar.count)


@dataclass(frozen=True)
class _Heat:
    """Checks by learners as paths of an SVG, one for each way that a check can come out.

    rows: who is on them, best first; columns: the checks, by place in the problem's list. bands:
    x, y and name of each group. of: how many there are in all.
    """

    rows: list[int]
    columns: list[int]
    of: int
    row: int  # the height of a row
    paths: dict[str, str]
    bands: list[tuple[int, int, str]]
    edges: str
    shares: list[tuple[int, float, float, Check]]
    numbers: list[tuple[float, int]]

    COLUMN = 16
    TOP = 104

    @property
    def width(self) -> int:
        return len(self.columns) * self.COLUMN

    @property
    def height(self) -> int:
        return self.TOP + len(self.rows) * self.row

    @property
    def named(self) -> bool:
        return len(self.rows) <= NAMED

    def as_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "row": self.row, "column": self.COLUMN, "top": self.TOP}


@dataclass(frozen=True)
class _Part:
    """What the template shows of one problem; `at`: its place among all."""

    problem: Problem
    bars: _Bars
    heat: _Heat
    at: int


def _picture(overview: Overview, problem: Problem, most: int) -> _Heat | None:
    """The heat map of a problem; None where nothing of it is graded."""
    ranked = overview.ranked(problem)
    if not ranked:
        return None
    rows, columns = some(ranked, most), problem.order
    row, step, top = (20 if len(rows) <= NAMED else 5), _Heat.COLUMN, _Heat.TOP
    tall = row - 1 if len(rows) <= NAMED else row
    paths: dict[str, list[str]] = {letter: [] for letter in (*LETTERS.values(), "sign")}
    for down, at in enumerate(rows):
        pattern = problem.patterns[overview.patterns[at]].ljust(len(columns), ABSENT)
        for across, column in enumerate(columns):
            letter = pattern[column]
            x, y = across * step, top + down * row
            if letter == "n":
                paths["n"].append(f"M{x + 6} {y + row // 2 - 1}h3v3h-3z")
            elif letter != ABSENT:
                paths[letter].append(f"M{x} {y}h{step - 1}v{tall}h-{step - 1}z")
            if letter == "e":  # told from a wrong answer by more than its colour
                paths["sign"].append(
                    f"M{x + 4} {y + 6}l7 7m0-7l-7 7" if row > 10 else f"M{x + 2} {y + 2.5}h11"
                )
    groups = [problem.checks[column].group for column in columns]
    starts = [at for at in range(len(groups)) if not at or groups[at] != groups[at - 1]]
    shares = [(problem.checks[column], across * step) for across, column in enumerate(columns)]
    return _Heat(
        rows=rows,
        columns=columns,
        of=len(ranked),
        row=row,
        paths={letter: "".join(found) for letter, found in paths.items()},
        bands=_bands([(start * step, groups[start]) for start in starts]),
        edges="".join(f"M{start * step - 0.5} 36V{top + len(rows) * row}" for start in starts[1:]),
        shares=[(x, 86 - round(50 * check.share, 1), round(50 * check.share, 1), check)
                for check, x in shares],
        numbers=[(x + step / 2 - 0.5, check.number) for check, x in shares],
    )  # fmt: skip


def _bands(groups: Sequence[tuple[int, str]]) -> list[tuple[int, int, str]]:
    """Where the names of groups stand: on the upper line, or below where the last one reaches."""
    bands: list[tuple[int, int, str]] = []
    reached = 0
    for x, name in groups:
        y = 26 if x < reached and bands[-1][1] == 12 else 12
        if y == 12:
            reached = x + 7 * len(name)
        bands.append((x, y, name))
    return bands


def _hardest(overview: Overview) -> list[tuple[Problem, Check, int]]:
    """The checks of all problems, the most often lost first, each with its column."""
    found = [
        (problem, check, problem.checks.index(check))
        for problem in overview.problems
        for check in problem.hardest
    ]
    return sorted(found, key=lambda each: each[1].hardness, reverse=True)


# The page.


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["policy"] = _policy_hash
    environment.filters["said"] = lambda text: clean_line(text, 300)
    environment.filters["figure"] = _figure
    environment.filters["percent"] = _percent
    return environment


def _policy_hash(text: str) -> str:
    """What a content security policy calls an inline style or script by."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _figure(number: float) -> str:
    """A count or a median: thousands apart, and no .0 behind a whole number."""
    return f"{number:,.1f}".removesuffix(".0").replace(",", "\u202f")


def _percent(share: float) -> str:
    """In whole percent; neither all nor nothing unless it is."""
    rounded = round(100 * share)
    if share > 0 and rounded == 0:
        return "< 1 %"
    return f"{min(rounded, 99) if share < 1 else 100} %"
