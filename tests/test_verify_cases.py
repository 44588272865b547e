"""The questions of `verify` are legal and their answers right, by ways the oracle does not use."""

import random
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.values import EPS, array
from problems.verify import cases

DTYPES = sorted(EPS)

FIXED = {
    "ordinary": cases.ordinary,
    "equal_rows": cases.equal_rows,
    "rounded_away": cases.rounded_away,
    "slight_shifts": cases.slight_shifts,
    "tiny_residuals": cases.tiny_residuals,
    "rare_tokens": cases.rare_tokens,
    "subnormal_residuals": cases.subnormal_residuals,
    "subnormal_tokens": cases.subnormal_tokens,
    "disjoint_supports": cases.disjoint_supports,
    "zeros_in_draft": cases.zeros_in_draft,
    "every_token": cases.every_token,
    "one_token": cases.one_token,
    "uniform": lambda dtype: [cases.uniform_draft(dtype), cases.uniform_target(dtype)],
}
FRESH = {
    "grid": lambda rng, dtype: cases.grid_questions(rng, dtype, 8),
    "softmax": lambda rng, dtype: cases.softmax_questions(rng, dtype, [2, 9, 100, 500]),
    "near_equal": lambda rng, dtype: cases.near_equal_questions(rng, dtype, [2, 9, 100]),
    "sparse": lambda rng, dtype: cases.sparse_questions(rng, dtype, [2, 3, 30]),
    "tiny": lambda rng, dtype: cases.tiny_residual_questions(rng, dtype, 6),
    "rare": lambda rng, dtype: cases.rare_token_questions(rng, dtype, 6),
    "subnormal": lambda rng, dtype: cases.subnormal_residual_questions(rng, dtype, 6),
    "different": lambda rng, dtype: cases.different_rows(rng, dtype, [2, 2, 300]),
    "equal": lambda rng, dtype: [cases.equal_softmax(rng, dtype, 9)],
    "middle": lambda rng, dtype: cases.apart_in_the_middle(rng, dtype),
}
EVERYTHING = [
    pytest.param(make(dtype), id=f"{family}-{dtype}")
    for dtype in DTYPES
    for family, make in FIXED.items()
] + [
    pytest.param(make(random.Random(family), dtype), id=f"{family}-{dtype}")
    for dtype in DTYPES
    for family, make in FRESH.items()
]

weights = st.lists(st.integers(0, 2**20), min_size=1, max_size=12).filter(any)


def by_integers(question):
    """The answer from whole numbers over a common denominator, rounded once by the division."""
    pairs = [x.as_integer_ratio() for a in (question.draft, question.target) for x in floats(a)]
    common = max(bottom for _, bottom in pairs)
    whole = [top * (common // bottom) for top, bottom in pairs]
    size = len(whole) // 2
    q, p = whole[:size], whole[size:]
    left = [max(0, b - a) for a, b in zip(q, p, strict=True)]
    total = sum(left)
    residual = [x / total if total else 0.0 for x in left]
    return min(p[question.token], q[question.token]) / q[question.token], residual


def floats(a):
    return a.numbers().tolist()


# Questions are legal


@pytest.mark.parametrize("questions", EVERYTHING)
def test_rows_are_distributions_to_within_rounding(questions):
    """Both rows are finite, non-negative and sum to one within a few roundings an entry."""
    for question in questions:
        for row in (question.draft, question.target):
            values = row.fractions()
            assert min(values) >= 0
            # A softmax also rounds its exponentials, their sum and the quotient.
            assert abs(sum(values) - 1) <= 3 * row.eps


@pytest.mark.parametrize("questions", EVERYTHING)
def test_the_draft_can_propose_the_drafted_token(questions):
    """The token is a Python int inside the vocabulary, and q[t] is above 0."""
    for question in questions:
        assert type(question.token) is int
        assert 0 <= question.token < question.draft.shape[0]
        assert question.draft.numbers()[question.token] > 0


@pytest.mark.parametrize("questions", EVERYTHING)
def test_rows_have_one_shape_and_dtype(questions):
    """Draft and target are 1-D, equally long, and of the same dtype and library."""
    for question in questions:
        q, p = question.draft, question.target
        assert len(q.shape) == 1
        assert (q.shape, q.dtype, q.library) == (p.shape, p.dtype, p.library)


# Answers are right


@pytest.mark.parametrize("questions", EVERYTHING)
def test_answers_agree_with_whole_number_arithmetic(questions):
    """An oracle on integers gives the same answer to within the roundings of the fsum one."""
    for question in questions:
        accept_prob, residual = by_integers(question)
        assert question.accept_prob == pytest.approx(accept_prob, rel=2**-52, abs=0)
        assert question.residual.tolist() == pytest.approx(residual, rel=2**-51, abs=0)


@pytest.mark.parametrize("questions", EVERYTHING)
def test_residuals_are_distributions_or_zero(questions):
    """A residual sums to one, unless the target exceeds the draft nowhere: then it is all zeros."""
    for question in questions:
        above = question.target.numbers() > question.draft.numbers()
        assert np.array_equal(question.residual > 0, above)
        assert question.residual.sum() == pytest.approx(float(above.any()), rel=1e-12, abs=0)


@pytest.mark.parametrize("questions", EVERYTHING)
def test_kept_and_replaced_mass_add_up_to_the_target(questions):
    """min(p, q) plus the leftover mass times the residual is p again: the scheme is lossless."""
    for question in questions:
        q, p = question.draft.fractions(), question.target.fractions()
        left = sum(max(b - a, Fraction(0)) for a, b in zip(q, p, strict=True))
        for a, b, r in zip(q, p, question.residual.tolist(), strict=True):
            assert abs(min(a, b) + left * Fraction(r) - b) <= left * 2**-51


@given(weights, weights, st.sampled_from(DTYPES), st.data())
@settings(max_examples=100, deadline=None)
def test_fsum_and_fractions_agree(left, right, dtype, data):
    """The two oracles agree to within a few roundings on any rows."""
    size = min(len(left), len(right))
    q = array([(x + 1) / (sum(left[:size]) + size) for x in left[:size]], dtype)
    p = array([(x + 1) / (sum(right[:size]) + size) for x in right[:size]], dtype)
    token = data.draw(st.sampled_from(np.flatnonzero(q.numbers()).tolist()))
    (a, r), (b, s) = cases.by_fractions(q, p, token), cases.by_fsum(q, p, token)
    assert a == pytest.approx(b, rel=2**-52, abs=0)
    assert r.tolist() == pytest.approx(s.tolist(), rel=2**-51, abs=0)


def test_a_large_row_is_exact():
    """At a vocabulary of 20,000 the correctly rounded sums match the rational ones."""
    question, _ = cases.softmax_questions(random.Random(0), "float64", [20_000])
    accept_prob, residual = cases.by_fractions(question.draft, question.target, question.token)
    assert question.accept_prob == pytest.approx(accept_prob, rel=2**-52, abs=0)
    assert np.max(np.abs(question.residual - residual)) < 1e-17


@pytest.mark.parametrize(
    ("draft", "target", "token", "accept_prob", "residual"),
    [
        ([0.75, 0.25], [0.25, 0.75], 0, 1 / 3, [0, 1]),
        ([0.5, 0.25, 0.25], [0.25, 0.5, 0.25], 1, 1.0, [0, 1, 0]),
        ([0.5, 0.25, 0.25], [0.25, 0.375, 0.375], 0, 0.5, [0, 0.5, 0.5]),
        ([0.5, 0.5], [0.5, 0.5], 0, 1.0, [0, 0]),
        ([0.5, 0.5, 0, 0], [0, 0, 0.25, 0.75], 0, 0.0, [0, 0, 0.25, 0.75]),
    ],
)
def test_answers_worked_by_hand(draft, target, token, accept_prob, residual):
    """Small rows whose answers can be read off."""
    question = cases.ask(draft, target, token)
    assert question.accept_prob == accept_prob
    assert question.residual.tolist() == residual


# Families are what they say


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_and_rounded_away_rows_leave_nothing(dtype):
    """The residual is all zeros, where the rows are equal and where they only sum alike."""
    for question in cases.equal_rows(dtype):
        assert question.draft.data == question.target.data
        assert not question.residual.any()
    for question in cases.rounded_away(dtype):
        assert question.draft.data != question.target.data
        assert not question.residual.any()
        assert question.accept_prob == 0.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_slight_shifts_survive_rounding(dtype):
    """The shifted mass is split evenly, and a step to the next number is seen."""
    shift, step = cases.slight_shifts(dtype)
    assert shift.residual.tolist() == [0, 0.5, 0.5]
    assert step.residual.tolist() == [1, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_tiny_residuals_survive_rounding(dtype):
    """The shares of a tiny leftover are even, or one to three within the dtype's rounding."""
    even, uneven = cases.tiny_residuals(dtype)
    assert even.residual.tolist() == [0, 0.5, 0.5]
    assert uneven.residual.tolist() == pytest.approx([0, 0.25, 0.75], abs=EPS[dtype])


def test_the_reciprocal_of_a_tiny_half_precision_sum_overflows():
    """float16 has no number for one over the leftover mass, so only a division comes out right."""
    even, _ = cases.tiny_residuals("float16")
    total = np.float16(sum(floats(even.target)[1:]))
    with np.errstate(over="ignore"):
        assert np.float16(1) / total == np.inf


@pytest.mark.parametrize("dtype", DTYPES)
def test_rare_tokens_survive_rounding(dtype):
    """p[t] is half of a tiny q[t], then nothing, then far more."""
    half, never, always = cases.rare_tokens(dtype)
    assert (half.accept_prob, never.accept_prob, always.accept_prob) == (0.5, 0.0, 1.0)
    assert half.residual.tolist() == never.residual.tolist() == [0, 0, 1]
    assert always.residual.tolist() == [1, 0, 0]


@pytest.mark.parametrize("dtype", sorted(cases.SUBNORMAL))
def test_subnormal_sums_and_tokens_have_a_finite_reciprocal(dtype):
    """They are below the smallest normal number, above zero, and one over them can be written."""
    smallest, largest = {
        "bfloat16": (2.0**-126, 2.0**128 * (1 - 2.0**-8)),
        "float32": (2.0**-126, 2.0**128 * (1 - 2.0**-24)),
        "float64": (2.0**-1022, sys.float_info.max),
    }[dtype]
    fresh = cases.subnormal_residual_questions(random.Random(8), dtype, 20)
    for question in cases.subnormal_residuals(dtype) + fresh:
        q, p = floats(question.draft), floats(question.target)
        total = sum(b - a for a, b in zip(q, p, strict=True))
        assert 0 < total < smallest
        assert 1 / total <= largest
    for question in cases.subnormal_tokens(dtype):
        q_t = floats(question.draft)[question.token]
        assert 0 < q_t < smallest
        assert 1 / q_t <= largest


@pytest.mark.parametrize("dtype", sorted(cases.SUBNORMAL))
def test_subnormal_tokens_keep_their_ratios(dtype):
    """p[t] is half of a subnormal q[t], equal to it, and far above it."""
    assert [q.accept_prob for q in cases.subnormal_tokens(dtype)] == [0.5, 1.0, 1.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_subnormal_shares_are_even(dtype):
    """One token has all of a subnormal leftover, or two have half of it each."""
    one, two = cases.subnormal_residuals(dtype)
    assert one.residual.tolist() == [0, 1, 0]
    assert two.residual.tolist() == [0, 0.5, 0.5]


def test_rows_apart_in_the_middle_agree_elsewhere():
    """Draft, token and both ends of the target are the same; the residuals are not."""
    first, second = cases.apart_in_the_middle(random.Random(9), "float32", 300)
    assert (first.draft.data, first.token) == (second.draft.data, second.token)
    assert floats(first.target)[:100] == floats(second.target)[:100]
    assert floats(first.target)[200:] == floats(second.target)[200:]
    assert np.max(np.abs(first.residual - second.residual)) > 2**-9


def test_different_rows_come_once():
    """Rows of one size are other ones for every question."""
    first, second = cases.different_rows(random.Random(10), "float32", [9, 9])
    assert first.draft.data != second.draft.data
    assert first.target.data != second.target.data


@pytest.mark.parametrize("dtype", DTYPES)
def test_disjoint_supports_give_the_target_row(dtype):
    """The residual is the target row, exactly."""
    for question in cases.disjoint_supports(dtype):
        assert question.residual.tolist() == floats(question.target)


@pytest.mark.parametrize("dtype", DTYPES)
def test_near_equal_rows_differ_and_nearly_agree(dtype):
    """The leftover mass is above zero and no more than the noise can make it."""
    for question in cases.near_equal_questions(random.Random(3), dtype, [4, 40], apart=8.0):
        apart = question.target.numbers() - question.draft.numbers()
        assert 0 < np.maximum(apart, 0).sum() < 40 * EPS[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
def test_grid_rows_are_exact_in_their_dtype(dtype):
    """Rounding to the dtype changes no entry: the rows sum to exactly one."""
    for question in cases.grid_questions(random.Random(4), dtype, 16):
        assert sum(question.draft.fractions()) == sum(question.target.fractions()) == 1


def test_uniform_rows_can_be_expanded():
    """All entries of the rows that are passed with stride 0 are equal."""
    assert len(set(floats(cases.uniform_draft("float32").draft))) == 1
    assert len(set(floats(cases.uniform_target("float32").target))) == 1


def test_shuffling_moves_the_answer_along():
    """A permuted vocabulary permutes the residual and keeps the accept probability."""
    question = cases.ask([0.5, 0.3, 0.2, 0.0], [0.1, 0.2, 0.3, 0.4], 1, "float64")
    moved = cases.shuffled(random.Random(5), question)
    assert moved.accept_prob == question.accept_prob
    assert sorted(moved.residual) == sorted(question.residual)
    assert floats(moved.draft)[moved.token] == floats(question.draft)[question.token]


def test_rows_are_asked_about_a_rejected_and_a_kept_token():
    """Softmax rows come with a token below its draft probability, and one at or above it."""
    rejected, kept = cases.softmax_questions(random.Random(6), "float64", [50])
    assert rejected.draft.data == kept.draft.data
    assert 0 < rejected.accept_prob < 1 == kept.accept_prob


def test_rows_without_such_tokens_are_asked_about_any_other():
    """Disjoint rows have neither a token that may be kept nor one that must be."""
    (question,) = cases.asked_twice(random.Random(7), [0.5, 0.5, 0.0], [0.0, 0.0, 1.0], "float32")
    assert question.accept_prob == 0


def test_fresh_questions_follow_their_source():
    """One seed gives one set of rows, another seed another."""
    first, again, other = (
        cases.sparse_questions(random.Random(seed), "float32", [20])[0] for seed in (1, 1, 2)
    )
    assert first.draft.data == again.draft.data != other.draft.data


# What the comparison accepts


def test_rough_questions_take_any_distribution_and_no_nan():
    """Asked roughly, a row of the right form is enough; another form or nan is not."""
    (question,) = cases.roughly(cases.ordinary("float64")[:1])
    expects = question.case().expects
    assert expects == {"accept_prob": 1.0, "residual": array([0.5, 0.5], "float64")}
    assert expects != {"accept_prob": 1.0, "residual": array([0.5, np.nan], "float64")}
    assert expects != {"accept_prob": 1.0, "residual": array([0.5, 0.5], "float32")}
    assert expects != {"accept_prob": 1.0, "residual": array([1.0], "float64")}


def test_zeros_of_equal_rows_may_have_another_dtype():
    """Where only their memory is asked about, zeros in float32 will do; nan will not."""
    expects = cases.zeros_of_any_dtype(cases.equal_rows("float64")[1]).expects
    assert expects == {"accept_prob": 1.0, "residual": array([0, 0], "float64")}
    assert expects == {"accept_prob": 1.0, "residual": array([0, 0], "float32")}
    assert expects != {"accept_prob": 1.0, "residual": array([np.nan, np.nan], "float64")}


def test_the_expectation_takes_right_answers_only():
    """Within 16 eps and with exact zeros an answer is right; outside, or negative, it is not."""
    q, p = array([0.5, 0.25, 0.25], "float64"), array([0.25, 0.375, 0.375], "float64")
    eps = EPS["float64"]
    right = cases.answer(q, p, 0)
    assert right == {"accept_prob": 0.5, "residual": array([0, 0.5, 0.5], "float64")}
    assert right == {"accept_prob": 0.5 + 8 * eps, "residual": array([0, 0.5, 0.5], "float64")}
    assert right != {"accept_prob": 0.5 + 17 * eps, "residual": array([0, 0.5, 0.5], "float64")}
    assert right != {"accept_prob": 0.5, "residual": array([1e-18, 0.5, 0.5], "float64")}
    assert right != {"accept_prob": 0.5, "residual": array([-1e-18, 0.5, 0.5], "float64")}
    assert right != {"accept_prob": 0.5, "residual": array([0, 0.5, 0.5], "float32")}
    assert right != {"accept_prob": 0.5, "residual": array([0, 0.5, np.nan], "float64")}
    assert right != {"accept_prob": 1, "residual": array([0, 0.5, 0.5], "float64")}


def test_a_case_asks_in_the_library_and_layout_wanted():
    """The same question as NumPy arrays expects a NumPy array, in any layout."""
    question = cases.ordinary("float64")[0]
    case = question.case("numpy", layouts=("column", "read_only"))
    q, p, token = case.args
    assert (q.library, q.layout, p.library, p.layout) == ("numpy", "column", "numpy", "read_only")
    assert token == question.token
    assert case.expects == {"accept_prob": 0.5, "residual": array([0, 1], "float64", "numpy")}
    assert case.expects != {"accept_prob": 0.5, "residual": array([0, 1], "float64", "torch")}
