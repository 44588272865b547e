"""The learner's screen, from literal reports: what is told, in which words, and what never is."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from grader import render
from grader.report import (
    Cases,
    Cause,
    CheckResult,
    Environment,
    Extra,
    Failure,
    Isolation,
    Kit,
    Output,
    Report,
    SubmissionFile,
)

PASSED = CheckResult(
    id="test_two",
    title="Two becomes four.",
    group="values",
    points=1,
    extra=False,
    earned=1,
    outcome="passed",
    message=None,
    hint=None,
    cases=Cases(1, 1),
    seconds=0.001,
    hidden=False,
)
FAILED = replace(
    PASSED,
    id="test_negative",
    title="A number below zero is doubled.",
    points=2,
    earned=0,
    outcome="failed",
    message="answer: expected -6, got 6\n  at index 0",
    hint="What is abs for?",
    cases=Cases(1, 4, "x = -3"),
)
NOT_RUN = replace(
    FAILED,
    id="test_device",
    outcome="not_run",
    message="this PyTorch has no accelerator",
    hint=None,
)
EXTRA = replace(PASSED, id="test_extra", title="Infinity is doubled.", extra=True, group="edges")
REPORT = Report(
    kit=Kit("toy", "1"),
    problem="double",
    title="Double a number",
    library="torch",
    device="cpu",
    submission=SubmissionFile("double.py", "0" * 64, 10),
    score=1,
    max_score=3,
    passed=False,
    verdict="incorrect",
    seed=None,
    extra=Extra(1, 1),
    checks=(PASSED, FAILED, EXTRA),
    load_error=None,
    likely_cause=None,
    output=Output("", False),
    environment=Environment("3.11", "2.13", "2.4", "linux"),
    isolation=Isolation(
        "locked", ("process", "limits", "landlock", "seccomp"), 7, "passed", ("an own user",)
    ),
    started_at="2026-01-01T00:00:00+00:00",
    seconds=1.0,
)
AGAIN = "grade run double.py"


def plain(report, **options):
    return render.plain(render.screen(report, again=AGAIN, marks=render.WORDS, **options))


def on_a_terminal(report, width=60):
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system="standard")
    console.print(render.styled(render.screen(report, again=AGAIN)))
    return out.getvalue()


def test_the_plain_screen_tells_everything_in_order():
    """Header, one line a check, each failure with message and hint, the score, the next step."""
    assert plain(REPORT) == (
        "Double a number  (double)\n"
        "File: double.py with torch on cpu\n"
        "\n"
        "values\n"
        "  pass   1/1  Two becomes four.\n"
        "  FAIL   0/2  A number below zero is doubled.\n"
        "              answer: expected -6, got 6\n"
        "                at index 0\n"
        "              Hint: What is abs for?\n"
        "\n"
        "Extra credit, beside the score\n"
        "\n"
        "edges\n"
        "  pass   1/1  Infinity is doubled.\n"
        "\n"
        "Score:        1 of 3\n"
        "Extra credit: 1 of 1\n"
        "Verdict:      incorrect\n"
        "Isolation:    locked (Landlock 7, seccomp, limits)\n"
        "\n"
        "Next: start with this one: A number below zero is doubled.\n"
        "Stuck? grade hint double    Again: grade run double.py\n"
    )


def test_the_plain_screen_is_ascii():
    """What the grader adds by itself can be read in any terminal, log or mail."""
    assert plain(replace(REPORT, checks=(PASSED, FAILED, NOT_RUN, EXTRA))).isascii()


def test_a_terminal_shows_signs_and_wraps_under_the_text():
    """A long title goes on below its own first letter."""
    long = replace(FAILED, title="word " * 14 + "end")
    shown = Console(file=io.StringIO(), width=60)
    shown.print(render.styled(render.screen(replace(REPORT, checks=(long,)), again=AGAIN)))
    lines = shown.file.getvalue().splitlines()
    first = next(line for line in lines if "✗" in line)
    second = lines[lines.index(first) + 1]
    assert first.startswith("  ✗   0/2  word word")
    assert second.startswith("           word")
    assert max(map(len, lines)) <= 60


def test_a_terminal_has_colours():
    """A passed check is green and a failed one red."""
    shown = on_a_terminal(REPORT)
    assert "\x1b[32m  ✓ " in shown
    assert "\x1b[31m  ✗ " in shown


def test_a_load_error_is_told_once_and_no_check_is_listed():
    """Where nothing ran, the reason is the only news."""
    error = Failure("syntax_error", "line 3: '(' was never closed", "    x = (\n        ^")
    checks = tuple(replace(NOT_RUN, message=error.message) for _ in range(3))
    shown = plain(
        replace(
            REPORT, load_error=error, checks=checks, verdict="not_run", score=0, extra=Extra(0, 0)
        )
    )
    assert shown.count("was never closed") == 1
    assert "Your file could not be loaded, so no check was run." in shown
    assert "      x = (\n          ^" in shown
    assert "Verdict:      not run: the file could not be loaded" in shown
    assert f"Next: put that right, then grade again: {AGAIN}" in shown


def test_the_same_finding_is_told_in_full_once():
    """A file that raises everywhere does not fill the screen with one sentence."""
    raised = "your code raised ValueError: no\n  line 3, in double"
    checks = tuple(
        replace(FAILED, id=f"test_{x}", outcome="error", message=f"x = {x}\n{raised}")
        for x in range(5)
    )
    shown = plain(replace(REPORT, checks=checks))
    assert shown.count("  line 3, in double\n") == 1
    assert shown.count("your code raised ValueError: no (as above)\n") == 4
    assert shown.count("Hint:") == 1


def test_only_some_failures_are_told_with_their_inputs():
    """The others say what was found in one line, until they are asked for."""
    checks = tuple(
        replace(FAILED, id=f"test_{x}", message=f"with x = {x}:\nexpected {2 * x}, got 0\n  odd")
        for x in range(7)
    )
    shown = plain(replace(REPORT, checks=checks))
    assert shown.count("with x = ") == 4
    assert "              x = -3: expected 12, got 0\n              Hint" in shown
    assert "The other failures are told in one line; --full tells all of them." in shown
    in_full = plain(replace(REPORT, checks=checks), full=True)
    assert in_full.count("with x = ") == 7
    assert "--full" not in in_full


def test_a_biased_answer_is_led_to_the_law():
    """A wrong law fails checks of every group; the one about the law is the one to mend."""
    law = replace(FAILED, group="law", title="Every answer comes as often as the law says.")
    shown = plain(replace(REPORT, checks=(FAILED, law), verdict="biased"))
    assert "Next: start with this one: Every answer comes as often" in shown


def test_the_next_step_is_the_check_that_fails_most_of_its_cases():
    """A mistake at the edges fails a case of many checks, and all of one: that one names it."""
    broad = replace(FAILED, title="Broad.", cases=Cases(9, 10), hint="About something else.")
    narrow = replace(FAILED, title="Narrow.", cases=Cases(0, 10), hint="About the mistake.")
    shown = plain(replace(REPORT, checks=(broad, narrow)))
    assert "Next: start with this one: Narrow." in shown
    assert "Hint: About the mistake." in shown
    assert "Hint: About something else." not in shown


def test_an_untouched_stub_is_told_to_be_written():
    """Where nothing is written yet, the next step is the statement and not a failure."""
    raised = replace(FAILED, outcome="error", message="your code raised NotImplementedError")
    shown = plain(replace(REPORT, checks=(raised, raised)))
    assert "Next: write the function; what it has to do: grade show double" in shown


def test_a_check_that_was_not_run_says_why():
    """Neither passed nor failed: the reason stands below it."""
    shown = plain(replace(REPORT, checks=(PASSED, NOT_RUN)))
    assert "  ----   0/2  A number below zero is doubled.\n" in shown
    assert "not run: this PyTorch has no accelerator" in shown


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("correct", "correct"),
        ("incorrect", "incorrect"),
        ("biased", "biased: the output does not follow the target's law"),
        ("lossless_other_draws", "lossless, other draws: the output follows the target's law"),
    ],
)
def test_every_verdict_is_told_in_plain_words(verdict, words):
    """What the verdict means stands beside its name."""
    assert f"Verdict:      {words}" in plain(replace(REPORT, verdict=verdict))


def test_other_draws_lead_to_the_statement():
    """Who has the law right is told to look at the draws, not at the first failing check."""
    shown = plain(replace(REPORT, verdict="lossless_other_draws"))
    assert (
        "Next: compare the order of your random draws with the statement: grade show double"
        in shown
    )


def test_full_marks_are_told_with_what_is_left():
    """Extra credit that is left is offered; otherwise the learn page is."""
    full = replace(REPORT, checks=(PASSED, EXTRA), score=1, max_score=1, passed=True)
    assert "Full marks. What the idea leads to: grade show double --learn" in plain(full)
    left = replace(full, extra=Extra(1, 4))
    assert "Full marks. 3 points of extra credit are left: grade show double" in plain(left)


def test_points_that_are_given_later_are_told():
    """A learner's kit has no hidden checks, and says that there will be some."""
    shown = plain(REPORT, hidden_points=40)
    assert "Hidden:       40 more points when your course grades it" in shown


def test_an_instructor_sees_the_seed_and_which_checks_are_hidden():
    """The run can be repeated, and what learners do not see is marked."""
    shown = plain(replace(REPORT, seed=7, checks=(replace(FAILED, hidden=True),)), hidden_points=40)
    assert "Seed:         7 (--seed 7 draws the same hidden inputs)" in shown
    assert "A number below zero is doubled.  (hidden)" in shown
    assert "when your course grades it" not in shown


def test_the_likely_cause_is_told():
    """A match with a known mistake stands beside the score."""
    shown = plain(replace(REPORT, likely_cause=Cause("You return the absolute value.")))
    assert "Likely cause: You return the absolute value." in shown


def test_what_the_submission_printed_is_shown_marked_and_capped():
    """Printed lines stand behind a bar, so that they cannot pose as the grader's."""
    text = "Score: 100 of 100\n" + "x\n" * 50
    shown = plain(replace(REPORT, output=Output(text, True)))
    assert "What your file printed\n  | Score: 100 of 100\n  | x\n" in shown
    assert "(31 more lines; --json keeps them)" in shown
    assert "(more was printed than is kept)" in shown


EVIL = "\x1b[31m[bold]red[/]\x1b]0;title\x07\a\b\r\u202eevil\x9b2J\ud800 :smile:"


@pytest.mark.parametrize("terminal", [False, True])
def test_text_of_a_submission_controls_nothing(terminal):
    """No escape sequence, control character, direction mark, markup or emoji code is obeyed."""
    report = replace(
        REPORT,
        submission=SubmissionFile(EVIL, "0" * 64, 10),
        checks=(replace(FAILED, title=EVIL, message=EVIL, hint=EVIL),),
        likely_cause=Cause(EVIL),
        output=Output(EVIL, False),
    )
    shown = on_a_terminal(report, width=200) if terminal else plain(report)
    for colour in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"):
        shown = shown.replace(colour, "")
    assert "[bold]red[/]" in shown
    assert ":smile:" in shown
    assert not set(shown) & set("\x1b\a\b\r\u202e\x9b\ud800")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_failed_load_of_a_submission_controls_nothing(terminal):
    """The text of a load error is a learner's text too."""
    report = replace(REPORT, load_error=Failure("exception", EVIL, EVIL), checks=())
    shown = on_a_terminal(report, width=200) if terminal else plain(report)
    assert "[bold]red[/]" in shown
    assert not set(shown) & set("\a\b\r\u202e\x9b\ud800")
