"""What `verify` asks for, on rows nobody has seen: the seed is chosen when the grading starts.

Expected answers come from exact arithmetic. The reference has to agree with them first, in a
process of its own: where it does not, the kit is at fault and no submission is judged.
"""

import numpy as np
import pytest

from grader.faults import KitFault
from grader.values import FLOATING, LAYOUTS
from problems.verify.cases import (
    GRID,
    Question,
    apart_in_the_middle,
    ask,
    asked,
    cases,
    different_rows,
    equal_softmax,
    grid_questions,
    grid_row,
    near_equal_questions,
    noise,
    rare_token_questions,
    roughly,
    rounded_away,
    shuffled,
    softmax,
    softmax_questions,
    sparse_questions,
    subnormal_residual_questions,
    subnormal_tokens,
    tiny_residual_questions,
    zeros_of_any_dtype,
)


def judge(submission, reference, make, **asked_for):
    """Ask the reference and then the submission what `make()` gives: both must be exact."""

    def calls():
        agreed = make()
        for call, outcome in zip(agreed, reference.outcomes(agreed), strict=True):
            difference = call.expects.difference(outcome.value)
            if difference is not None:
                raise KitFault(
                    f"the reference and the exact answer differ ({call.note}): {difference}"
                )
        return agreed

    submission.check(calls, **asked_for)


def sizes(rng, count, least, most):
    """Vocabulary sizes from `least` to `most`, small ones as likely as large ones."""
    return [round(least * (most / least) ** rng.random()) for _ in range(count)]


def every_dtype(library, make):
    """The questions that `make(dtype)` gives for every dtype of the library."""
    return [question for dtype in FLOATING[library] for question in make(dtype)]


def beside(rng, library):
    """Rows that a mistake beside the answer may wait for."""
    return [
        *different_rows(rng, "float32", [rng.randint(1001, 3000)]),
        *near_equal_questions(rng, "float32", sizes(rng, 1, 9, 100)),
        *tiny_residual_questions(rng, "float32", 1),
        *tiny_residual_questions(rng, "float64", 1),
        *every_dtype(library, lambda dtype: different_rows(rng, dtype, sizes(rng, 1, 9, 300))),
    ]


def extreme(q, p, i):
    """In turn the token that the target likes most, and least, in comparison with the draft."""
    likings = {t: b - a for t, (a, b) in enumerate(zip(q, p, strict=True)) if a > 0}
    return (max if i % 2 else min)(likings, key=likings.__getitem__)


def uniform_row(rng, dtype) -> Question:
    """A uniform draft row, to be passed as an expanded one."""
    size = rng.randint(2, 9)
    return asked(rng, [1 / size] * size, grid_row(rng, size, GRID[dtype]), dtype)


# Values


@pytest.mark.points(4, group="values")
def test_fresh_rows_of_simple_fractions(submission, reference, rng, library):
    """Both formulas hold on fresh rows of simple fractions."""

    def calls():
        questions = every_dtype(library, lambda dtype: grid_questions(rng, dtype, 12))
        return cases(questions, library)

    judge(submission, reference, calls)


@pytest.mark.points(4, group="values")
def test_fresh_softmax_rows(submission, reference, rng, library):
    """Both formulas hold on fresh softmax rows, flat and peaked, short and long."""

    def calls():
        questions = []
        for dtype in FLOATING[library]:
            questions += softmax_questions(rng, dtype, sizes(rng, 1, 8, 60) * 2, 2.0)
            questions += softmax_questions(rng, dtype, sizes(rng, 1, 60, 1000), 0.5)
            questions += softmax_questions(rng, dtype, sizes(rng, 1, 1001, 1500), 8.0)
        return cases(questions, library)

    judge(submission, reference, calls)


@pytest.mark.points(4, group="values")
def test_fresh_rows_with_many_zeros(submission, reference, rng, library):
    """Both formulas hold on fresh rows with many zeros in either distribution."""

    def calls():
        questions = every_dtype(
            library,
            lambda dtype: sparse_questions(
                rng, dtype, [*sizes(rng, 1, 4, 9), *sizes(rng, 1, 16, 40)] * 2
            ),
        )
        return cases(questions, library)

    judge(submission, reference, calls)


@pytest.mark.points(2, group="values")
def test_fresh_rows_with_every_token(submission, reference, rng, library):
    """On fresh rows the residual is the same whichever token was drafted."""

    def calls():
        questions = []
        for dtype in ("float32", "float64"):
            q = p = softmax(noise(rng, 6, 2.0))
            while not 2 <= np.count_nonzero(p > q) <= 4:
                p = softmax(noise(rng, 6, 2.0))
            questions += [ask(q, p, t, dtype, f"drafted token {t}") for t in range(6)]
        return cases(questions, library)

    judge(submission, reference, calls)


# Edges


@pytest.mark.points(4, group="edges")
def test_fresh_nearly_equal_rows(submission, reference, rng, library):
    """Fresh rows that nearly agree lose no accuracy."""

    def calls():
        questions = [
            question
            for dtype in ("float32", "float64")
            for apart in (16.0, 64.0, 256.0)
            for question in near_equal_questions(rng, dtype, sizes(rng, 2, 8, 200) * 2, apart)
        ]
        return cases(questions, library)

    judge(submission, reference, calls)


@pytest.mark.points(3, group="edges")
def test_fresh_rows_that_leave_nothing(submission, reference, rng, library):
    """Fresh rows in which p exceeds q nowhere give a residual of zeros."""

    def calls():
        questions = []
        for dtype in FLOATING[library]:
            rows = [softmax(noise(rng, size, 3.0)) for size in sizes(rng, 3, 2, 40)]
            questions += [asked(rng, row, row, dtype, "p equals q") for row in rows]
            questions += [shuffled(rng, question) for question in rounded_away(dtype)]
        return cases(questions, library)

    judge(submission, reference, calls)


@pytest.mark.points(4, group="edges")
def test_fresh_tiny_leftovers(submission, reference, rng, library):
    """Fresh leftover masses next to zero are divided by their own sum."""

    def calls():
        questions = every_dtype(library, lambda dtype: tiny_residual_questions(rng, dtype, 6))
        questions += every_dtype(library, lambda dtype: subnormal_residual_questions(rng, dtype, 2))
        return cases(questions, library)

    judge(submission, reference, calls)


@pytest.mark.points(3, group="edges")
def test_fresh_rare_tokens(submission, reference, rng, library):
    """Fresh tokens with next to no probability are judged by their ratio."""

    def calls():
        questions = every_dtype(library, lambda dtype: rare_token_questions(rng, dtype, 6))
        tokens = every_dtype(library, subnormal_tokens)
        questions += [shuffled(rng, question) for question in tokens]
        return cases(questions, library)

    judge(submission, reference, calls)


@pytest.mark.points(2, group="edges")
def test_fresh_large_vocabulary(submission, reference, rng, library):
    """A large vocabulary of a fresh size comes out exact and in time."""

    def calls():
        size = rng.randint(20_000, 40_000)
        return cases(softmax_questions(rng, "float64", [size]), library)

    judge(submission, reference, calls)


# Side effects


@pytest.mark.points(4, group="side effects")
def test_fresh_rows_are_left_alone(submission, reference, rng, library):
    """Fresh rows come through a call unchanged, in any layout and dtype."""

    def calls():
        layouts = [layout for layout in LAYOUTS if layout != "expanded"]
        found = []
        for dtype in FLOATING[library]:
            for question in sparse_questions(rng, dtype, sizes(rng, 4, 4, 30)):
                pair = rng.choice(layouts), rng.choice(layouts)
                found.append(question.case(library, layouts=pair))
            pair = "expanded", rng.choice(layouts)
            found.append(uniform_row(rng, dtype).case(library, layouts=pair))
        found += cases(roughly(beside(rng, library)), library)
        return found

    judge(submission, reference, calls, unchanged=True)


@pytest.mark.points(3, group="side effects")
def test_fresh_calls_stand_alone(submission, reference, rng, library):
    """An answer owes nothing to earlier calls, and later calls do not change it."""

    def calls():
        rows = [(grid_row(rng, 4, 2**16), grid_row(rng, 4, 2**16)) for _ in range(4)]
        q, p = rows[0]
        apart = grid_row(rng, 2, 2**16) + [0.0] * 2, [0.0] * 2 + grid_row(rng, 2, 2**16)
        rows += [(p, q), (q, q), (p, p), apart, ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])]
        questions = [
            shuffled(rng, ask(*pair, extreme(*pair, i), "float32")) for i, pair in enumerate(rows)
        ]
        questions = [*questions, questions[0], *reversed(questions)]
        for dtype in FLOATING[library]:
            questions += roughly(different_rows(rng, dtype, sizes(rng, 1, 9, 300) * 2), 2.0**-9)
        questions += roughly(apart_in_the_middle(rng, "float32"), 2.0**-9)
        found = cases(questions + roughly(beside(rng, library)), library)
        found += [zeros_of_any_dtype(equal_softmax(rng, "float64", 9), library)] * 2
        return found

    judge(submission, reference, calls, private=True, globals_untouched=True)


# Device


@pytest.mark.points(3, group="device")
@pytest.mark.library("torch")
def test_fresh_rows_on_the_device(submission, rng, library, accelerator):
    """Fresh rows on an accelerator have a residual on that accelerator."""

    def calls():
        questions = [
            *softmax_questions(rng, "float32", sizes(rng, 2, 4, 60)),
            *sparse_questions(rng, "float16", sizes(rng, 1, 9, 20)),
            *grid_questions(rng, "bfloat16", 3),
            *softmax_questions(rng, "float64", sizes(rng, 1, 16, 60)),
            *rounded_away("float32"),
        ]
        return cases(questions, library, device=accelerator)

    # The reference has agreed on such rows by now; a second worker with a device would take as
    # long as ten other checks.
    submission.check(calls, unchanged=True)
