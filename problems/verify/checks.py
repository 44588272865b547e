"""What `verify` asks for: one check per promise of the problem statement.

Every check compares whole answers with exact ones, worked out in `cases.py` when this file is
loaded and not once per submission. The random rows come from a fixed seed, so a run repeats. A
check whose own questions all have one answer asks ordinary ones too: a constant earns nothing.
"""

import random

import pytest

from grader.expect import Mismatch, exactly, nearly
from grader.values import EPS, FLOATING
from problems.verify.cases import (
    TOLERANCE_IN_EPS,
    apart_in_the_middle,
    ask,
    cases,
    different_rows,
    disjoint_supports,
    equal_rows,
    equal_softmax,
    every_token,
    grid_questions,
    near_equal_questions,
    one_token,
    ordinary,
    rare_tokens,
    roughly,
    rounded_away,
    slight_shifts,
    softmax_questions,
    subnormal_residuals,
    subnormal_tokens,
    tiny_residuals,
    uniform_draft,
    uniform_target,
    zeros_in_draft,
    zeros_of_any_dtype,
)

SALT = random.Random("verify")

ORDINARY = {dtype: ordinary(dtype) for dtype in EPS}
GRID = {dtype: grid_questions(SALT, dtype, 16) for dtype in EPS}
SOFTMAX = {dtype: softmax_questions(SALT, dtype, [8, 32, 128, 1000]) for dtype in EPS}
NEAR_EQUAL = {
    dtype: near_equal_questions(SALT, dtype, [8] * 4 + [32] * 3 + [128] * 3)
    for dtype in ("float32", "float64")
}
EQUAL = {dtype: equal_rows(dtype) for dtype in EPS}
ROUNDED_AWAY = {dtype: rounded_away(dtype) for dtype in EPS}
SLIGHT = {dtype: slight_shifts(dtype) for dtype in EPS}
TINY = {dtype: tiny_residuals(dtype) + subnormal_residuals(dtype) for dtype in EPS}
RARE = {dtype: rare_tokens(dtype) + subnormal_tokens(dtype) for dtype in EPS}
ZEROS = {dtype: disjoint_supports(dtype) + zeros_in_draft(dtype) for dtype in EPS}
TOKENS = every_token("float32") + every_token("float64")
ONE_TOKEN = {dtype: one_token(dtype) for dtype in EPS}
LARGE = softmax_questions(SALT, "float64", [128_000])[:1]
LARGE += softmax_questions(SALT, "float32", [20_000])[:1]
LONGER = softmax_questions(SALT, "float32", [1200])[:1]
DIFFERENT = {dtype: different_rows(SALT, dtype, [9, 9, 300, 300]) for dtype in EPS}
EQUAL_AGAIN = [equal_softmax(SALT, "float64", 9), *ONE_TOKEN["float64"]] * 2
MIDDLE = apart_in_the_middle(SALT, "float32")

# From nine tokens on, the rows of another call make a larger difference than this somewhere.
NOTICEABLE = 2.0**-9
UNIFORM_DRAFT, UNIFORM_TARGET = uniform_draft("float32"), uniform_target("float32")
ONE_HOT = ask([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], 0, note="all of the mass moves to one token")


# Rows that a mistake beside the answer may wait for: long, half, nearly equal, a tiny leftover.
BESIDE = {
    library: roughly(
        [
            *LONGER,
            *NEAR_EQUAL["float32"][:1],
            *NEAR_EQUAL["float64"][:1],
            *TINY["float32"][:1],
            *TINY["float64"][:1],
            *(DIFFERENT[dtype][i] for dtype in FLOATING[library] for i in (0, 2)),
        ]
    )
    for library in FLOATING
}


def every_dtype(family, library, **options):
    """A family's questions in all of its dtypes that the library has, in one message."""
    return [
        case
        for dtype in FLOATING[library]
        for case in cases(family.get(dtype, []), library, **options)
    ]


# Contract


@pytest.mark.points(3, group="contract")
@pytest.mark.hint('Build the answer as {"accept_prob": …, "residual": …}, with nothing else in it.')
def test_returns_a_dict_of_two_entries(submission, library):
    """The answer is a dict with exactly the entries "accept_prob" and "residual"."""
    submission.check(lambda: cases(ORDINARY["float32"], library))


@pytest.mark.points(3, group="contract")
@pytest.mark.hint("Take Python numbers out of the arrays with .item(), and cap with 1.0, not 1.")
def test_accept_prob_is_a_python_float(submission, library):
    """The accept probability is exactly a Python float, also where it is 0 or 1."""

    def calls():
        questions = [
            ask([0.5, 0.5], [0.25, 0.75], 1, note="a token that is always kept"),
            ask([0.5, 0.5, 0.0], [0.5, 0.0, 0.5], 0, note="p[t] equals q[t]"),
            ask([0.5, 0.5], [0.0, 1.0], 0, note="a token that is never kept"),
            ask([0.75, 0.25], [0.25, 0.75], 0, "float64", "a token kept one time in three"),
        ]
        return cases(questions, library)

    submission.check(calls)


@pytest.mark.points(3, group="contract")
@pytest.mark.hint("Compute the residual from the input arrays themselves: it keeps their dtype.")
def test_residual_is_an_array_like_the_inputs(submission, library):
    """The residual is an array of the inputs' library, with their dtype and shape."""
    submission.check(lambda: every_dtype(ORDINARY, library))


# Values


@pytest.mark.points(4, group="values")
@pytest.mark.hint("Work the example through on paper first: a ratio, a difference, a division.")
def test_worked_examples(submission, example, library):
    """The worked examples of the statement come out right."""
    draft, target, token = example.args
    atol = TOLERANCE_IN_EPS * draft.eps
    expected = nearly(example.returns, atol=atol, zeros="exact")
    assert submission(draft, target, token) == expected


@pytest.mark.points(4, group="values")
@pytest.mark.hint("accept_prob = min(1, p[t] / q[t]); residual = max(p - q, 0) over its own sum.")
def test_rows_of_simple_fractions(submission, library):
    """Both formulas hold on rows of simple fractions, whatever the dtype."""
    submission.check(lambda: every_dtype(GRID, library))


@pytest.mark.points(4, group="values")
@pytest.mark.hint("The rows are probabilities already. Round nothing, and stay in their dtype.")
def test_softmax_rows(submission, library):
    """Both formulas hold on rows as language models make them, whatever the dtype."""
    submission.check(lambda: every_dtype(SOFTMAX, library) + cases(LONGER, library))


@pytest.mark.points(2, group="values")
@pytest.mark.hint("Neither t nor accept_prob belongs in the computation of the residual.")
def test_residual_ignores_the_drafted_token(submission, library):
    """The residual is the same whichever token was drafted, kept or not."""
    submission.check(lambda: cases(TOKENS, library))


# Edges


@pytest.mark.points(3, group="edges")
@pytest.mark.hint("With no leftover mass there is nothing to divide by: the residual is all zeros.")
def test_equal_rows_leave_nothing(submission, library):
    """Where p equals q the token is always kept and the residual is all zeros."""

    def calls():
        asked = every_dtype(EQUAL, library) + cases(ORDINARY["float32"], library)
        if library == "torch":
            asked += cases(EQUAL["float32"], library, default_dtype="float64")
            asked += cases(EQUAL["float64"], library, default_dtype="float32")
        return asked

    submission.check(calls, unchanged=True, globals_untouched=True)


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("Ask whether the sum of max(p - q, 0) is above 0, not whether p equals q.")
def test_different_rows_may_leave_nothing(submission, library):
    """Where p exceeds q nowhere the residual is all zeros, even if the rows differ."""

    def calls():
        return every_dtype(ROUNDED_AWAY, library) + cases(ORDINARY["float32"], library)

    submission.check(calls, unchanged=True)


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("Any sum above 0 is a leftover, however small: no closeness test, no threshold.")
def test_slight_differences_count(submission, library):
    """Rows that differ in the last digits only still have a residual that sums to one."""
    submission.check(lambda: every_dtype(SLIGHT, library))


@pytest.mark.points(3, group="edges")
@pytest.mark.hint("Divide by the sum itself: add nothing to it and put no floor under it.")
def test_tiny_leftovers_are_normalised(submission, library):
    """A leftover mass next to zero is divided by its own sum, like any other."""
    submission.check(lambda: every_dtype(TINY, library))


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("q[t] is never 0, so the ratio needs no epsilon.")
def test_rare_tokens_are_judged_by_their_ratio(submission, library):
    """A drafted token with next to no probability is still kept with p[t] / q[t]."""
    submission.check(lambda: every_dtype(RARE, library))


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("Divide by the sum of max(p - q, 0) itself; other ways to that sum cancel.")
def test_nearly_equal_rows(submission, library):
    """Rows that nearly agree, all over the vocabulary, lose no accuracy."""
    submission.check(lambda: every_dtype(NEAR_EQUAL, library))


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("Entries where q is 0 belong to the residual as well: there it is all of p.")
def test_tokens_the_draft_never_proposes(submission, library):
    """Tokens that have no probability in the draft get their share of the residual."""
    submission.check(lambda: every_dtype(ZEROS, library))


@pytest.mark.points(1, group="edges")
@pytest.mark.hint("Do not squeeze: a vocabulary of one token still has an axis.")
def test_vocabulary_of_one_token(submission, library):
    """A vocabulary of one token works, and the residual keeps its shape (1,)."""

    def calls():
        return every_dtype(ONE_TOKEN, library) + cases(ORDINARY["float32"], library)

    submission.check(calls, unchanged=True)


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("Use whole-array operations; they are quick and lose no digits at any size.")
def test_large_vocabulary(submission, library):
    """A vocabulary of 20,000 or 128,000 tokens comes out exact and in time."""
    submission.check(lambda: cases(LARGE, library))


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("Index and subtract; leave strides and the layout in memory to the library.")
def test_rows_that_are_views(submission, library):
    """Rows that are columns, every second entry or expanded views of other arrays work."""
    first, second = ORDINARY["float32"][:2]
    submission.check(
        lambda: [
            first.case(library, layouts=("column", "column")),
            second.case(library, layouts=("every_second", "column")),
            second.case(library, layouts=("contiguous", "every_second")),
            UNIFORM_DRAFT.case(library, layouts=("expanded", "contiguous")),
            UNIFORM_TARGET.case(library, layouts=("column", "expanded")),
        ]
    )


# Side effects


@pytest.mark.points(3, group="side effects")
@pytest.mark.hint("p - q makes a new array; p -= q, clamp_ or out= on an input write into it.")
def test_inputs_are_left_alone(submission, library):
    """Neither input is changed: values, shape, strides and flags are as they were."""

    def calls():
        asked = [case for family in (ORDINARY, ZEROS) for case in every_dtype(family, library)]
        first, second = ORDINARY["float32"][:2]
        asked += [
            *cases(SOFTMAX["float32"], library),
            *cases(BESIDE[library], library),
            first.case(library, layouts=("column", "every_second")),
            second.case(library, layouts=("every_second", "column")),
            UNIFORM_DRAFT.case(library, layouts=("expanded", "contiguous")),
            UNIFORM_TARGET.case(library, layouts=("contiguous", "expanded")),
            second.case(library, layouts=("read_only", "read_only")),
        ]
        return asked

    submission.check(calls, unchanged=True)


@pytest.mark.points(2, group="side effects")
@pytest.mark.hint("Some line writes into an input; the error message names it.")
def test_read_only_inputs(submission, library):
    """Inputs that cannot be written to are enough: nothing has to be written to them."""

    def calls():
        questions = ORDINARY["float32"] + ZEROS["float32"]
        return cases(questions, library, layouts=("read_only", "read_only"))

    submission.check(calls)


@pytest.mark.points(2, group="side effects")
@pytest.mark.hint("Return an array made in this call, never an input, a view or a kept buffer.")
def test_residual_has_its_own_memory(submission, library):
    """The residual shares no memory with the inputs or with the answer of another call."""

    def calls():
        questions = [
            *ORDINARY["float32"],
            *EQUAL["float32"],
            *ROUNDED_AWAY["float32"],
            ONE_HOT,
        ]
        for dtype in FLOATING[library]:
            again = ORDINARY[dtype][:1]
            others = again + disjoint_supports(dtype)[1:] + again + DIFFERENT[dtype]
            questions += roughly(others, NOTICEABLE)
        asked = cases(questions + ONE_TOKEN["float32"], library)
        asked += [zeros_of_any_dtype(question, library) for question in EQUAL_AGAIN]
        return asked

    submission.check(calls, private=True)


@pytest.mark.points(2, group="side effects")
@pytest.mark.hint("Nothing is drawn here: no random number, no seed set.")
def test_nothing_is_random(submission, library):
    """The same call gives the same answer again and again, and no random state moves."""
    questions = ORDINARY["float64"] + BESIDE[library]
    submission.check(lambda: cases(questions, library), globals_untouched=True)
    calls = cases(ORDINARY["float64"] + GRID["float32"][:3], library)
    answers = submission.answers(calls * 2)
    for i, again in enumerate(answers):
        case, first = calls[i % len(calls)], answers[i % len(calls)]
        difference = case.expects.difference(again) or exactly(first).difference(again)
        if difference is not None:
            raise Mismatch(f"case: {case.note}\nthe same call gave another answer: {difference}")


@pytest.mark.points(2, group="side effects")
@pytest.mark.hint("Work from the numbers in the rows; remember nothing from one call to the next.")
def test_rows_may_be_refilled(submission, library):
    """The answer belongs to the numbers in the rows, also in arrays that held others before."""

    def calls():
        rows = DIFFERENT["float32"][:2] + MIDDLE
        # The token is the same in all of them: nothing but the numbers tells two calls apart.
        questions = [
            ask(q.draft.numbers(), q.target.numbers(), 0, q.draft.dtype, q.note) for q in rows
        ]
        questions = ORDINARY["float32"] + roughly(questions, NOTICEABLE)
        return cases(questions, library)

    submission.check(calls, reuse=True)


@pytest.mark.points(2, group="side effects")
@pytest.mark.library("torch")
@pytest.mark.hint("New tensors take their dtype from the inputs: zeros_like or dtype=q.dtype.")
def test_default_dtype_does_not_matter(submission, library):
    """The answer is the same under any default dtype of PyTorch."""

    def calls():
        return [
            case
            for default in ("float16", "bfloat16", "float32", "float64")
            for case in every_dtype(ORDINARY, library, default_dtype=default)
        ]

    submission.check(calls)


# Device


@pytest.mark.points(3, group="device")
@pytest.mark.library("torch")
@pytest.mark.hint("Make new tensors from the inputs: no NumPy, no lists, no CPU constants.")
def test_residual_stays_on_the_device(submission, library, accelerator):
    """On an accelerator the residual is on the inputs' device, and accept_prob a float."""

    def calls():
        questions = ORDINARY["float32"] + EQUAL["float16"] + SOFTMAX["float32"][:2]
        questions += TINY["bfloat16"][:2]
        return cases(questions, library, device=accelerator)

    submission.check(calls)
