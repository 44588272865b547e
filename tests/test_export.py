"""Result formats, from literal and generated reports: what each holds, and that nothing breaks one.

Every text is read back as its platform would read it (`tests/exports.py`).
"""

from __future__ import annotations

import dataclasses
import pkgutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from grader import cli, export, session, submission_file
from grader import kit as kits
from grader.clean import TEXT_LIMIT
from grader.dev import junit as dev_junit
from grader.export import sheet
from grader.faults import KitFault
from grader.report import Cause, Failure, Output, Report, SubmissionFile
from grader.workers import Launcher, launcher
from tests import exports
from tests.exports import FAULT, FOR_LEARNERS, FORMATS, HOSTILE, check, read, report, rows, unloaded
from tests.kits import CHECKS, RIGHT, TOML, TinyKit, write_kit

ROWS = tuple(name for name in FOR_LEARNERS if name != "github")
JSON = ("gradescope", "prairielearn", "exercism", "classroom", "classroom50")

PUBLIC, SECOND = check(2), check(3, group="edges")
HIDDEN = check(4, hidden=True, seconds=0.0)
FULL = report(PUBLIC, SECOND, HIDDEN)
SYNTAX = Failure("syntax_error", "line 12: expected ':'", "    def f()\n           ^")
REFUSED = sheet.Refused(
    FULL.kit, "double", "a.py: no such file; check the name", None, FULL.started_at, 9
)
# It is not known for which problem the file is, so nobody can say what it would be worth.
FOR_NOTHING = replace(REFUSED, problem=None, max_score=None)


def lost(each, message="expected 4, got 5", outcome="failed", **fields):
    return check(each.points, **{**vars_of(each), "outcome": outcome, "message": message, **fields})


def vars_of(each):
    return {name: getattr(each, name) for name in ("id", "title", "group", "extra", "hidden")}


def told(name, made):
    return read(name, export.render(name, made))


# ---- the list of formats


def test_a_format_is_a_module_with_render_alone():
    """What the command offers is what the folder holds; a module has no other public function."""
    found = {module.name for module in pkgutil.iter_modules(export.__path__)}
    assert found == {*export.NAMES, "step_summary", "sheet"}
    assert tuple(cli._FORMATS) == export.NAMES
    for name in FORMATS:
        module = pkgutil.resolve_name(f"grader.export.{name}")
        own = {key for key, value in vars(module).items() if key[0] != "_" and callable(value)
               and getattr(value, "__module__", "") == module.__name__}  # fmt: skip
        assert own == {"render"}


# ---- points and rows


def test_full_marks_are_exactly_one():
    """A share of the points is a fraction until it is written; the whole is 1, not 0.9999999998."""
    made = report(*(check(points) for points in (3, 7, 11, 13)))
    assert told("prairielearn", made)["score"] == 1
    assert '"score": 1,' in export.render("prairielearn", made)


def test_a_lost_check_has_no_points():
    """A check earns all of its points or none, and a format that knows points says which."""
    made = report(lost(PUBLIC), SECOND, HIDDEN)
    assert [row["score"] for row in told("gradescope", made)["tests"]] == [0, 3, 4]
    assert told("prairielearn", made)["score"] == 7 / 9
    assert [row["score"] for row in told("classroom", made)["tests"]] == [0, 3, 4]
    assert told("classroom50", made)["score"] == 7
    assert told("github", made)[-2][2] == "Points 7/9"


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_the_same_however_a_submission_ends(name):
    """Who loses everything is shown the same checks, in the same order, out of the same points."""
    ends = [
        report(lost(PUBLIC), lost(SECOND), lost(HIDDEN)),
        report(lost(PUBLIC, outcome="error"), lost(SECOND, outcome="not_run"), HIDDEN),
    ]
    if name not in ("prairielearn", "exercism"):  # these list nothing where nothing was run
        ends.append(unloaded(PUBLIC, SECOND, HIDDEN, failure=SYNTAX))
    for end in ends:
        assert rows(name, export.render(name, end)) == rows(name, export.render(name, FULL))


def test_extra_credit_is_beside_the_score():
    """Gradescope adds it to the score; where there is no place for it, it is left out or grey."""
    extra = check(5, title="One call.", extra=True)
    made = report(PUBLIC, extra, check(2, extra=True, hidden=True))
    graded = told("gradescope", made)
    assert (graded["score"], sum(row["max_score"] for row in graded["tests"])) == (2 + 5 + 2, 2)
    assert graded["tests"][1]["name"] == "One call. (extra credit)"
    shared = told("prairielearn", made)
    assert (shared["score"], shared["message"]) == (1, "2 of 2 points, and 7 of 7 of extra credit")
    assert [row["max_points"] for row in shared["tests"]] == [2, 0, 0]
    for name in ("exercism", "classroom", "classroom50"):
        assert "One call" not in str(told(name, made))
    assert told("github", made)[-2][2] == "Points 2/2"


def test_extra_credit_that_is_not_earned_fails_nothing():
    """With every scored check passed a step is green, whatever was lost beside them."""
    made = report(PUBLIC, lost(SECOND, extra=True))
    assert told("exercism", made)["status"] == "pass"
    assert told("classroom", made)["status"] == "pass"
    assert [name for name, _, _ in told("github", made)] == ["notice", "notice"]
    document = etree.fromstring(export.render("junit", made).encode())
    assert (document.get("failures"), document.get("skipped")) == ("0", "1")


def test_no_format_tells_the_seed_or_the_time_of_hidden_checks():
    """Both could tell the hidden inputs; the times told are of public checks."""
    made = replace(FULL, seed=918_273_645, seconds=777.125)
    for name in FOR_LEARNERS:
        text = export.render(name, made)
        assert "918273645" not in text
        assert "777.1" not in text
    assert told("gradescope", made)["execution_time"] == 0.002


# ---- hidden checks


SECRET = check(4, title="SECRETTITLE", message="SECRETTEXT", hint="SECRETHINT", outcome="failed",
               hidden=True, seconds=0.0)  # fmt: skip


@pytest.mark.parametrize("name", FOR_LEARNERS)
def test_hidden_checks_are_points_without_text(name):
    """No text of theirs is told, and outside Gradescope no title either."""
    made = report(PUBLIC, SECOND, SECRET, replace(SECRET, id="other", title="SECRETTITLE 2"))
    told(name, made)
    text = export.render(name, made)
    if name == "classroom":
        text = str(told(name, made))
    assert "SECRETTEXT" not in text
    assert "SECRETHINT" not in text
    assert ("SECRETTITLE" in text) == (name == "gradescope")


def test_gradescope_holds_hidden_checks_back():
    """They are shown when grades are published; what is said at once counts public points only."""
    made = report(PUBLIC, lost(SECOND), SECRET)
    document = told("gradescope", made)
    assert [row.get("visibility") for row in document["tests"]] == [None, None, "after_published"]
    assert "output" not in document["tests"][2]
    assert "stdout_visibility" not in document
    assert document["output"] == (
        "double: 2 of 5 public points. "
        "A hidden check worth 4 points is shown when grades are published."
    )


@pytest.mark.parametrize("name", FOR_LEARNERS)
def test_a_likely_cause_does_not_tell_what_hidden_checks_found(name):
    """It is told with a failed public check, and not where hidden ones alone were lost."""
    cause = Cause("You add where you should multiply.", 1)
    hidden_only = export.render(name, report(PUBLIC, SECOND, SECRET, likely_cause=cause))
    assert "multiply" not in hidden_only
    public = export.render(name, report(lost(PUBLIC), SECRET, likely_cause=cause))
    told_in = {"html", "gradescope", "prairielearn", "exercism", "junit", "step_summary"}
    assert ("multiply" in public) == (name in told_in)


def test_what_is_lost_in_hidden_checks_alone_is_seen():
    """One row of all formats without visibility is not passed."""
    made = report(PUBLIC, SECRET)
    assert [row["status"] for row in told("exercism", made)["tests"]] == ["pass", "fail"]
    assert told("prairielearn", made)["tests"][1]["points"] == 0
    assert told("classroom50", made)["tests"][1]["passed"] is False
    (error, *_) = told("github", made)
    assert error == ("error", {"file": "double.py", "title": "double: hidden checks"},
                     "0 of 4 points")  # fmt: skip


def test_a_run_without_hidden_checks_says_so():
    """A learner's own full marks are not mistaken for the course's."""
    made = report(PUBLIC, SECOND)
    assert told("prairielearn", made)["message"] == "5 of 5 points (no hidden checks were run)"
    assert "No hidden checks were run." in told("html", made).of("p")
    assert told("gradescope", made)["output"] == "double: 5 of 5 public points."


# ---- how a check ends


def test_a_message_and_its_hint_are_told():
    """The learner reads what was expected, and the hint of the check."""
    made = report(lost(PUBLIC, hint="Twice."), SECOND)
    assert told("gradescope", made)["tests"][0]["output"] == "expected 4, got 5\nHint: Twice."
    assert told("exercism", made)["tests"][0]["message"] == "expected 4, got 5\nHint: Twice."
    assert told("classroom50", made)["tests"][0]["message"] == "expected 4, got 5\nHint: Twice."


def test_a_check_that_could_not_be_tried_says_why():
    """It earns nothing, and is neither a wrong answer nor passed."""
    made = report(PUBLIC, lost(SECOND, "the time was used up", "not_run"))
    assert told("exercism", made)["tests"][1]["message"] == "Not run: the time was used up"
    assert told("gradescope", made)["tests"][1]["output"] == "Not run: the time was used up"
    assert told("junit", made)[1].find("skipped") is not None
    assert told("classroom", made)["tests"][1]["name"] == "Sentence number 3.: not run"


@pytest.mark.parametrize(
    ("stopped", "sentence", "words"),
    [
        ("timeout", "took longer than 2 s for one call and was stopped", "timed out"),
        ("timeout", "used up the 60 s it may take in all and was stopped", "timed out"),
        ("crash", "crashed (segmentation fault) during a call", "crashed"),
        ("memory", "used more than 512 MiB of memory", "used too much memory"),
        ("flood", "printed more than 1 MiB", "printed too much"),
        ("too_large", "returned more than can be read", "returned too much"),
        ("exit", "ended the process during a call (exit code 3)", "ended the process"),
        ("exception", "raised ValueError: ::error::x", "raised an exception"),
        (
            "malformed",
            "answered with something that is not a value (x)",
            "answered with something that is not",
        ),
        ("died", "closed its connection to the grader", "stopped"),
    ],
)
def test_what_stopped_a_check_is_an_error_with_its_own_words(stopped, sentence, words):
    """A hanging and a crashing submission are told apart, also where only titles are shown."""
    stuck = lost(PUBLIC, f"x = 1\nyour code {sentence}\n  line 7, in f", "error")
    made = report(dataclasses.replace(stuck, stopped=stopped), SECOND)
    assert told("exercism", made)["tests"][0]["status"] == "error"
    assert sentence in told("prairielearn", made)["tests"][0]["message"]
    assert told("junit", made)[0].find("error") is not None
    assert told("github", made)[0][1]["line"] == "7"
    name = told("classroom", made)["tests"][0]["name"]
    assert name.startswith(f"Sentence number 2.: {words}")


def test_a_file_that_cannot_be_loaded_earns_nothing_everywhere():
    """The reason is told once; PrairieLearn takes no attempt, Exercism lists no test."""
    made = unloaded(PUBLIC, SECOND, HIDDEN, failure=SYNTAX)
    graded = told("gradescope", made)
    assert (graded["score"], graded["extra_data"]["state"]) == (0, "not_loaded")
    assert "line 12: expected ':'" in graded["output"]
    shared = told("prairielearn", made)
    assert (shared["gradable"], "score" in shared) == (False, False)
    assert shared["format_errors"][0].startswith("double.py could not be loaded: line 12:")
    exercism = told("exercism", made)
    assert exercism["message"].startswith("<solution-dir>/double.py: line 12: expected ':'")
    classroom = told("classroom", made)
    assert (classroom["status"], classroom["max_score"]) == ("error", 9)
    assert told("classroom50", made)["max-score"] == 9
    assert [case.find("error") is None for case in told("junit", made)] == [False] * 3
    error, complete, _ = told("github", made)
    assert (error[1]["line"], complete[2]) == ("12", "Points 0/9")


# ---- what was not graded


@pytest.mark.parametrize(
    ("name", "made"),
    [
        *((name, FAULT) for name in FORMATS),
        *((name, made) for name in FOR_LEARNERS for made in (FOR_NOTHING, report())),
    ],
)
def test_what_was_not_graded_is_valid_and_no_earned_zero(name, made):
    """Each format says that there is no grade, in the way it has for that."""
    text, found = export.render(name, made), told(name, made)
    match name:
        case "gradescope":
            (row,) = found["tests"]
            assert (found["score"], row["status"], "score" in row) == (0, "failed", False)
        case "prairielearn":
            assert (found["gradable"], found["tests"]) == (False, [])
        case "exercism":
            assert found["status"] == "error"
        case "classroom":
            assert (found["status"], found["max_score"]) == ("error", 0)
        case "classroom50":
            assert (found["score"], found["max-score"]) == (0, 0)
        case "github":
            assert [command for command, _, _ in found] == ["error"]
        case "junit":
            (case,) = found
            assert case.find("error") is not None
        case _:
            assert "could not be graded" in text.lower() or name == "json"
    assert "points" not in text.lower()


@pytest.mark.parametrize("name", FOR_LEARNERS)
def test_a_file_that_could_not_be_read_has_no_points_of_the_usual_maximum(name):
    """What was handed in is the learner's: an earlier score does not stay, as it would with 0 of 0.
    PrairieLearn and Exercism have a word of their own for it."""
    text, found = export.render(name, REFUSED), told(name, REFUSED)
    match name:
        case "prairielearn":
            assert (found["gradable"], "score" in found) == (False, False)
        case "exercism":
            assert (found["status"], "tests" in found) == ("error", False)
        case "github":
            assert [command for command, _, _ in found] == ["error", "notice", "notice"]
            assert found[1:] == [
                ("notice", {"title": "Autograding complete"}, "Points 0/9"),
                ("notice", {"title": "Autograding report"}, '{"totalPoints":0,"maxPoints":9}'),
            ]
        case "classroom":
            assert (found["status"], found["max_score"]) == ("error", 9)
        case "classroom50":
            assert (found["score"], found["max-score"], len(found["tests"])) == (0, 9, 1)
        case "gradescope":
            (row,) = found["tests"]
            assert (found["score"], row["score"], row["max_score"]) == (0, 0, 9)
        case "junit":
            assert '<property name="max_points" value="9" />' in text
        case _:
            assert "could not be graded: 0 of 9 points" in text


@pytest.mark.parametrize("name", FOR_LEARNERS)
def test_a_fault_of_the_kit_is_not_quoted_to_learners(name):
    """What went wrong in a check may tell the check; the learner is told whose fault it is not."""
    made = replace(FAULT, message="SECRET", check="test_SECRET")
    told(name, made)
    assert "SECRET" not in export.render(name, made)
    assert "SECRET" in export.render("text", made)
    assert "SECRET" in export.render("json", made)


@pytest.mark.parametrize("name", [name for name in FOR_LEARNERS if name != "classroom"])
def test_a_file_that_could_not_be_read_is_told_as_such(name):
    """The learner is told what to mend; nobody looks for a fault of the grader."""
    text = export.render(name, REFUSED)
    assert "a.py: no such file; check the name" in text
    assert "fault" not in text.lower().replace("default-src", "")


# ---- identity


def test_classroom_50_is_told_whose_result_it_is():
    """The runner's variables name the submission, each on one line; without them it is unknown."""
    environment = {
        "CLASSROOM": "ml\n::error::x",
        "ASSIGNMENT": "double",
        "SUBMISSION_TAG": "2026-11-29",
        "COMMIT_URL": "https://example.org/c",
        "RELEASE_URL": "",
    }
    document = read("classroom50", export.render("classroom50", FULL, environment))
    assert document["classroom"] == "ml ::error::x"
    assert document["submission"] == "submit/2026-11-29"
    assert (document["review"], document["release"]) == ("https://example.org/c", "unknown")
    assert document["datetime"] == "2026-11-29T17:51:03Z"
    assert told("classroom50", FULL)["submission"] == "submit/unknown"


def test_moments_are_told_in_utc():
    """Whatever zone a report was written in."""
    made = replace(FULL, started_at="2026-11-29T18:51:03.25+01:00")
    assert 'timestamp="2026-11-29T17:51:03"' in export.render("junit", made)


# ---- sizes


MEGABYTES = "x" * 2_500_000 + "\x1b[31m" + "\u202e" * 2_500_000


@pytest.mark.parametrize("name", FORMATS)
def test_five_megabytes_of_text_are_cut(name):
    """A message, a print and a traceback of 5 MB each leave a small result with every row."""
    failed = report(lost(PUBLIC, MEGABYTES), SECOND, HIDDEN, output=Output(MEGABYTES, True))
    broken = unloaded(PUBLIC, HIDDEN, failure=Failure("exception", MEGABYTES, None))
    for made in (failed, broken):
        text = export.render(name, made)
        read(name, text)
        assert name == "json" or len(text.encode()) < 50_000
        assert name in ("json", "classroom") or "characters cut" in text


@pytest.mark.parametrize("name", ROWS)
def test_texts_are_left_out_before_rows(name):
    """4,000 emoji in every text: what matters least is dropped, and that is said; no row is."""
    emoji = "🎲" * TEXT_LIMIT
    checks = [lost(check(n, hint=emoji), emoji) for n in range(1, 120)]
    made = report(*checks, HIDDEN, output=Output(emoji, True))
    passed = report(*(check(n) for n in range(1, 120)), HIDDEN)
    assert rows(name, export.render(name, made)) == rows(name, export.render(name, passed))
    text = export.render(name, made)
    assert "Left out, to keep this result small" in text or name in ("classroom", "classroom50")


def test_titles_are_cut_where_nothing_else_is_left():
    """What Classroom's reporter reads has to fit into a variable, whatever a kit calls things."""
    made = report(*(lost(check(n, title="🎲" * 300)) for n in range(1, 100)))
    assert len(told("classroom", made)["tests"]) == 99


def test_a_kit_of_too_many_checks_is_a_fault_of_the_kit():
    """Rather than a result that the platform would throw away."""
    made = report(*(check(n) for n in range(1, 2000)))
    with pytest.raises(KitFault, match="too many checks for a result of 90000 bytes"):
        export.render("classroom", made)


def test_exercism_has_no_message_for_a_whole_that_was_graded():
    """That is for an error. What was left out stands in the first failure, within 500,000 bytes;
    and a check whose text was dropped is not taken for a hidden one."""
    emoji = "🎲" * TEXT_LIMIT
    lost_all = report(*(lost(check(n, hint=emoji), emoji) for n in range(2, 40)), HIDDEN)
    document = told("exercism", lost_all)
    assert (document["status"], document["message"]) == ("fail", None)
    assert "Left out, to keep this result small" in document["tests"][0]["message"]
    assert document["tests"][20]["message"] == "Not passed; what it says is not told here."
    assert document["tests"][38]["status"] == "pass"
    passed = report(*(check(n, title="🎲" * 300) for n in range(1, 200)), output=Output("x", False))
    document = told("exercism", passed)
    assert (document["status"], document["message"]) == ("pass", None)


def test_exercism_counts_utf16_units():
    """An emoji is two; the note that the output was cut is part of its 500."""
    made = report(lost(PUBLIC), output=Output("🎲" * 300, False))
    output = told("exercism", made)["tests"][0]["output"]
    assert exports.utf16(output) <= 500
    assert output.endswith("🎲\n(cut)")


@pytest.mark.parametrize(("number", "last"), [(10, "Sentence number 10."), (11, "and 2 more")])
def test_github_shows_ten_errors_of_a_step(number, last):
    """Where there are more, the tenth says how many."""
    errors = [
        found
        for found in told("github", report(*(lost(check(n)) for n in range(1, number + 1))))
        if found[0] == "error"
    ]
    assert len(errors) == 10
    assert last in errors[-1][1]["title"] + errors[-1][2]


# ---- whatever a submission says


def hostile(text):
    """Reports in which a submission has put the text wherever it can, and a kit where it may."""
    failing = [
        lost(PUBLIC, text, hint=text),
        lost(SECOND, text, "error"),
        lost(check(5), text, "not_run"),
        check(6, title=f"A {text}"),
        lost(HIDDEN, text, title=f"A {text}"),
        lost(check(1, extra=True), text),
    ]
    name = SubmissionFile(f"{text}.py", "0" * 64, 1)
    yield report(*failing, submission=name, output=Output(text, True), likely_cause=Cause(text, 1))
    failure = Failure("exception", text, text)
    yield unloaded(PUBLIC, HIDDEN, failure=failure, submission=name, output=Output(text, True))
    yield replace(FAULT, message=text, problem=text, check=text)
    yield replace(REFUSED, message=text)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", [*HOSTILE, "\n".join(HOSTILE)], ids=lambda text: ascii(text[:16]))
def test_a_hostile_text_breaks_no_format(name, text):
    """Every format stays valid, within its size, without raw text and without a command that is
    not its own; rows and points are as they would be."""
    harmless = [*hostile("calm")]
    for made, calm in zip(hostile(text), harmless, strict=True):
        found = told(name, made)
        if name == "github":
            kinds = [command for command, _, _ in found]
            assert kinds == [command for command, _, _ in told(name, calm)]
            assert found[-2:] == told(name, calm)[-2:] or kinds == ["error"]
        elif name not in ("text", "json") and isinstance(made, Report):
            points = [most for _, most in rows(name, export.render(name, made))]
            assert points == [most for _, most in rows(name, export.render(name, calm))]


TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(), max_size=60),
    st.lists(st.sampled_from(HOSTILE[:-4]), max_size=4).map("\n".join),
)
OUTCOMES = st.sampled_from(["passed", "failed", "error", "not_run"])


@st.composite
def checks(draw):
    outcome = draw(OUTCOMES)
    return check(
        draw(st.integers(1, 9)),
        title="A " + draw(st.one_of(st.just("sentence."), TEXTS)),
        group=draw(st.sampled_from(["values", "edges", "law"])),
        extra=draw(st.booleans()),
        hidden=draw(st.booleans()),
        outcome=outcome,
        message=None if outcome == "passed" else draw(TEXTS),
        hint=draw(st.none() | TEXTS),
    )


@st.composite
def reports(draw):
    made = draw(st.lists(checks(), max_size=8))
    fields = {
        "submission": SubmissionFile(draw(TEXTS), "0" * 64, 1),
        "output": Output(draw(TEXTS), draw(st.booleans())),
        "likely_cause": draw(st.none() | st.builds(Cause, TEXTS, st.none() | st.integers(1, 9))),
    }
    if draw(st.booleans()):
        return report(*made, **fields)
    failure = Failure("exception", draw(TEXTS), draw(st.none() | TEXTS))
    return unloaded(*made, failure=failure, **fields)


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(reports())
def test_generated_results_are_valid(made):
    """A thousand reports of any outcome and any text, in every format."""
    for name in FORMATS:
        told(name, made)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 1 + 2j, ("a",), {1: 2}, True.__class__]
)
def test_only_what_json_has_is_written(value):
    """A value that JSON does not have is an error here, and no odd text on a platform."""
    with pytest.raises((TypeError, ValueError)):
        sheet.strict_json({"value": [value]})


# ---- the schema of JUnit


def test_a_check_of_the_kit_is_junit_too():
    """Both of this kit's writers keep to one schema."""
    from tests.test_dev_outputs import FAILS, STRAY, verdict

    text = dev_junit.render(verdict(FAILS, STRAY, notes=["one"]))
    schema = etree.XMLSchema(etree.parse(exports.SCHEMAS / "junit.xsd"))
    schema.assertValid(etree.fromstring(text.encode()))


# ---- real gradings


HIDDEN_CHECKS = '''\
import pytest

from grader.expect import exactly


@pytest.mark.points(3, group="values")
def test_secret(submission):
    """SECRETTITLE is asked for."""
    assert submission("SECRETINPUT") == exactly("SECRETANSWER")
'''
SOLUTION = """\
def plus_one(number):
    return "SECRETANSWER" if type(number) is str else number + 1
"""


@pytest.fixture(scope="module", name="started")
def _started():
    made = launcher("auto")
    yield made
    made.close()


@pytest.fixture(scope="module", name="kit")
def _kit(tmp_path_factory: pytest.TempPathFactory) -> TinyKit:
    """An instructor's kit with three public checks and a hidden one."""
    return write_kit(
        tmp_path_factory.mktemp("exported"),
        checks=CHECKS,
        toml=TOML.replace("hidden = 0", "hidden = 3"),
        hidden=HIDDEN_CHECKS,
        solution=SOLUTION,
    )


@pytest.fixture(name="graded")
def _graded(kit: TinyKit, started: Launcher, tmp_path: Path):
    """Grades a source text."""

    def grade(text: str) -> Report:
        file = tmp_path / "handed_in.py"
        file.write_text(text, encoding="utf-8")
        return session.grade(
            kits.find(kit.root),
            kit.problem,
            submission_file.read(file),
            library="torch",
            started=started,
        )

    return grade


ENDS = {
    "reference": SOLUTION,
    "stub": "def plus_one(number):\n    raise NotImplementedError\n",
    "syntax error": "def plus_one(number:\n",
    "missing function": "def plus_two(number):\n    return number + 2\n",
    "exit at load": "import os\nos._exit(0)\n",
    "endless loop": "def plus_one(number):\n    while True:\n        pass\n",
}


@pytest.mark.parametrize("end", ENDS)
def test_rows_and_maximum_are_constant(graded, end):
    """However a real file ends, every format that lists rows lists the same ones, out of 10."""
    made, reference = graded(ENDS[end]), graded(RIGHT)
    for name in ROWS:
        found = told(name, made)
        if made.load_error and name in ("prairielearn", "exercism"):
            continue  # they list nothing where nothing was run
        assert rows(name, export.render(name, made)) == rows(name, export.render(name, reference))
        assert found is not None
    assert (made.max_score, made.score) == (10, 10 if end == "reference" else 0)


@pytest.mark.parametrize("name", FOR_LEARNERS)
def test_a_file_cannot_carry_hidden_inputs_out(graded, name):
    """It prints and raises what it is given; no hidden input, answer or title is told."""
    made = graded(
        "def plus_one(number):\n    print(number)\n    raise ValueError(f'got {number}')\n"
    )
    found = told(name, made)
    text = str(found) if name == "classroom" else export.render(name, made)
    assert "SECRETINPUT" not in text
    assert "SECRETANSWER" not in text
    assert ("SECRETTITLE" in text) == (name == "gradescope")
    assert name in ("github", "classroom", "classroom50") or "got 1" in text
