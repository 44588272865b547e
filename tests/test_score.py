"""From recorded cases to checks, points and a verdict: pure functions, given literals."""

from __future__ import annotations

import pytest

from grader import score
from grader.report import Cases


def case(
    function="test_it",
    outcome="passed",
    *,
    parameter="",
    group="values",
    points=2,
    extra=False,
    hidden=False,
    message="the message",
    told="the kind of fault",
    first=None,
    failure=None,
    about="values",
    reason=None,
    **evidence,
):
    """The record of one case, as a run of the checks leaves it."""
    seen = {"cases": 1, "passed": int(outcome == "passed"), "wrong": 0, "unlike": 0, "drew": 0}
    record = {
        "facts": {
            "function": function,
            "title": f"What {function} promises.",
            "group": group,
            "points": points,
            "extra": extra,
            "hint": "the hint",
            "hidden": hidden,
        },
        "nodeid": f"problems/it/checks.py::{function}{parameter and f'[{parameter}]'}",
        "outcome": outcome,
        "reason": reason,
        "seconds": 0.25,
        "evidence": seen | evidence,
    }
    if outcome == "failed":
        record["result"] = {
            "message": message,
            "told": told,
            "first": first,
            "failure": failure,
            "about": about,
        }
    return record


# ---- checks


def test_a_passed_check_earns_its_points():
    """A check of one passed case has all its points and nothing to say."""
    [check] = score.checks([case()])

    assert (check.id, check.title) == ("test_it", "What test_it promises.")
    assert (check.outcome, check.earned, check.points) == ("passed", 2, 2)
    assert (check.message, check.hint, check.cases) == (None, None, Cases(1, 1))


def test_the_cases_of_a_check_are_one_check():
    """Parametrised cases count together, wherever they stand, and their times add up."""
    records = [
        case("test_a", parameter="float16", cases=3, passed=3),
        case("test_b"),
        case("test_a", parameter="float32", cases=4, passed=4),
    ]

    first, second = score.checks(records)

    assert (first.id, first.earned, first.seconds, first.cases) == ("test_a", 2, 0.5, Cases(7, 7))
    assert second.id == "test_b"


def test_one_failed_case_loses_the_whole_check():
    """A check is earned whole or not at all; its message says how many cases agree."""
    [check] = score.checks(
        [
            case(parameter="float16"),
            case(parameter="float32", outcome="failed", first="p = q"),
            case(parameter="float64", outcome="failed", message="another"),
        ]
    )

    assert (check.outcome, check.earned) == ("failed", 0)
    assert check.message == "1 of 3 pass; the first that does not is “float32”:\nthe message"
    assert check.cases == Cases(1, 3, "float32, p = q")
    assert check.hint == "the hint"


def test_where_every_case_fails_one_is_told_for_all():
    """If no case passes the message is the first one's."""
    records = [case(parameter=name, outcome="failed") for name in ("float16", "float32")]

    [check] = score.checks(records)

    assert check.message == "with “float16”, as with all 2 of them:\nthe message"


def test_a_public_check_and_a_hidden_one_of_one_name_are_two():
    """Checks are told apart by their file as well as by their name."""
    public, hidden = score.checks([case(), case(hidden=True, outcome="failed")])

    assert (public.hidden, public.outcome) == (False, "passed")
    assert (hidden.hidden, hidden.outcome) == (True, "failed")


def test_a_hidden_check_tells_the_kind_of_fault_alone():
    """Nothing of a hidden check's inputs, cases, time or hint is in the report."""
    records = [
        case(hidden=True, parameter="secret", outcome="failed", first="secret", message="secret"),
        case(hidden=True, parameter="other"),
    ]

    [check] = score.checks(records)

    assert (check.message, check.hint, check.cases) == ("the kind of fault", None, Cases(0, 2))


@pytest.mark.parametrize(
    ("group", "about", "told"),
    [
        ("contract", "form", True),
        ("contract", "values", False),
        ("device", "form", True),
        ("values", "form", False),
        ("values", "values", True),
        ("values", "side effect", False),
        ("side effects", "side effect", True),
        ("side effects", "values", False),
        ("draws", "side effect", True),
        ("law", "no answer", False),
    ],
)
def test_a_hint_is_told_where_it_fits(group, about, told):
    """A hint on types is for a wrong type, one on values for a wrong value, none for a crash."""
    (check,) = score.checks([case("test_it", "failed", group=group, about=about)])
    assert (check.hint is not None) == told


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (None, "failed"),
        ("too_large", "failed"),
        ("exception", "error"),
        ("import_error", "error"),
        ("exit", "error"),
        ("timeout", "error"),
        ("memory", "error"),
        ("crash", "error"),
        ("died", "error"),
        ("flood", "error"),
        ("malformed", "error"),
    ],
)
def test_an_answer_is_failed_and_none_is_an_error(failure, outcome):
    """A wrong answer is `failed`; a submission that raised, hung or died is an `error`."""
    [check] = score.checks([case(outcome="failed", failure=failure)])

    assert (check.outcome, check.earned) == (outcome, 0)


def test_a_check_that_could_not_be_tried_is_not_run():
    """A skipped case leaves the check `not_run`, with the reason and no points."""
    records = [case(parameter="a"), case(parameter="b", outcome="skipped", reason="no device")]

    [check] = score.checks(records)

    assert (check.outcome, check.message, check.earned, check.hint) == (
        "not_run",
        "no device",
        0,
        None,
    )


def test_a_failed_case_counts_before_a_skipped_one():
    """What failed is told even where another case could not be tried."""
    records = [case(parameter="a", outcome="skipped", reason="no"), case(outcome="failed")]

    [check] = score.checks(records)

    assert check.outcome == "failed"


def test_messages_are_cleaned():
    """No control character of a learner's text is in a report."""
    [check] = score.checks([case(outcome="failed", message="\x1b[31mred\x1b[0m\x00 \u202ewol")])

    assert check.message == "red wol"


# ---- verdicts


def verdict(*records, sampled=True, loaded=True):
    return score.verdict(sampled, score.checks(records), records, loaded)


RIGHT = case("test_right")
LAW_WRONG = case("test_law", "failed", group="law", cases=5, passed=4, wrong=1)
LAW_RAISED = case("test_law", "failed", group="law", cases=5, unlike=5)
LAW_RIGHT = case("test_law", group="law", cases=5, passed=5)
LAW_FORM = case("test_law", "failed", group="law", cases=5)
DRAWS_WRONG = case("test_draws", "failed", group="draws", cases=8, passed=4, wrong=4)
DRAWS_RIGHT = case("test_draws", group="draws", cases=8, passed=8)
CONTRACT_LOST = case("test_contract", "failed", group="contract", cases=1, wrong=1)


def seeded(wrong, of, drew=0):
    outcome = "failed" if wrong or drew else "passed"
    return case(
        "test_seeded",
        outcome,
        group="seeded",
        cases=of,
        passed=of - wrong - drew,
        wrong=wrong,
        drew=drew,
    )


def test_a_file_that_is_not_loaded_has_not_run():
    """Without a loaded submission there is no verdict on it."""
    assert verdict(case(outcome="skipped", reason="not loaded"), loaded=False) == "not_run"


@pytest.mark.parametrize("sampled", [True, False])
def test_full_marks_are_correct(sampled):
    """Where every scored check passed the submission is correct, extra credit or not."""
    lost = case("test_extra", "failed", group="law", extra=True, wrong=1)

    assert verdict(RIGHT, LAW_RIGHT, DRAWS_RIGHT, lost, sampled=sampled) == "correct"


@pytest.mark.parametrize(
    "records",
    [(LAW_WRONG,), (DRAWS_WRONG,), (seeded(1, 500),), (CONTRACT_LOST,)],
)
def test_a_problem_without_sampling_knows_no_bias(records):
    """Where nothing is drawn a lost check is incorrect, whatever its group is called."""
    assert verdict(RIGHT, *records, sampled=False) == "incorrect"


def test_a_check_that_did_not_run_is_not_correct():
    """A scored check that could not be tried leaves the submission incorrect."""
    assert verdict(RIGHT, case("test_b", "skipped", reason="no time")) == "incorrect"


def test_a_device_that_is_not_here_says_nothing_against_an_answer():
    """Device checks that cannot run earn nothing and leave the verdict to the others."""
    absent = case("test_device", "skipped", group="device", reason="no accelerator here")

    assert verdict(RIGHT, absent | {"no_device": True}) == "correct"


def test_a_device_check_that_was_not_tried_for_another_reason_counts():
    """A device check that found no time left is no excuse, or a file could make one."""
    late = case("test_device", "skipped", group="device", reason="used up its time")

    assert verdict(RIGHT, late | {"no_device": False}) == "incorrect"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([LAW_WRONG], "biased", id="law wrong"),
        pytest.param([LAW_WRONG, DRAWS_WRONG, seeded(300, 500)], "biased", id="everything wrong"),
        pytest.param([LAW_RAISED], "incorrect", id="raises where the law is asked"),
        pytest.param(
            [LAW_RAISED, DRAWS_WRONG, seeded(9, 500)], "incorrect", id="raises, draws wrong"
        ),
        pytest.param([LAW_FORM, DRAWS_RIGHT, seeded(0, 500)], "incorrect", id="wrong in form"),
        pytest.param(
            [case("test_law", "skipped", group="law", reason="no time"), DRAWS_WRONG],
            "incorrect",
            id="law not asked",
        ),
        pytest.param(
            [LAW_RIGHT, DRAWS_WRONG, seeded(60, 500)],
            "lossless_other_draws",
            id="other draws, 12 % of the seeded",
        ),
        pytest.param(
            [LAW_RIGHT, DRAWS_RIGHT, seeded(9, 500)], "biased", id="1.8 % of the seeded differ"
        ),
        pytest.param(
            [LAW_RIGHT, DRAWS_RIGHT, seeded(10, 500)],
            "lossless_other_draws",
            id="2 % of the seeded differ",
        ),
        pytest.param(
            [LAW_RIGHT, DRAWS_WRONG, seeded(0, 500)],
            "biased",
            id="stated draws, one decision off",
        ),
        pytest.param(
            [LAW_RIGHT, DRAWS_WRONG], "lossless_other_draws", id="no seeded check was recorded"
        ),
        pytest.param(
            [LAW_RIGHT, DRAWS_RIGHT, seeded(0, 500, drew=500)],
            "lossless_other_draws",
            id="right answers, other states",
        ),
        pytest.param(
            [LAW_RIGHT, DRAWS_RIGHT, seeded(0, 500), CONTRACT_LOST],
            "incorrect",
            id="a promise of another kind",
        ),
        pytest.param(
            [RIGHT, case("test_extra", "failed", group="law", extra=True, wrong=1), CONTRACT_LOST],
            "incorrect",
            id="extra credit is no evidence",
        ),
    ],
)
def test_the_verdict_on_a_sampled_problem(records, expected):
    """The law decides first, then how many seeded cases differ, then how the generator moved."""
    assert verdict(RIGHT, *records) == expected
