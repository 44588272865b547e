"""The kill matrix, from literal reports: what it says of checks and files, and how it is shown."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType

import pytest

from grader.dev import matrix_page, matrix_text
from grader.dev.known import Known
from grader.dev.matrix import PLAIN, Matrix, matrices, to_json
from grader.dev.survey import Result
from grader.problem import Limits, Problem
from grader.render import plain
from grader.report import (
    Cases,
    Cause,
    CheckResult,
    Environment,
    Extra,
    FaultReport,
    Isolation,
    Kit,
    Output,
    Report,
    SubmissionFile,
)

PROBLEM = Problem(
    slug="double",
    title="Double a number",
    summary="Double it.",
    entry="double",
    parameters=("number",),
    libraries=("torch", "numpy"),
    sampled=True,
    hints=("Add it to itself.",),
    limits=Limits(3, 1, 10, 512),
    points=MappingProxyType({}),
    examples=(),
    folder=Path("problems/double"),
    templates=Path("templates"),
    solution_folder=Path("solutions/double"),
)
TWO = CheckResult(
    id="test_two",
    title="Two becomes four.",
    group="values",
    points=2,
    extra=False,
    earned=2,
    outcome="passed",
    message=None,
    hint=None,
    cases=Cases(1, 1),
    seconds=0.001,
    hidden=False,
)
ZERO = replace(TWO, id="test_zero", title="Nothing stays nothing.", points=1)
DEVICE = replace(TWO, id="test_device", title="It stays on its device.", group="device", points=3)
BONUS = replace(TWO, id="test_bonus", title="Infinity is doubled.", points=1, extra=True)
FRESH = replace(TWO, id="test_fresh", title="Fresh numbers are doubled.", points=4, hidden=True)
CHECKS = (TWO, ZERO, DEVICE, BONUS, FRESH)
REPORT = Report(
    kit=Kit("toy", "1"),
    problem="double",
    title="Double a number",
    library="torch",
    device="cpu",
    submission=SubmissionFile("double.py", "0" * 64, 10),
    score=10,
    max_score=10,
    passed=True,
    verdict="correct",
    seed=1,
    extra=Extra(1, 1),
    checks=CHECKS,
    load_error=None,
    likely_cause=None,
    output=Output("", False),
    environment=Environment("3.11", "2.13", "2.4", "linux"),
    isolation=Isolation("process", ("process",)),
    started_at="2026-01-01T00:00:00+00:00",
    seconds=1.0,
)
ALL = "test_two test_zero test_device test_bonus test_fresh"


def known(name, kind="wrong", fails=None, library="torch"):
    return Known(
        slug="double",
        kind=kind,
        path=Path(f"solutions/double/{kind}/{name}.py"),
        file=f"solutions/double/{kind}/{name}.py",
        library=library,
        story=f"What {name} does.",
        hear=None if kind == "right" else f"You did {name}.",
        fails=None if fails is None else frozenset(fails.split()),
    )


def report(lost, told=None, verdict="incorrect", not_run=()):
    """Of a file that loses the checks named, and cannot be given those in `not_run`."""
    outcomes = {**dict.fromkeys(lost.split(), "failed"), **dict.fromkeys(not_run, "not_run")}
    checks = tuple(replace(check, outcome=outcomes.get(check.id, "passed")) for check in CHECKS)
    missed = sum(check.points for check in checks if check.outcome != "passed" and not check.extra)
    cause = None if told is None else Cause(told)
    return replace(
        REPORT,
        checks=checks,
        score=10 - missed,
        passed=not missed,
        verdict=verdict,
        likely_cause=cause,
    )


def graded(file, *reports):
    return [Result(file, seed, each) for seed, each in enumerate(reports, 1)]


def wrong(name, lost, fails=None, **about):
    """A wrong file that loses the same checks with both seeds, and names them unless told else."""
    file = known(name, fails=lost if fails is None else fails)
    return graded(file, report(lost, **about), report(lost, **about))


def right(name="adds", lost="", **about):
    file = known(name, "right")
    return graded(file, report(lost, verdict="correct", **about))


def matrix(*results) -> Matrix:
    (made,) = matrices(PROBLEM, [result for group in results for result in group])
    return made


def rules(made):
    return {finding.rule: finding.items for finding in made.findings}


SOUND = matrix(
    right(),
    wrong("returns_none", ALL),
    wrong("squares", "test_zero"),
    wrong("moves", "test_device test_bonus"),
    graded(
        known("coins", "stream"),
        report("test_fresh", verdict="lossless_other_draws", told="You did coins."),
    ),
)


# ---- what it says


def test_a_sound_matrix_has_no_findings():
    """Every check catches a file, every file loses what it names: nothing is to be mended."""
    assert SOUND.findings == ()
    assert SOUND.headline == (
        "sound: every check catches a wrong file, and each of the 3 wrong files is caught by "
        "exactly the checks it names"
    )


def test_rows_are_ordered_by_kind_and_columns_by_group():
    """Wrong files come first, right ones last; hidden checks stand with their group."""
    assert [row.name for row in SOUND.rows] == [
        "returns_none", "squares", "moves", "coins", "adds",
    ]  # fmt: skip
    assert [(check.number, check.id) for check in SOUND.checks] == [
        (1, "test_two"),
        (2, "test_zero"),
        (3, "test_bonus"),
        (4, "test_fresh"),
        (5, "test_device"),
    ]


def test_a_check_catches_a_file_that_loses_it_with_every_seed():
    """Lost with all seeds is killed, with some of them sometimes, with none passed."""
    file = known("lucky", fails="test_two test_zero")
    made = matrix(graded(file, report("test_two test_zero"), report("test_two")))
    (row,) = made.rows
    assert row.state("test_two") == "killed"
    assert row.state("test_zero") == "sometimes"
    assert row.state("test_fresh") == "passed"
    assert made.kills["test_zero"] == 0
    assert row.score == "7-8"


def test_kills_count_wrong_files_only():
    """What right and stream files lose says nothing for a check."""
    assert SOUND.kills == {
        "test_two": 1,
        "test_zero": 2,
        "test_bonus": 2,
        "test_fresh": 1,
        "test_device": 2,
    }


def test_the_only_check_that_catches_a_file_is_named_with_it():
    """`alone` holds, for each check, the wrong files that no other one catches."""
    assert SOUND.alone == {"test_zero": ("squares",)}


def test_a_check_that_catches_nothing_is_dead():
    """A check that no wrong file loses with every seed is a finding."""
    made = matrix(wrong("squares", "test_zero"), right())
    assert made.dead == ("test_two", "test_bonus", "test_fresh", "test_device")
    assert rules(made) == {"dead check": made.dead}


def test_a_wrong_file_with_full_marks_survives():
    """A file that loses nothing with one seed, or extra credit alone, is not caught."""
    lucky = graded(known("lucky", fails="test_two"), report("test_two"), report(""))
    made = matrix(wrong("returns_none", ALL), wrong("finite", "test_bonus"), lucky)
    assert [row.name for row in made.survivors] == ["finite", "lucky"]
    assert rules(made)["survivor"] == ("finite", "lucky")


@pytest.mark.parametrize(
    ("lost", "fails", "told"),
    [
        ("test_two test_zero", "test_two", "loses test_zero unnamed"),
        ("test_two", "test_two test_zero", "passes test_zero, named"),
    ],
)
def test_a_file_that_loses_other_checks_than_it_names_differs(lost, fails, told):
    """Too much and too little are told, each by the names of the checks."""
    made = matrix(wrong("returns_none", ALL), wrong("odd", lost, fails))
    assert rules(made) == {"fails": (f"odd: {told}",)}


def test_a_file_that_loses_a_check_with_some_seeds_differs():
    """Whether it names the check or not: a set that depends on the seed is not exact."""
    lucky = graded(
        known("lucky", fails="test_two"), report("test_two test_zero"), report("test_two")
    )
    made = matrix(wrong("returns_none", ALL), lucky)
    assert rules(made) == {"fails": ("lucky: loses test_zero with 1 of 2 seeds",)}


def test_a_file_that_names_no_checks_differs():
    """A wrong file without `fails:` proves nothing, and what it loses is told."""
    silent = graded(known("silent"), report("test_two"))
    made = matrix(wrong("returns_none", ALL), silent)
    assert rules(made) == {"fails": ("silent: names no checks; it loses test_two",)}


def test_a_device_this_machine_lacks_says_nothing():
    """A check that could be run nowhere is neither dead nor missing, and a note says so."""
    lacking = {"not_run": ("test_device",)}
    made = matrix(
        wrong("returns_none", "test_two test_zero test_bonus test_fresh", ALL, **lacking),
        wrong("moves", "", "test_device", **lacking),
        right(**lacking),
    )
    assert made.sound
    assert made.untried == ("test_device",)
    assert [note.rule for note in made.notes] == ["not run", "equal"]
    assert made.headline.startswith("sound: every check that can be run here catches")


def test_checks_that_catch_the_same_files_are_noted():
    """Equal columns are worth a thought, and no fault."""
    assert SOUND.equal == (("test_two", "test_fresh"), ("test_bonus", "test_device"))
    assert SOUND.notes[0].items == ("test_two = test_fresh", "test_bonus = test_device")


def test_right_files_lose_nothing_but_extra_credit():
    """A right file may do without extra credit, and without nothing else."""
    made = matrix(
        wrong("returns_none", ALL), right("finite", "test_bonus"), right("odd", "test_two")
    )
    assert rules(made) == {"right": ("odd: test_two",)}


def test_stream_files_have_their_verdict():
    """Another verdict than `lossless_other_draws` is a finding."""
    biased = graded(known("coins", "stream"), report("test_fresh", verdict="biased"))
    assert rules(matrix(wrong("returns_none", ALL), biased)) == {"stream": ("coins: biased",)}


def test_right_files_are_not_accused():
    """A likely cause for a right file is a finding."""
    made = matrix(wrong("returns_none", ALL), right(told="You did squares."))
    assert rules(made) == {"accused": ("adds",)}


def test_a_fault_of_the_kit_is_a_finding_and_no_column():
    """A grading that the kit broke counts for nothing, and is told."""
    fault = FaultReport(Kit("toy", "1"), "double", "a check crashed", "test_two", "2026")
    made = matrix(wrong("returns_none", ALL), graded(known("odd", fails="test_two"), fault))
    assert rules(made) == {"fault": ("odd: a check crashed",)}
    assert made.rows[1].score == "-"


def test_a_problem_without_wrong_files_proves_nothing():
    """No wrong file at all is a finding, instead of a dead check for every check."""
    assert rules(matrix(right())) == {"no wrong file": ("solutions/double/wrong",)}


@pytest.mark.parametrize(
    ("sentences", "told"),
    [
        ((None, None), "nothing"),
        (("You did odd.", "You did odd."), "own"),
        (("You did squares.", "You did squares."), "other"),
        (("You did odd.", None), "sometimes"),
    ],
)
def test_whose_sentence_a_file_is_told(sentences, told):
    """The sentence that a learner hears is compared with the one the file asks for."""
    file = known("odd", fails="test_two")
    made = matrix(graded(file, *(report("test_two", told=sentence) for sentence in sentences)))
    assert made.rows[0].told == told


def test_each_library_has_a_matrix_of_its_own():
    """Files of a library are judged by its checks; a library without files has no matrix."""
    numpy = [
        Result(known("returns_none_numpy", fails=ALL, library="numpy"), 1, report(ALL)),
    ]
    torch = wrong("returns_none", ALL)
    assert [m.library for m in matrices(PROBLEM, [*numpy, *torch])] == ["torch", "numpy"]
    assert [m.library for m in matrices(PROBLEM, numpy)] == ["numpy"]
    assert matrices(replace(PROBLEM, slug="other"), torch) == []


# ---- as data


def test_the_document_tells_checks_and_files():
    """A check by its kills and the files it is alone with, a file by what it names and loses."""
    document = SOUND.as_dict()
    assert document["schema_version"] == 1
    assert document["checks"][1] == {
        "id": "test_zero",
        "title": "Nothing stays nothing.",
        "group": "values",
        "points": 1,
        "hidden": False,
        "extra": False,
        "kills": 2,
        "alone": ["squares"],
    }
    assert document["files"][1] == {
        "file": "solutions/double/wrong/squares.py",
        "name": "squares",
        "kind": "wrong",
        "story": "What squares does.",
        "hear": "You did squares.",
        "told": "nothing",
        "seeds": [1, 2],
        "scores": [9, 9],
        "max_score": 10,
        "verdicts": ["incorrect"],
        "declared": ["test_zero"],
        "killed_by": ["test_zero"],
        "sometimes": {},
        "not_run": [],
        "unnamed": [],
        "not_lost": [],
        "faults": [],
    }


def test_the_document_is_strict_json_and_the_same_every_time():
    """It is ASCII, holds every matrix as `as_dict` gives it, and depends on its input alone."""
    text = to_json([SOUND])
    assert text.isascii()
    assert json.loads(text) == {"schema_version": 1, "sound": True, "matrices": [SOUND.as_dict()]}
    assert text == to_json([replace(SOUND)])


# ---- in a terminal


def shown(made, width=80, **options):
    return plain(matrix_text.lines(made, width, signs=PLAIN, **options))


def test_the_screen_tells_the_verdict_then_check_by_check():
    """Verdict first, then each check with its count, then what is caught by one check alone."""
    assert shown(SOUND) == (
        "Double a number  (double, torch)\n"
        "5 checks, 3 wrong, 1 stream, 1 right; seeds 1, 2\n"
        "\n"
        "Sound: every check catches a wrong file, and each of the 3 wrong files is caught\n"
        "by exactly the checks it names\n"
        "\n"
        "How many of the 3 wrong files each check catches, and how many of these no other\n"
        "check does (alone). Points: h hidden, + extra credit.\n"
        "\n"
        " no  check        pts catches                      alone\n"
        "values\n"
        "  1  test_two      2    1 ############\n"
        "  2  test_zero     1    2 ########################     1\n"
        "  3  test_bonus    1+   2 ########################\n"
        "  4  test_fresh    4h   1 ############\n"
        "device\n"
        "  5  test_device   3    2 ########################\n"
        "\n"
        "Caught by one check alone\n"
        "  2  squares\n"
        "\n"
        "2 sets of checks catch the same files: one of each would do, unless they differ\n"
        "in what a learner is told\n"
        "  test_two = test_fresh\n"
        "  test_bonus = test_device\n"
    )


MANY = matrix(
    *(
        wrong(f"file_number_{number}_with_a_rather_long_name", ALL, "test_two")
        for number in range(30)
    )
)


@pytest.mark.parametrize("width", [60, 80, 132])
def test_the_screen_keeps_to_the_width(width):
    """No line of it is longer, the grid's and a finding's with long names neither."""
    assert max(map(len, shown(MANY, width, grid=True).splitlines())) <= width


def test_the_plain_screen_is_ascii():
    """It can be read in any log."""
    assert shown(MANY, grid=True).isascii()


def test_a_terminal_gets_signs_and_styles():
    """The same lines with the signs and the colours of a terminal, for rich."""
    lines = matrix_text.lines(SOUND, grid=True)
    rows = {line.body[0]: line.body for line in lines if line.body}
    assert ("■", "good") in rows["returns_none  ", ""]
    assert ("■", "warn") in rows["coins         ", ""]
    assert ("·", "dim") in rows["adds          ", ""]


def test_a_long_finding_is_cut_and_says_so():
    """After a dozen entries the number of the others is told."""
    assert "\n  and 18 more\n" in shown(MANY)


def test_the_grid_has_a_letter_for_every_file_and_check():
    """Killed, passed, and what differs from `fails:` are different letters; groups stand apart."""
    made = matrix(
        wrong("squares", "test_two test_zero", "test_two test_fresh"),
        graded(known("lucky", fails="test_two"), report("test_two"), report("")),
        wrong("moves", "", "test_device", not_run=("test_device",)),
        right(lost="test_zero"),
    )
    grid = shown(made, grid=True).partition("passed, but named\n")[2]
    assert grid == (
        "\n"
        "\n"
        "         1234 5\n"
        "wrong\n"
        "squares  x!.o .\n"
        "lucky    ~... .\n"
        "moves    .... -\n"
        "right\n"
        "adds     .!.. .\n"
    )


def test_a_grid_that_is_too_wide_is_told_in_blocks():
    """Every check has its column, in as many tables as the width asks for."""
    checks = tuple(replace(TWO, id=f"test_{number}") for number in range(1, 91))
    wide = replace(REPORT, checks=checks, passed=False)
    made = matrix(graded(known("nothing_lost", fails=""), wide))
    grid = shown(made, grid=True).partition("passed, but named\n")[2]
    rows = re.findall(r"^nothing_lost  (\.+)$", grid, re.MULTILINE)
    assert [len(dots) for dots in rows] == [66, 24]


def test_control_characters_do_not_reach_the_screen():
    """What a kit's fault says is cleaned, whatever was printed by whom."""
    fault = FaultReport(Kit("toy", "1"), "double", "a\x1b[31m\n::error::b", None, "2026")
    made = matrix(wrong("returns_none", ALL), graded(known("odd", fails=""), fault))
    assert "  odd: a ::error::b\n" in shown(made)


# ---- as a page


class Page(HTMLParser):
    """The elements of a page: tags with their attributes, and the tables as rows of cells."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append((tag, attributes, []))

    def handle_endtag(self, tag):
        if tag == "tr":
            self.rows.append([])  # what follows is no cell

    def handle_data(self, data):
        self.words.append(data)
        if self.rows and self.rows[-1]:
            self.rows[-1][-1][2].append(data)

    def every(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def row(self, name):
        """The row of the grid whose head begins with this name, as the texts of its cells."""
        texts = [["".join(words).strip() for _, _, words in row] for row in self.rows]
        return next(row for row in texts if row and row[0].startswith(name))


@pytest.fixture(scope="module", name="page")
def _page():
    return Page(matrix_page.render([SOUND]))


def test_the_page_has_a_row_for_every_file_and_a_column_for_every_check(page):
    """Signs, not colours alone, say what became of each check."""
    assert page.row("returns_none")[5:] == ["✕", "✕", "✕", "✕", "✕"]
    assert page.row("squares")[5:] == ["", "✕", "", "", ""]
    assert page.row("squares")[1:4] == ["1", "9", "incorrect"]
    assert page.row("wrong files caught")[5:] == ["1", "2", "2", "1", "2"]


def test_the_page_marks_what_differs_from_the_files():
    """Unnamed, not lost, sometimes and not run have signs of their own."""
    file = known("odd", fails="test_two test_fresh")
    odd = graded(
        file,
        report("test_zero test_bonus", not_run=("test_device",)),
        report("test_zero", not_run=("test_device",)),
    )
    page = Page(matrix_page.render([matrix(odd)]))
    assert page.row("odd")[5:] == ["○", "!", "~", "○", "–"]


def test_the_tables_of_the_page_have_heads_with_a_scope(page):
    """A screen reader can tell for each cell which file and which check it is about."""
    assert {head.get("scope") for head in page.every("th")} == {
        "col", "row", "colgroup", "rowgroup",
    }  # fmt: skip
    assert len(page.every("caption")) == 1
    assert page.every("html") == [{"lang": "en"}]


def test_the_page_needs_no_network():
    """No address of any kind is in it, of a style, a script, a font or a picture."""
    text = matrix_page.render([SOUND])
    assert not re.search(r"https?:|//\w|url\(|@import|<link|<img|src=", text)


def test_the_page_can_be_read_without_a_script(page):
    """What only works with JavaScript is hidden until it runs."""
    tools = [a for a in page.every("div") if a.get("class") in ("tools", "readout")]
    assert len(tools) == 2
    assert all("hidden" in attributes for attributes in tools)


def test_texts_are_no_markup_in_the_page():
    """A story, a title or a sentence may hold any letters: they are shown, not obeyed."""
    evil = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"
    file = replace(known("odd", fails="test_two"), story=evil, hear=evil)
    lost = report("test_two")
    checks = tuple(replace(check, title=evil) for check in lost.checks)
    made = replace(matrix(graded(file, replace(lost, checks=checks))), title=evil)
    page = Page(matrix_page.render([made]))
    assert len(page.every("script")) == 1
    assert not page.every("img")
    assert evil in page.words


def test_names_of_the_page_are_different_in_every_matrix():
    """Two libraries of a problem are two sections, each with ids of its own."""
    page = Page(matrix_page.render([SOUND, replace(SOUND, library="numpy")]))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert [a["id"] for a in page.every("section")] == ["double-torch", "double-numpy"]


def test_a_large_page_stays_small():
    """Two hundred files by 45 checks are well below two megabytes."""
    checks = tuple(replace(TWO, id=f"test_{n}", outcome="failed", earned=0) for n in range(45))
    lost = replace(REPORT, checks=checks)
    made = matrix(*(graded(known(f"file_{n}", fails=""), lost) for n in range(200)))
    assert len(matrix_page.render([made, made]).encode()) < 1_000_000


def test_a_page_of_nothing_says_so():
    """Without a matrix there is no verdict."""
    assert "Nothing was graded." in matrix_page.render([])
