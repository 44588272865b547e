"""The statistical check of `step`: its bound, what it sees, and that it can fail."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from grader import kit, problem
from grader.submission import Submission
from grader.values import array, seeded
from grader.workers import launcher
from problems.step.cases import (
    ALPHA,
    CALLS,
    Step,
    bias,
    events,
    fixture,
    law,
    surprise,
    threshold,
)

ARRAYS, EVENTS = fixture()
LIMIT = threshold(len(EVENTS))


def binomial(times: int, count: int, p: float) -> float:
    """The probability of `count` successes in `times` tries."""
    ways = math.lgamma(times + 1) - math.lgamma(count + 1) - math.lgamma(times - count + 1)
    return math.exp(ways + count * math.log(p) + (times - count) * math.log1p(-p))


def failing(times: int, expected: float, true: float) -> float:
    """The probability that an event of probability `true` fails where `expected` is demanded."""
    return math.fsum(
        binomial(times, count, true)
        for count in range(times + 1)
        if surprise(times, count, expected) > LIMIT
    )


def sample(step: Step, times: int, seed: int) -> tuple[list[object], list[int]]:
    """Answers drawn from the exact law of `step`, as a submission's arrive."""
    answers = law(step)
    drawn = random.Random(seed).choices(list(answers), list(map(float, answers.values())), k=times)
    found = sorted(set(drawn))
    values = [(array(list(tokens), "int64"), n) for tokens, n in found]
    return list(values), [drawn.count(a) for a in found]


def the_fixture() -> Step:
    draft, target, tokens = (a.numbers().tolist() for a in ARRAYS)
    return Step(tuple(map(tuple, draft)), tuple(map(tuple, target)), tuple(tokens))


RIGHT = the_fixture()


def test_the_fixture_has_the_law_it_was_made_for():
    """Seven answers and two counts, with the probabilities that the rows were chosen to give."""
    assert [round(float(event.probability), 6) for event in EVENTS] == [
        *(0.1, 0.4),
        *(0.075, 0.05),
        *(0.0375, 0.1125, 0.225),
        *(0.5, 0.125),
    ]
    assert sum(event.probability for event in EVENTS[:7]) == 1


def test_the_threshold_shares_one_billionth_among_nine_events():
    """An event fails beyond ln(2 * 9 / 1e-9) nats."""
    assert len(EVENTS) == 9
    assert pytest.approx(23.61, abs=0.005) == LIMIT


@pytest.mark.parametrize(("times", "risk"), [(1000, 5.82e-11), (5000, 5.67e-11)])
def test_a_right_submission_fails_less_than_once_in_a_billion_runs(times, risk):
    """The exact probability of a false failure, summed over the events, is below the promise."""
    total = sum(failing(times, float(e.probability), float(e.probability)) for e in EVENTS)
    assert total == pytest.approx(risk, rel=0.02)
    assert total < ALPHA


def test_chernoff_holds_at_every_probability_of_a_small_sample():
    """P(N KL >= x) <= 2 exp(-x), counted exactly for 30 calls."""
    for p in (0.01, 0.1, 0.3, 0.5, 0.9):
        for x in (1.0, 3.0, 10.0):
            tail = sum(binomial(30, k, p) for k in range(31) if surprise(30, k, p) >= x)
            assert tail <= 2 * math.exp(-x)


def test_what_cannot_happen_is_infinitely_surprising():
    """Probability 0 that came once, and probability 1 that did not come once."""
    assert surprise(1000, 1, 0.0) == math.inf
    assert surprise(1000, 999, 1.0) == math.inf
    assert surprise(1000, 0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("times", "shift", "power"),
    [(1000, 0.144, 0.99), (1000, 0.109, 0.5), (5000, 0.065, 0.99), (5000, 0.049, 0.5)],
)
def test_the_check_sees_a_biased_accept_probability(times, shift, power):
    """An accept probability off by `shift` from one half fails with about the stated power."""
    assert failing(times, 0.5, 0.5 + shift) == pytest.approx(power, abs=0.04)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("times", [CALLS, 5000])
def test_samples_of_the_right_law_pass(seed, times):
    """Answers drawn from the exact law are never called biased."""
    assert bias(EVENTS, *sample(RIGHT, times, seed)) is None


@pytest.mark.parametrize("seed", range(5))
def test_a_first_ratio_of_seven_tenths_fails_at_the_default_number_of_calls(seed):
    """The negative control: the first token is kept with .7 instead of .5, all else is right."""
    wrong = Step(RIGHT.draft, ((0.16, 0.14, 0.3, 0.4), *RIGHT.target[1:]), RIGHT.tokens)
    assert float(wrong.accept_prob(0)) == pytest.approx(0.7)
    found = bias(EVENTS, *sample(wrong, CALLS, seed))
    assert found is not None
    assert found.wrong
    assert "came in" in found.message


def test_an_answer_of_probability_zero_fails_at_once():
    """One forbidden answer in a thousand is enough."""
    values, counts = sample(RIGHT, CALLS - 1, 0)
    found = bias(EVENTS, [*values, (array([1], "int64"), 0)], [*counts, 1])
    assert found is not None
    assert found.wrong
    assert "1 of 1000 calls returned ([1], 0)" in found.message


def test_a_wrong_type_is_no_bias():
    """Lists with the right law fail, but not as evidence of a wrong law."""
    values, counts = sample(RIGHT, CALLS, 1)
    found = bias(EVENTS, [list(value) for value in values], counts)  # type: ignore[call-overload]
    assert found is not None
    assert not found.wrong
    assert "expected a tuple, got list" in found.message


def test_a_wrong_law_is_found_behind_a_wrong_type():
    """Lists with a wrong law are biased all the same."""
    found = bias(EVENTS, [[array([2], "int64"), 0]], [CALLS])
    assert found is not None
    assert found.wrong


def test_an_answer_that_is_none_is_no_bias():
    """`return None` fails without a word about the law."""
    found = bias(EVENTS, [None], [CALLS])
    assert found is not None
    assert not found.wrong


def test_numbers_of_kept_tokens_are_events_of_their_own():
    """A number of kept tokens with one answer only is not counted twice."""
    step = Step(((1.0, 0.0),), ((0.5, 0.5), (0.25, 0.75)), (0,))
    assert [event.name for event in events(law(step))] == [
        "the answer (tensor([1]), 0)",
        "the answer (tensor([0, 0]), 1)",
        "the answer (tensor([0, 1]), 1)",
    ]


# Real files, at the number of calls that a course runs before it trusts the kit ---------------

MANY = 5000
SOLUTIONS = Path(__file__).resolve().parent.parent / "solutions" / "step"
STREAM = sorted((SOLUTIONS / "stream").glob("*.py"))
WRONG = sorted((SOLUTIONS / "wrong").glob("*.py"))

# What no sample of the fixture can show: faults of form and of side effects, faults of inputs that
# the fixture does not hold, biases far below one in a hundred, and a function that raises before
# it has answered often enough. Other checks find them.
BEYOND_STATISTICS = {
    "clamp_forgotten",
    *("bonus_drawn_anyway", "coin_bfloat16", "coin_float16", "coin_rounded_to_half"),
    *("count_is_bool", "count_is_float", "count_is_numpy", "count_is_tensor"),
    *("crash_on_empty_draft", "epsilon_residual_tiny", "flat_view", "float32_inside"),
    *("likely_tokens_kept", "unlikely_tokens_rejected"),
    *("hidden_global_draw", "less_or_equal", "mutates_draft", "mutates_ids", "mutates_target"),
    *("needs_a_generator", "numpy_roundtrip", "ratio_epsilon", "ratio_rounded"),
    *("reseeds_global", "residual_threshold", "reuses_buffer", "squeezed_vocabulary"),
    *("returns_always_equal", "returns_empty_tuple", "returns_list", "returns_namedtuple"),
    *("returns_none", "tokens_2d", "tokens_column", "tokens_float", "tokens_follow_ids"),
    *("tokens_int32", "tokens_list", "tokens_numpy", "tokens_squeezed"),
    *("bonus_in_float16", "cached_by_address", "cached_by_state", "coin_20_bits"),
    *("coin_below_by_epsilon", "coin_in_row_dtype", "eight_positions"),
    *("global_draw_if_unsettled", "half_extra_coin", "half_global_generator"),
    *("half_without_draws", "less_or_equal_float32", "less_or_equal_later", "lru_cache_ids"),
    *("lru_cache_rows", "lru_cache_whole", "min_p", "mutates_half", "mutates_large"),
    *("mutates_strided", "mutates_without_draft", "none_copies_default", "none_extra_draw"),
    *("none_fails_without_draft", "none_restores_state", "rare_tokens_kept"),
    *("rare_tokens_rejected", "ratio_epsilon_tiny", "ratio_floor_tiny", "ratio_in_float32"),
    *("reuses_buffer_half", "reuses_buffer_large", "reuses_buffer_narrow_ids", "ring_buffer"),
    *("tokens_through_half", "tokens_through_id_dtype", "tokens_through_row_dtype", "top_k_256"),
    *("coarse_ratio_for_large_seeds", "gather_of_narrow_ids", "ids_as_index", "log_of_zero"),
    *("log_ratio_or_equal", "none_makes_its_own"),
}


@pytest.fixture(name="verdict", scope="module")
def _verdict():
    """Judges a file by MANY calls, one generator streaming through them."""
    step = problem.load(kit.find(), "step")
    workers = launcher("auto")

    def verdict(path):
        submission = Submission(
            workers, path.read_bytes(), [step.entry], step.parameters, step.limits
        )
        try:
            tally = submission.repeat(MANY, *ARRAYS, seeded(11))
        finally:
            submission.close()
        return bias(EVENTS, tally.values, tally.counts)

    yield verdict
    workers.close()


@pytest.mark.parametrize("path", STREAM, ids=lambda path: path.stem)
def test_other_draws_of_the_right_law_are_not_called_biased(verdict, path):
    """A lossless submission passes, whatever random numbers it uses."""
    assert verdict(path) is None


@pytest.mark.parametrize(
    "path", [p for p in WRONG if p.stem not in BEYOND_STATISTICS], ids=lambda path: path.stem
)
def test_a_wrong_law_is_called_biased(verdict, path):
    """Negative controls: a check that cannot fail is no evidence."""
    found = verdict(path)
    assert found is not None
    assert found.wrong


def test_what_statistics_cannot_see_is_named_by_files_that_exist():
    """The list of exceptions holds no file that is gone."""
    assert BEYOND_STATISTICS <= {path.stem for path in WRONG}
