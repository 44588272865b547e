"""The numbers behind the class page: pure functions on rows and score documents.

An `Overview` is made from all rows of a results folder and then fed their score documents one at a
time, in any order. It keeps counts, one letter per check and submission, and no text of a learner's
but one sentence where something went wrong, so that a class of 100,000 fits.
"""

from __future__ import annotations

import re
import statistics
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from grader.batch.row import STATUSES, Damaged, Row, Status
from grader.clean import clean_line

# How a check came out, as a letter: passed, failed, error, not run; a space where a check is not
# asked of this submission (it is another library's).
LETTERS = {"passed": ".", "failed": "f", "error": "e", "not_run": "n"}
ABSENT = " "

# What went wrong beside wrong answers, from the rarest and gravest to what happens every day.
Trouble = Literal["load", "timeout", "crash", "excess", "raised"]
TROUBLES: tuple[Trouble, ...] = get_args(Trouble)
_OF_KIND: dict[str, Trouble] = {
    "timeout": "timeout",
    "crash": "crash",
    "exit": "crash",
    "died": "crash",
    "memory": "excess",
    "flood": "excess",
    "too_large": "excess",
    "malformed": "crash",
}
# The line of a message that says what stopped the submission's code.
_OWN = re.compile(r"^(?:your code|the submission) (.*)", re.MULTILINE)

BINS = 11  # of a distribution: ten tenths of the points, and full marks


@dataclass
class Check:
    """One check of a problem, and how often it came out how."""

    id: str
    title: str
    group: str
    points: int
    extra: bool
    hidden: bool
    number: int = 0  # counts from 1 in the order of the columns
    hint: str | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    # One for every submission that lost nothing else, less for one that lost much.
    weight: float = 0.0

    @property
    def lost(self) -> int:
        return self.outcomes["failed"] + self.outcomes["error"]

    @property
    def tried(self) -> int:
        """The submissions that it could be tried on."""
        return self.lost + self.outcomes["passed"]

    @property
    def share(self) -> float:
        """What part of the submissions that it was tried on lost it."""
        return self.lost / self.tried if self.tried else 0.0

    @property
    def hardness(self) -> tuple[float, bool, float]:
        """By share; where many are alike, for whoever fails everything loses each of them, first
        what can be read about, and then what was lost for its own sake."""
        return self.share, not self.hidden, self.weight


@dataclass(frozen=True)
class Distribution:
    """The scores of one problem: how many lie in each tenth, and how many have full marks."""

    bins: tuple[int, ...]
    median: float
    quartiles: tuple[float, float]

    @property
    def full(self) -> int:
        return self.bins[-1]


class Problem:
    """One problem of the class; its submissions are told by their place among the rows."""

    def __init__(self, slug: str, title: str) -> None:
        self.slug = slug
        self.title = title
        self.checks: list[Check] = []  # in the order met
        self.graded: list[int] = []
        self.patterns: list[str] = []  # each different one once, a letter a check in that order
        self.places: dict[tuple[bool, str], int] = {}  # hidden, id: which of `checks`
        self._pattern_numbers: dict[str, int] = {}
        self._largest: Counter[int] = Counter()

    @property
    def max_score(self) -> int:
        """What most of its submissions could earn."""
        return self._largest.most_common(1)[0][0] if self._largest else 0

    @cached_property
    def order(self) -> list[int]:
        """The columns: group by group as they were met, hidden checks last in each."""
        groups = list(dict.fromkeys(check.group for check in self.checks))
        order = sorted(
            range(len(self.checks)),
            key=lambda at: (groups.index(self.checks[at].group), self.checks[at].hidden),
        )
        for number, at in enumerate(order, 1):
            self.checks[at].number = number
        return order

    @property
    def columns(self) -> list[Check]:
        return [self.checks[at] for at in self.order]

    @property
    def hardest(self) -> list[Check]:
        """The checks that anybody lost, the most often lost first."""
        lost = [check for check in self.columns if check.lost]
        return sorted(lost, key=lambda check: check.hardness, reverse=True)

    def graded_as(self, at: int, row: Row) -> None:
        self.graded.append(at)
        self._largest[row.max_score or 0] += 1

    def pattern(self, checks: Sequence[Mapping[str, Any]]) -> int:
        """Counts the outcomes of one document; gives the number of their pattern."""
        letters = [ABSENT] * len(self.checks)
        for found in checks:
            key = (bool(found["hidden"]), str(found["id"]))
            at = self.places.get(key)
            if at is None:
                at = self.places[key] = len(self.checks)
                self.checks.append(_check(found))
                letters.append(ABSENT)
            check, outcome = self.checks[at], found["outcome"]
            check.outcomes[outcome] += 1
            if check.hint is None and found["hint"]:
                check.hint = clean_line(found["hint"], 400)
            letters[at] = LETTERS[outcome]
        lost = [at for at, letter in enumerate(letters) if letter in "fe"]
        for at in lost:
            self.checks[at].weight += 1 / len(lost)
        pattern = "".join(letters)
        number = self._pattern_numbers.setdefault(pattern, len(self.patterns))
        if number == len(self.patterns):
            self.patterns.append(pattern)
        return number


def _check(found: Mapping[str, Any]) -> Check:
    return Check(
        id=clean_line(found["id"]),
        title=clean_line(found["title"], 400),
        group=clean_line(found["group"]),
        points=int(found["points"]),
        extra=bool(found["extra"]),
        hidden=bool(found["hidden"]),
    )


@dataclass
class Cause:
    """A likely cause and the submissions that were told it."""

    problem: Problem
    sentence: str
    rows: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.rows)


class Overview:
    """A whole class.

    rows: as they are in results.jsonl, those of one learner one after the other. learners: whom
    each row belongs to, by place in `names`.
    """

    def __init__(self, titles: Mapping[str, str], rows: Sequence[Row]) -> None:
        self.rows = rows
        self.problems = [Problem(slug, clean_line(title)) for slug, title in titles.items()]
        self.names, self.learners = _names(rows)
        self.patterns = array("l", [-1]) * len(rows)
        self.troubles: dict[int, dict[Trouble, str]] = {}
        self._by_slug = {problem.slug: problem for problem in self.problems}
        for at, row in enumerate(rows):
            if row.status == "graded":
                self.problem(row).graded_as(at, row)

    def problem(self, row: Row) -> Problem:
        assert row.problem is not None
        return self._by_slug[row.problem]

    def add(self, at: int, document: Mapping[str, Any]) -> None:
        """Takes in the score document of a graded row; Damaged where it is not of that row."""
        row = self.rows[at]
        for name in ("problem", "score", "max_score"):
            if document[name] != getattr(row, name):
                raise Damaged(f"{name} is {document[name]!r:.60}, and results.jsonl has another")
        self.patterns[at] = self.problem(row).pattern(document["checks"])
        met = dict(_troubles(document))
        if met:
            self.troubles[at] = met

    # What the page tells.

    @cached_property
    def graded(self) -> int:
        return sum(len(problem.graded) for problem in self.problems)

    @cached_property
    def full_marks(self) -> int:
        return sum(row.status == "graded" and row.score == row.max_score for row in self.rows)

    @cached_property
    def median_share(self) -> float | None:
        """The median part of the points, over the graded submissions of all problems."""
        shares = [
            (row.score or 0) / row.max_score
            for row in self.rows
            if row.status == "graded" and row.max_score
        ]
        return statistics.median(shares) if shares else None

    @cached_property
    def not_graded(self) -> dict[Status, list[int]]:
        """The rows without a score by what they are, where there are any."""
        found: dict[Status, list[int]] = defaultdict(list)
        for at, row in enumerate(self.rows):
            if row.status != "graded":
                found[row.status].append(at)
        return {status: found[status] for status in STATUSES if status in found}

    @cached_property
    def causes(self) -> list[Cause]:
        """The likely causes, the most often told first."""
        found: dict[tuple[str, str], Cause] = {}
        for at, row in enumerate(self.rows):
            if row.likely_cause is not None and row.problem is not None:
                key = (row.problem, row.likely_cause)
                if key not in found:
                    found[key] = Cause(self.problem(row), clean_line(row.likely_cause, 1000))
                found[key].rows.append(at)
        return sorted(found.values(), key=lambda cause: -cause.count)

    @cached_property
    def same_source(self) -> list[list[int]]:
        """Submissions of one problem and of several learners with the same code; largest first."""
        found: dict[tuple[str | None, str], list[int]] = defaultdict(list)
        for at, row in enumerate(self.rows):
            if row.source_group is not None:
                found[row.problem, row.source_group].append(at)
        groups = [rows for rows in found.values() if len({self.learners[at] for at in rows}) > 1]
        return sorted(groups, key=lambda rows: -len(rows))

    def in_trouble(self, kind: Trouble) -> list[tuple[int, str]]:
        """The rows where this went wrong, each with a sentence."""
        return [(at, met[kind]) for at, met in sorted(self.troubles.items()) if kind in met]

    def distribution(self, problem: Problem) -> Distribution | None:
        """How the scores of a problem lie; None where nothing of it is graded."""
        if not problem.graded:
            return None
        bins = [0] * BINS
        scores = []
        for at in problem.graded:
            score, most = self.rows[at].score or 0, self.rows[at].max_score or 1
            # Whole numbers: nothing but full marks is in the last bin.
            bins[min(score * (BINS - 1) // most, BINS - 1)] += 1
            scores.append(score)
        if len(scores) == 1:
            quartiles = (float(scores[0]), float(scores[0]))
        else:
            low, _, high = statistics.quantiles(scores, n=4, method="inclusive")
            quartiles = (low, high)
        return Distribution(tuple(bins), statistics.median(scores), quartiles)

    def ranked(self, problem: Problem) -> list[int]:
        """The graded rows of a problem, best first; equal patterns lie together."""

        def key(at: int) -> tuple[int, str, str]:
            row = self.rows[at]
            return -(row.score or 0), problem.patterns[self.patterns[at]], row.learner

        return sorted(problem.graded, key=key)


def some(ranked: Sequence[int], most: int) -> list[int]:
    """At most so many of a ranking: a quarter from each end, the rest evenly from between."""
    if len(ranked) <= most:
        return list(ranked)
    end = most // 4
    between, wanted = ranked[end : len(ranked) - end], most - 2 * end
    middle = [between[at * len(between) // wanted] for at in range(wanted)]
    return [*ranked[:end], *middle, *ranked[len(ranked) - end :]]


def _names(rows: Sequence[Row]) -> tuple[list[str], array[int]]:
    """The learners' names as they are shown, all different, and each row's place among them."""
    numbers: dict[str, int] = {}
    learners = array("l", (numbers.setdefault(row.learner, len(numbers)) for row in rows))
    names: list[str] = []
    taken: set[str] = set()
    for learner in numbers:
        shown = name = clean_line(learner) or "(no name)"
        again = 1
        while shown in taken:
            again += 1
            shown = f"{name} ({again})"
        taken.add(shown)
        names.append(shown)
    return names, learners


def _troubles(document: Mapping[str, Any]) -> Iterator[tuple[Trouble, str]]:
    """What went wrong in one grading, each kind with the first sentence about it."""
    load = document["load_error"]
    if load is not None:
        yield _OF_KIND.get(load["kind"], "load"), _brief(load["message"])
        return
    met: dict[Trouble, str] = {}
    for check in document["checks"]:
        if check["outcome"] == "error":
            message = check["message"] or ""
            own = _OWN.search(message)
            kind = _OF_KIND.get(check.get("stopped"), "raised")
            met.setdefault(kind, _brief(own[1] if own else message))
    yield from met.items()


def _brief(text: str, most: int = 180) -> str:
    line = clean_line(text, 4 * most)
    return line if len(line) <= most else f"{line[: most - 1]}…"
