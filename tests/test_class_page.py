"""The class page, from results folders made of literal reports: its numbers, and how it looks."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from grader.batch import diff, page
from grader.batch.overview import Overview, some
from grader.batch.row import read as read_row
from grader.faults import UsageError
from grader.report import (
    Cases,
    Cause,
    CheckResult,
    Environment,
    Extra,
    Failure,
    FaultReport,
    Isolation,
    Kit,
    Output,
    Report,
    SubmissionFile,
)

TWO = CheckResult(
    id="test_two",
    title="Two becomes four.",
    group="values",
    points=6,
    extra=False,
    earned=6,
    outcome="passed",
    message=None,
    hint=None,
    cases=Cases(1, 1),
    seconds=0.001,
    hidden=False,
)
ZERO = replace(TWO, id="test_zero", title="Nothing stays nothing.", points=3, earned=3)
FRESH = replace(TWO, id="test_fresh", title="Fresh numbers.", points=1, earned=1, hidden=True)
CHECKS = (TWO, ZERO, FRESH)
REPORT = Report(
    kit=Kit("toy", "1"),
    problem="double",
    title="Double a number",
    library="torch",
    device="cpu",
    submission=SubmissionFile("double.py", "a" * 64, 10),
    score=10,
    max_score=10,
    passed=True,
    verdict="correct",
    seed=1,
    extra=Extra(0, 0),
    checks=CHECKS,
    load_error=None,
    likely_cause=None,
    output=Output("", False),
    environment=Environment("3.11", "2.13", "2.4", "Linux"),
    isolation=Isolation("locked", ("landlock",)),
    started_at="2026-01-01T00:00:00+00:00",
    seconds=0.5,
)
MANIFEST = {
    "format": 1,
    "kit": {"name": "toy", "version": "1"},
    "problems": {
        "double": {"title": "Double a number", "points": {}, "digest": "0"},
        "halve": {"title": "Halve a number", "points": {}, "digest": "0"},
    },
    "grader": {"version": "1", "digest": "0"},
    "seed": 1,
    "class": "autumn",
    "finished_at": "2026-01-01T00:01:00+00:00",
}
NOTHING = dict.fromkeys(
    "problem file sha256 reason score max_score extra verdict likely_cause seconds score_file"
    " key source_group".split()
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)


def lost(check, message="expected 4, got 5", outcome="failed", hint=None):
    return replace(check, outcome=outcome, earned=0, message=message, hint=hint, cases=Cases(0, 1))


def report(*checks, **fields):
    """A report in which these checks came out so, and the others were passed."""
    changed = {check.id: check for check in checks}
    found = tuple(changed.get(check.id, check) for check in CHECKS)
    score = sum(check.earned for check in found)
    verdict = "correct" if score == 10 else "incorrect"
    made = replace(REPORT, checks=found, score=score, passed=score == 10, verdict=verdict)
    return replace(made, **fields)


def unloaded(kind="syntax_error", message="line 1: expected ':'"):
    """A report on a file that could not be loaded."""
    checks = [lost(check, "the submission could not be loaded", "not_run") for check in CHECKS]
    return report(
        *checks, load_error=Failure(kind, message, "def f()\n       ^"), verdict="not_run"
    )


class Folder:
    """A results folder that grows by one submission at a time."""

    def __init__(self, path):
        self.path = path
        self.rows = []
        (path / "scores").mkdir(parents=True)
        self.manifest(**MANIFEST)
        self.write()

    def manifest(self, **fields):
        (self.path / "manifest.json").write_text(json.dumps(fields), encoding="utf-8")

    def write(self):
        text = "".join(json.dumps(row) + "\n" for row in self.rows)
        (self.path / "results.jsonl").write_text(text, encoding="utf-8")

    def add(self, learner, made=REPORT, **fields):
        """A graded submission, with its document."""
        name = f"scores/{len(self.rows)}.json"
        (self.path / name).write_text(json.dumps(made.as_dict()), encoding="utf-8")
        row = {
            **NOTHING,
            "learner": learner,
            "problem": made.problem,
            "file": made.submission.file,
            "sha256": made.submission.sha256,
            "status": "graded",
            "score": made.score,
            "max_score": made.max_score,
            "extra": made.extra.earned,
            "verdict": made.verdict,
            "likely_cause": made.likely_cause.sentence if made.likely_cause else None,
            "seconds": made.seconds,
            "score_file": name,
        }
        self.rows.append({**row, **fields})
        self.write()
        return self

    def ungraded(self, learner, status, reason, **fields):
        self.rows.append(
            {**NOTHING, "learner": learner, "status": status, "reason": reason, **fields}
        )
        self.write()
        return self

    def overview(self):
        """What is counted, without the page."""
        rows = [read_row(each) for each in self.rows]
        found = Overview({"double": "Double a number", "halve": "Halve a number"}, rows)
        for at, row in enumerate(rows):
            if row.status == "graded":
                found.add(at, json.loads((self.path / row.score_file).read_text("utf-8")))
        return found


@pytest.fixture(name="folder")
def _folder(tmp_path):
    return Folder(tmp_path / "results")


class Tags(HTMLParser):
    """Every start tag with its attributes, and the text of the scripts and the style."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.inside, self.text, self.shown = [], None, {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside = dict(attrs).get("id", tag)

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.text[self.inside] = self.text.get(self.inside, "") + data
        else:
            self.shown.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.shown).split())


# What is counted.


def test_full_marks_alone_are_in_the_last_bar(folder):
    """The bars are tenths of the points; 90 % and more is not yet full marks."""
    folder.add("a").add("b", report(lost(FRESH))).add(
        "c", report(lost(TWO), lost(ZERO), lost(FRESH))
    )
    found = folder.overview()
    told = found.distribution(found.problems[0])
    assert told.bins == (1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1)
    assert (told.median, told.full) == (9, 1)
    assert found.full_marks == 1
    assert found.distribution(found.problems[1]) is None


def test_a_check_is_hard_by_those_it_could_be_tried_on(folder):
    """A file that does not load says nothing about what was not understood."""
    folder.add("a", report(lost(TWO))).add("b", report(lost(TWO), lost(ZERO, hint="Think of 0.")))
    folder.add("c").add("d", unloaded())
    two, zero = folder.overview().problems[0].hardest
    assert (two.id, two.lost, two.tried) == ("test_two", 2, 3)
    assert (zero.id, zero.lost, zero.tried, zero.hint) == ("test_zero", 1, 3, "Think of 0.")


def test_of_checks_lost_alike_the_one_lost_for_its_own_sake_is_first(folder):
    """Whoever answers nothing right loses every check; that says little about each."""
    folder.add("a", report(*map(lost, CHECKS))).add("b", report(lost(ZERO)))
    folder.add("c", report(lost(TWO), lost(FRESH)))
    hardest = folder.overview().problems[0].hardest
    assert [check.id for check in hardest] == ["test_zero", "test_two", "test_fresh"]
    assert {check.share for check in hardest} == {2 / 3}


def test_causes_are_counted_by_problem(folder):
    """The same sentence about two problems is two causes; the most often told is first."""
    told = {"likely_cause": Cause("You add where you should multiply.", 1)}
    folder.add("a", report(lost(ZERO), likely_cause=Cause("You forget 0.")))
    folder.add("b", report(lost(TWO), **told)).add("c", report(lost(TWO), **told))
    folder.add("c", report(lost(TWO), problem="halve", **told))
    found = [(cause.problem.slug, cause.sentence, cause.rows) for cause in folder.overview().causes]
    assert found == [
        ("double", "You add where you should multiply.", [1, 2]),
        ("double", "You forget 0.", [0]),
        ("halve", "You add where you should multiply.", [3]),
    ]


def test_the_same_code_needs_two_learners(folder):
    """What one learner hands in twice is no group, nor is the same code for two problems."""
    for learner, group in (
        ("a", "1"),
        ("b", "1"),
        ("c", "2"),
        ("c", "2"),
        ("d", None),
        ("e", None),
    ):
        folder.add(learner, source_group=group)
    folder.add("f", report(problem="halve"), source_group="2")
    assert folder.overview().same_source == [[0, 1]]


@pytest.mark.parametrize(
    ("stopped", "message", "kind"),
    [
        ("timeout", "case: 2\nyour code took longer than 4 s for one call", "timeout"),
        ("crash", "your code crashed (signal 11, SIGSEGV) during a call", "crash"),
        ("exit", "your code ended the process during a call (exit code 0)", "crash"),
        ("died", "your code closed its connection to the grader", "crash"),
        ("malformed", "your code answered with something that is not a value", "crash"),
        ("memory", "your code used more than 1024 MiB of memory", "excess"),
        ("flood", "your code printed more than 1 MiB", "excess"),
        ("too_large", "your code returned more than can be read", "excess"),
        ("exception", "your code raised ValueError: no", "raised"),
        ("exception", "your code raised ValueError: took longer than\nyour code crashed", "raised"),
    ],
)
def test_what_stopped_a_check_is_told_by_its_kind_and_first_words(folder, stopped, message, kind):
    """A submission cannot pass an exception off for something else by what it says in it."""
    folder.add("a", report(replace(lost(TWO, message, "error"), stopped=stopped)))
    ((at, met),) = folder.overview().troubles.items()
    assert (at, list(met)) == (0, [kind])
    assert met[kind] == message.partition("your code ")[2].partition("\n")[0]


@pytest.mark.parametrize(
    ("kind", "trouble"), [("syntax_error", "load"), ("timeout", "timeout"), ("exit", "crash")]
)
def test_a_file_that_does_not_load_is_trouble_of_its_kind(folder, kind, trouble):
    """Its checks, none of which was run, are not told one by one."""
    folder.add("a", unloaded(kind, "what happened"))
    assert folder.overview().troubles == {0: {trouble: "what happened"}}


def test_the_checks_of_two_libraries_are_columns_side_by_side(folder):
    """A check that is not asked of a submission is neither passed nor lost."""
    other = replace(TWO, id="test_array", title="An array.", group="form", points=10, earned=10)
    folder.add("a", report(lost(ZERO))).add("b", replace(REPORT, library="numpy", checks=(other,)))
    found = folder.overview()
    problem = found.problems[0]
    patterns = [problem.patterns[number].ljust(4) for number in found.patterns]
    assert patterns == [".f. ", "   ."]
    assert [(check.id, check.number) for check in problem.columns] == [
        ("test_two", 1),
        ("test_zero", 2),
        ("test_fresh", 3),
        ("test_array", 4),
    ]


def test_names_that_look_alike_are_kept_apart(folder):
    """Two learners whose names differ in what is not shown are two learners."""
    for learner in ("Ada", "Ada\u202e", "Ada (2)"):
        folder.add(learner)
    found = folder.overview()
    assert found.names == ["Ada", "Ada (2)", "Ada (2) (2)"]
    assert list(found.learners) == [0, 1, 2]


def test_a_sample_keeps_both_ends():
    """A quarter is the best, a quarter the lowest, and what is between is spread evenly."""
    assert some(range(7), 8) == list(range(7))
    found = some(range(1000), 8)
    assert found == [0, 1, 2, 251, 500, 749, 998, 999]
    assert len(some(range(1001), 200)) == 200


# Reading a folder.


def test_a_folder_that_is_none_is_refused(tmp_path):
    """The sentence says what is missing and what to give."""
    with pytest.raises(UsageError, match=r"no manifest.json; give the folder that `grade batch"):
        page.render(tmp_path)
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        page.render(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("manifest.json", "{", "manifest.json: not JSON"),
        ("manifest.json", "[]", "format None, and this grader reads format 1"),
        ("manifest.json", '{"format": 2}', "format 2, and this grader reads format 1"),
        ("manifest.json", '{"format": 1}', "no titles of problems"),
        ("manifest.json", '{"format": 1, "problems": {}}', "line 1: a problem that is not in"),
        ("results.jsonl", None, "no results.jsonl"),
        ("results.jsonl", "{}\n", "line 1: no 'learner'"),
        ("results.jsonl", "\n{", "line 2: not JSON"),
        ("results.jsonl", "[" * 100_000, "line 1: not JSON"),
        ("results.jsonl", "\xff", None),
        ("scores/0.json", None, "0.json: not there"),
        ("scores/0.json", "{", "0.json: not JSON"),
        ("scores/0.json", "[]", "0.json: not a score document"),
        ("scores/0.json", '{"schema_version": NaN}', "0.json: not JSON"),
        ("scores/0.json", '{"schema_version": 2}', "no score of schema version 1"),
        ("scores/0.json", '{"schema_version": 1, "error": null}', "not a score document"),
    ],
)
def test_a_damaged_folder_is_told_by_its_place(folder, name, text, told):
    """Where, what, and what to do."""
    folder.add("a")
    if text is None:
        (folder.path / name).unlink()
    else:
        (folder.path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(told) if told else "line 1") as caught:
        page.render(folder.path)
    assert str(folder.path) in str(caught.value)
    assert re.search(r"grade batch|grade again", str(caught.value))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("learner", None),
        ("status", "done"),
        ("score", "10"),
        ("score", True),
        ("score", -1),
        ("max_score", 0),
        ("score", None),
        ("score_file", "../../etc/passwd"),
        ("score_file", "scores/../manifest.json"),
        ("problem", None),
        ("reason", ["no"]),
    ],
)
def test_a_damaged_row_is_told_by_its_line(folder, field, value):
    """A row is taken whole or not at all."""
    folder.add("a").add("b")
    folder.rows[1][field] = value
    folder.write()
    with pytest.raises(UsageError, match=f"line 2: .*'{field}'"):
        page.render(folder.path)


def test_a_score_of_another_grading_is_refused(folder):
    """A document and its row are of one grading, or neither can be believed."""
    folder.add("a", score=9)
    with pytest.raises(UsageError, match=r"0.json: score is 10, and results.jsonl has another"):
        page.render(folder.path)
    folder.rows[0]["score"] = 10
    folder.write()
    fault = FaultReport(Kit("toy", "1"), "double", "broken", None, REPORT.started_at)
    (folder.path / "scores/0.json").write_text(json.dumps(fault.as_dict()), encoding="utf-8")
    with pytest.raises(UsageError, match="no score of schema version 1"):
        page.render(folder.path)


def test_a_check_that_stands_twice_in_a_score_is_refused(folder):
    """It would count twice; a hidden check may have the name of one that is not."""
    folder.add("a", replace(REPORT, checks=(*CHECKS, replace(TWO, hidden=True))))
    page.render(folder.path)
    folder.add("b", replace(REPORT, checks=(*CHECKS, lost(TWO))))
    told = r"scores/1\.json: the check 'test_two' stands there twice; run `grade batch` again"
    with pytest.raises(UsageError, match=told):
        page.render(folder.path)
    with pytest.raises(UsageError, match=told):
        diff.compare(folder.path, folder.path)


@pytest.mark.parametrize(("place", "key"), [((), "seconds"), (("checks", 0), "points")])
def test_a_number_without_an_end_is_no_score_document(folder, place, key):
    """Python reads 1e999, and writes what no browser takes."""
    folder.add("a", report(lost(TWO)))
    path = folder.path / "scores/0.json"
    document = inner = json.loads(path.read_text(encoding="utf-8"))
    for step in place:
        inner = inner[step]
    inner[key] = "endless"
    text = json.dumps(document).replace('"endless"', "1e999")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="not a score document"):
        page.render(folder.path)


# The page.


def test_the_page_says_what_was_not_understood(folder):
    """What sums the class up is in the HTML and needs no script."""
    cause = Cause("You add where you should multiply.", 1)
    folder.add("Ada").add("Bo", report(lost(TWO, hint="Multiply."), likely_cause=cause))
    folder.add("Cy", unloaded()).ungraded("Di", "missing", "no file for this problem")
    words = Tags(page.render(folder.path)).words
    for told in (
        "autumn",
        "You add where you should multiply.",
        "Two becomes four. Hint: Multiply. double, values: 1 of 2",
        "1 missing",
        "Could not be loaded (1)",
        "line 1: expected ':'",
        "no file for this problem",
        "No two learners handed in the same code.",
    ):
        assert told in words


def test_a_batch_that_goes_on_is_called_so(folder):
    """An unfinished class is told of as far as it is graded."""
    folder.add("Ada")
    assert "has not ended" not in page.render(folder.path)
    folder.manifest(**{**MANIFEST, "finished_at": None})
    assert "This batch has not ended" in page.render(folder.path)


def test_an_empty_class_has_a_page(folder):
    """Nobody, and then somebody without a file."""
    assert "Nothing is graded." in page.render(folder.path)
    folder.ungraded("Di", "unreadable", None, file="a.py")
    assert "1 unreadable" in Tags(page.render(folder.path)).words


def test_the_page_needs_nothing_but_itself(folder):
    """No address but places in the page and the score documents beside it, no inline styling, and
    a policy that names the one style and the one script by their hashes."""
    folder.add("Ada", report(lost(TWO)))
    text = page.render(folder.path)
    found = Tags(text)
    for tag, attributes in found.tags:
        assert not {"style", "src", "srcset", "action"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")
        assert tag not in ("link", "img", "iframe", "object", "base", "form")
    assert "http" not in re.sub(r"http-equiv", "", text)
    (policy,) = [about["content"] for _, about in found.tags if about.get("http-equiv")]
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(found.text[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    script = found.text["script"]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|fetch\(", script
    )


HOSTILE = (
    "</script><script>document.title='owned'</script><!-- <img src=x onerror=alert(1)> --> "
    "\"'`& ]]> {{ 7*7 }} {% raw %} \u202eevil\u2066 \ud800 \x00\x1b[31m 🎲 <!--<script>"
)


def hostile(folder):
    """A class in which every text is an attack."""
    long = "x" * 3900
    made = report(
        lost(TWO, f"{HOSTILE}\n{long}", "error", HOSTILE),
        replace(ZERO, title=HOSTILE, group=HOSTILE),
        likely_cause=Cause(HOSTILE, 1),
        output=Output(HOSTILE * 10, True),
        submission=SubmissionFile(f"{HOSTILE.replace('/', '')}.py", "a" * 64, 1),
    )
    folder.add(HOSTILE, made, source_group=HOSTILE, verdict=HOSTILE)
    folder.add(f"{HOSTILE}2", made, source_group=HOSTILE)
    folder.add("Bo", unloaded("import_error", HOSTILE))
    folder.ungraded("Cy", "unreadable", HOSTILE, file=HOSTILE)
    folder.manifest(**{**MANIFEST, "class": HOSTILE, "engine": HOSTILE})
    return folder


def test_what_learners_wrote_stays_text(folder):
    """Hostile names, files, causes, messages and prints add no tag, end no script, and bring no
    character that turns the text around."""
    harmless = page.render(Folder(folder.path.parent / "harmless").add("Ada").path)
    text = page.render(hostile(folder).path)
    found, known = Tags(text), {tag for tag, _ in Tags(harmless).tags}
    assert {tag for tag, _ in found.tags} - known <= {"details", "summary", "tr", "td", "tbody"}
    assert len([tag for tag, _ in found.tags if tag == "script"]) == 3
    for name in ("core", "more"):
        assert not re.search("[<>&]", found.text[name])
    assert not re.search("[\u202a-\u202e\u2066-\u2069\ud800-\udfff\x00\x1b]", text)
    text.encode()
    core, more = json.loads(found.text["core"]), json.loads(found.text["more"])
    assert core["names"][2] == "Bo"
    assert core["names"][0].startswith("</script><script>document.title='owned'</script>")
    assert "{{ 7*7 }}" in found.words
    assert "x" * 3900 in more["lines"]


def test_what_is_told_of_learners_has_a_budget(folder):
    """Those with the fewest points are told of in full; the page says where the others are."""
    for number in range(6):
        checks = [lost(TWO, f"got {number}" * 50)] if number else [lost(check) for check in CHECKS]
        folder.add(f"Learner {number}", report(*checks))
    everything = json.loads(Tags(page.render(folder.path)).text["more"])
    assert 0 not in everything["rows"]
    text = page.render(folder.path, budget=100)
    assert "for 5 others it is in" in Tags(text).words
    rows = json.loads(Tags(text).text["more"])["rows"]
    assert [row != 0 for row in rows] == [True, False, False, False, False, False]


def test_a_large_class_is_pictured_by_a_sample(folder):
    """The page says how many of how many are in the picture."""
    for number in range(12):
        folder.add(f"Learner {number}", report(*CHECKS[: 1 + number % 2]))
    words = Tags(page.render(folder.path, pictured=8)).words
    assert (
        "8 of 12 learners: the 2 best, the 2 lowest, and an even sample of those between." in words
    )


def test_the_page_is_written_beside_the_results(folder):
    """Whole, over an older one, and with nothing left beside it."""
    folder.add("Ada")
    before = set(folder.path.iterdir())
    (folder.path / "report.html").write_text("old", encoding="utf-8")
    path = page.write(folder.path)
    assert path.read_text(encoding="utf-8") == page.render(folder.path)
    assert set(folder.path.iterdir()) - before == {path}


def _luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one, other):
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_colours_can_be_told_apart(folder, scheme):
    """Text reaches WCAG AA on every ground it stands on; what failed and what passed are apart in
    brightness, so that no colour has to be seen."""
    style = Tags(page.render(folder.path)).text["style"]
    sets = [
        {name: f"#{''.join(2 * digit for digit in value)}" if len(value) == 3 else f"#{value}"
         for name, value in re.findall(r"--(\w+): #(\w+)", block)}
        for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    ]  # fmt: skip
    light, dark, printed = sets
    colours = {"light": light, "dark": {**light, **dark}, "print": {**light, **printed}}[scheme]
    for ground in ("page", "card", "said", "faint"):
        for ink in ("ink", "soft", "link", "lost", "stop", "full"):
            assert _contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert _contrast(colours["ink"], colours["mark"]) >= 4.5
    for ink in ("lost", "stop"):
        assert _contrast(colours[ink], colours["held"]) >= 3
    for ink in ("bar", "full", "lost"):
        assert _contrast(colours[ink], colours["page"]) >= 3


# In a browser.


def in_chromium(path, anchor, profile):
    """The page's elements after its script has run, as HTML."""
    command = [
        *(CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", "--enable-logging=stderr", f"--user-data-dir={profile}", "--dump-dom"),
        f"{path.as_uri()}{anchor}",
    ]
    found = subprocess.run(command, capture_output=True, check=False, timeout=60)
    complaints = [line for line in found.stderr.decode().splitlines() if "CONSOLE" in line]
    assert complaints == []
    return found.stdout.decode()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_chromium_shows_the_class_and_its_learners(folder, tmp_path):
    """The table has a row a learner; a learner's page has the message of the failed check, the
    hint, the cause, the prints and the hash; a check's link leaves those who lost it."""
    cause = Cause("You add where you should multiply.", 1)
    made = report(
        lost(TWO, "case: two\n  expected 4, got <5>", hint="Multiply."),
        likely_cause=cause,
        output=Output("so far so good", False),
    )
    folder.add("Ada").add("Bo Öz/1", made).ungraded("Cy", "missing", "no file", problem="double")
    path = page.write(folder.path)
    whole = in_chromium(path, "", tmp_path / "a")
    assert re.search(r'<html[^>]* data-ready="\d+"', whole)
    assert "3 learners" in whole
    assert 'class="full-marks" title="full marks">✓ 10<' in whole
    one = in_chromium(path, f"#learner={quote('Bo Öz/1', safe='')}", tmp_path / "b")
    shown = one.partition('<main id="person">')[2].partition("</main>")[0]
    for told in ("Bo Öz/1", "case: two\n  expected 4, got &lt;5&gt;", "Multiply.", cause.sentence,
                 "so far so good", "a" * 64, "Fresh numbers.", "scores/1.json"):  # fmt: skip
        assert told in shown
    some_of = in_chromium(path, "#check=0-0", tmp_path / "c")
    rows = some_of.partition('id="table"')[2].partition("</table>")[0]
    assert "Bo Öz/1" in rows
    assert "Ada" not in rows


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_chromium_runs_nothing_that_a_learner_wrote(folder, tmp_path):
    """The hostile class is shown as text, in the overview and on a learner's page."""
    path = page.write(hostile(folder).path)
    name = json.loads(Tags(path.read_text(encoding="utf-8")).text["core"])["names"][0]
    for number, anchor in enumerate(("", f"#learner={quote(name, safe='')}")):
        shown = in_chromium(path, anchor, tmp_path / str(number))
        assert re.search(r'<html[^>]* data-ready="\d+"', shown)
        assert "<title>owned" not in shown
        assert "<img" not in re.sub(r"<script.*?</script>", "", shown, flags=re.DOTALL)
