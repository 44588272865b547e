"""Questions for `verify` and their right answers, in exact arithmetic.

A question is one call: a draft row, a target row and a drafted token, together with the answer
worked out from the numbers the rows really hold once they are rounded to their dtype. The answers
come from rational numbers and share neither code nor rounding with anything a submission may do.
Everything here is plain Python and NumPy; where a function takes `rng` it makes fresh rows.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grader.expect import Expectation, like, nearly, one_of
from grader.submission import Case
from grader.values import EPS, Array, Layout, Library, array

Numbers = npt.NDArray[np.float64]
Zeros = Literal["exact", "near"]

# The natural ways to compute the answer come within 1.5 eps of the exact one on all questions here.
TOLERANCE_IN_EPS = 16

# Dividing through logarithms is right as well, but costs digits where the difference of two rows is
# small: the logarithm of 1e-17 is about -39, and half a unit in its last place is 30 eps of the
# quotient. Cancelling forms are off by thousands.
CLOSE_TOLERANCE_IN_EPS = 64

# Beside numbers near the end of the range logarithms cost still more: they are near -100 in float32
# and -700 in float64, half a unit in their last place is 2^-18 and 2^-44 there, and a quotient made
# of two of them was seen 2^-17.0 and 2^-43.1 off. (In half precision they have two or three digits
# in all.) What is wrong there, an epsilon or a floor, is off by far more. One of 1e-10 beside the
# ordinary numbers of the same rows is not: it is charged where such numbers are asked about.
TINY_TOLERANCE = {
    "float16": 2.0**-4,
    "bfloat16": 2.0**-2,
    "float32": 2.0**-15,
    "float64": 2.0**-30,
}

# From this size on, correctly rounded sums replace rational ones: fractions take half a second at
# a vocabulary of 50,000, and the two agree to within a rounding (see `by_fsum`).
FSUM_SIZE = 64

# Rows cut from a grid this fine are exact in their dtype, and so is every difference and sum.
GRID = {"float16": 2**8, "bfloat16": 2**6, "float32": 2**16, "float64": 2**40}

# Exponents k of tiny numbers 2**-k: from the first at which a few dozen of them round away beside 1
# to the last whose reciprocal is finite. (float16 has no such number with a finite reciprocal;
# logarithms of bfloat16 numbers below 2**-60 have no digit left behind the point.)
TINY = {"float16": (17, 24), "bfloat16": (14, 60), "float32": (30, 126), "float64": (59, 1022)}
SMALLEST = {"float16": 24, "bfloat16": 133, "float32": 149, "float64": 1074}

# Random rows are asked about tokens from here on where they have any; rarer ones have questions of
# their own. (1 / 2**-14 is still finite in float16.)
COMMON = 2.0**-14

# 2**-k is below the smallest normal number here, and 2**k is still finite. (In float16 that is a
# number the families above have anyway.)
SUBNORMAL = {"bfloat16": 127, "float32": 127, "float64": 1023}


# The oracle


def by_fractions(draft: Array, target: Array, token: int) -> tuple[float, Numbers]:
    """The acceptance probability and the residual, exact until the one rounding to float64."""
    q, p = draft.fractions(), target.fractions()
    accept_prob = min(Fraction(1), p[token] / q[token])
    leftover = [max(b - a, Fraction(0)) for a, b in zip(q, p, strict=True)]
    total = sum(leftover)
    residual = [float(x / total) if total else 0.0 for x in leftover]
    return float(accept_prob), np.array(residual, dtype="f8")


def by_fsum(draft: Array, target: Array, token: int) -> tuple[float, Numbers]:
    """As `by_fractions`, with three roundings an entry: for rows too long for fractions.

    `math.fsum` rounds the exact sum once. A difference of two floats rounds to zero only where they
    are equal, so the zeros of the residual are exact too.
    """
    q, p = draft.numbers(), target.numbers()
    above = p > q
    total = math.fsum(p[above].tolist() + (-q[above]).tolist())
    residual = np.where(above, p - q, 0.0)
    if total:
        residual /= total
    return min(1.0, float(p[token]) / float(q[token])), residual


def solve(draft: Array, target: Array, token: int) -> tuple[float, Numbers]:
    """The exact acceptance probability and residual of two rows, as float64."""
    if draft.shape[0] >= FSUM_SIZE:
        return by_fsum(draft, target, token)
    return _remembered(draft.dtype, draft.shape, draft.data, target.data, token)


@lru_cache(maxsize=8192)
def _remembered(
    dtype: str, shape: tuple[int, ...], draft: bytes, target: bytes, token: int
) -> tuple[float, Numbers]:
    """By fractions, once: whoever grades many files with one seed asks the same of each."""
    q, p = (Array("torch", dtype, "cpu", shape, data) for data in (draft, target))
    accept_prob, residual = by_fractions(q, p, token)
    residual.flags.writeable = False
    return accept_prob, residual


def expected(
    draft: Array,
    accept_prob: float,
    residual: Any,
    atol: float | None = None,
    zeros: Zeros = "exact",
) -> Expectation:
    """The answer in the library, dtype and device of `draft`, compared to within `atol`.

    Exact zeros: an entry is 0 where the target does not exceed the draft, and nowhere else.
    """
    if atol is None:
        atol = TOLERANCE_IN_EPS * draft.eps
    answer = {"accept_prob": accept_prob, "residual": like(draft, residual)}
    return nearly(answer, atol=atol, zeros=zeros)


def answer(draft: Array, target: Array, token: int) -> Expectation:
    """What a call with these arguments has to return."""
    return expected(draft, *solve(draft, target, token))


# Questions


@dataclass(frozen=True, eq=False)
class Question:
    """One call and its exact answer; `case` asks it in a library, on a device, in a layout."""

    draft: Array
    target: Array
    token: int
    accept_prob: float
    residual: Numbers
    note: str = ""
    atol: float | None = None
    zeros: Zeros = "exact"

    def case(
        self,
        library: Library = "torch",
        device: str = "cpu",
        layouts: tuple[Layout, Layout] = ("contiguous", "contiguous"),
        default_dtype: str | None = None,
    ) -> Case:
        """This question as one call; `layouts` are those of the draft and of the target row."""
        q = self.draft.to(library, device=device, layout=layouts[0])
        p = self.target.to(library, device=device, layout=layouts[1])
        expects = expected(q, self.accept_prob, self.residual, self.atol, self.zeros)
        return Case((q, p, self.token), expects, note=self.note, default_dtype=default_dtype)


def ask(
    draft: Any,
    target: Any,
    token: int,
    dtype: str = "float32",
    note: str = "",
    atol: float | None = None,
) -> Question:
    """A question about two rows of numbers, answered for what they become in `dtype`."""
    q, p = array(draft, dtype), array(target, dtype)
    return Question(q, p, token, *solve(q, p, token), note, atol)


def cases(questions: Iterable[Question], library: Library = "torch", **options: Any) -> list[Case]:
    """The questions as calls, all asked in the same way (see `Question.case`)."""
    return [question.case(library, **options) for question in questions]


def roughly(questions: Iterable[Question], atol: float = 1.0) -> list[Question]:
    """The same calls for checks of what happens beside the answer: here any distribution will do.

    The digits of such rows are asked about elsewhere, and are not to be charged twice.
    """
    return [
        replace(question, atol=max(atol, TOLERANCE_IN_EPS * question.draft.eps), zeros="near")
        for question in questions
    ]


def zeros_of_any_dtype(question: Question, library: Library = "torch") -> Case:
    """Equal rows, with float32 zeros taken as well: the dtype of zeros is asked about elsewhere."""
    case = question.case(library)
    single = question.draft.to(library, dtype="float32")
    also = expected(single, question.accept_prob, question.residual)
    return replace(case, expects=one_of(case.expects, also))


# Plain rows


def ordinary(dtype: str = "float32") -> list[Question]:
    """Four small questions: a token kept half of the time, always, never, and with ratio 1.

    Something is left over in each: what is special about equal rows is asked apart, so that one
    mistake is not charged in every check.
    """
    return [
        ask([0.75, 0.25], [0.375, 0.625], 0, dtype, "a token kept half of the time"),
        ask([0.5, 0.25, 0.25], [0.25, 0.5, 0.25], 1, dtype, "a token that is always kept"),
        ask([0.5, 0.25, 0.25], [0.0, 0.75, 0.25], 0, dtype, "a token that is never kept"),
        ask([0.25, 0.25, 0.5], [0.5, 0.25, 0.25], 1, dtype, "p[t] equals q[t]"),
    ]


def equal_rows(dtype: str) -> list[Question]:
    """Both distributions are the same: every token is kept and nothing is left over."""
    rows = ([1.0], [0.5, 0.5], [0.25, 0.5, 0.25, 0.0])
    return [ask(row, row, 0, dtype, "p equals q") for row in rows]


def rounded_away(dtype: str) -> list[Question]:
    """The rows differ and yet p exceeds q nowhere, since the rest of p was lost to rounding."""
    k = {"float16": 14, "bfloat16": 12, "float32": 30, "float64": 60}[dtype]
    note = f"q = [1, 2^-{k}], p = [1, 0]: both sum to one once rounded"
    return [
        ask([1.0, 2.0**-k], [1.0, 0.0], 1, dtype, note),
        ask([2.0**-k, 1.0, 0.0], [0.0, 1.0, 0.0], 0, dtype, note),
    ]


def slight_shifts(dtype: str) -> list[Question]:
    """The rows differ by a few units in the last place."""
    h = 2.0 ** -{"float16": 9, "bfloat16": 6, "float32": 21, "float64": 46}[dtype]
    ulp = EPS[dtype] / 2
    shifted = [0.5 - h, 0.25 + h / 2, 0.25 + h / 2]
    return [
        ask([0.5, 0.25, 0.25], shifted, 0, dtype, f"p differs from q by {h:.2g}"),
        ask([0.5, 0.5], [0.5 + ulp, 0.5 - ulp], 1, dtype, "p is the next number above q"),
    ]


def tiny_residuals(dtype: str) -> list[Question]:
    """Next to nothing is left over, and its shares still have to come out right.

    The sum is so small that its reciprocal overflows in half precision.
    """
    small = {"float16": 2.0**-20, "bfloat16": 1e-30, "float32": 1e-30, "float64": 1e-200}[dtype]
    q, atol = [1.0, 0.0, 0.0], TINY_TOLERANCE[dtype]
    return [
        ask(q, [1.0, small, small], 0, dtype, f"p exceeds q by {small:.1g} twice", atol),
        ask(
            q,
            [1.0, small, 3 * small],
            0,
            dtype,
            f"p exceeds q by {small:.1g} and thrice that",
            atol,
        ),
    ]


def rare_tokens(dtype: str) -> list[Question]:
    """The drafted token has next to no probability in the draft, and less or none in the target."""
    k = {"float16": 20, "bfloat16": 100, "float32": 100, "float64": 1000}[dtype]
    q = [2.0**-k, 0.5, 0.5]
    atol = TINY_TOLERANCE[dtype]
    return [
        ask(q, [2.0 ** -(k + 1), 0.25, 0.75], 0, dtype, f"q[t] = 2^-{k}, p[t] = q[t] / 2", atol),
        ask(q, [0.0, 0.25, 0.75], 0, dtype, f"q[t] = 2^-{k}, p[t] = 0", atol),
        ask(q, [0.5, 0.25, 0.25], 0, dtype, f"q[t] = 2^-{k}, p[t] = 1/2", atol),
    ]


def subnormal_residuals(dtype: str) -> list[Question]:
    """The leftover sum is below the smallest normal number, and so is all that it is made of.

    Its reciprocal is finite all the same. Logarithms in bfloat16 have no digit for shares of it.
    """
    if dtype not in SUBNORMAL:
        return []
    k, atol = SUBNORMAL[dtype], TINY_TOLERANCE[dtype]
    note = f"p exceeds q by 2^-{k}, which is subnormal"
    questions = [ask([1.0, 0.0, 0.0], [1.0, 2.0**-k, 0.0], 0, dtype, note, atol)]
    if dtype != "bfloat16":
        half = 2.0 ** -(k + 1)
        note = f"p exceeds q by 2^-{k + 1} twice, which is subnormal"
        questions.append(ask([1.0, 0.0, 0.0], [1.0, half, half], 0, dtype, note, atol))
    return questions


def subnormal_tokens(dtype: str) -> list[Question]:
    """The probability of the drafted token is below the smallest normal number of the dtype."""
    if dtype not in SUBNORMAL:
        return []
    k, atol = SUBNORMAL[dtype], TINY_TOLERANCE[dtype]
    q = [2.0**-k, 0.5, 0.5]
    note = f"q[t] = 2^-{k}, which is subnormal, p[t] ="
    return [
        ask(q, [2.0 ** -(k + 1), 0.25, 0.75], 0, dtype, f"{note} q[t] / 2", atol),
        ask(q, [2.0**-k, 0.25, 0.75], 0, dtype, f"{note} q[t]", atol),
        ask(q, [0.5, 0.25, 0.25], 0, dtype, f"{note} 1/2", atol),
    ]


def disjoint_supports(dtype: str) -> list[Question]:
    """No token is possible under both distributions: the residual is the target row."""
    note = "no token is possible under both distributions"
    return [
        ask([0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 0.75], 0, dtype, note),
        ask([0.0, 1.0], [1.0, 0.0], 1, dtype, note),
        ask([0.5, 0.5] + [0.0] * 7, [0.0] * 5 + [0.125, 0.125, 0.25, 0.5], 0, dtype, note),
    ]


def zeros_in_draft(dtype: str) -> list[Question]:
    """The draft never proposes some tokens: their share of the residual is all of p there."""
    note = "the draft gives some tokens no probability"
    return [
        ask([0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.125, 0.375], 1, dtype, note),
        ask([0.0, 0.75, 0.25, 0.0], [0.25, 0.25, 0.5, 0.0], 1, dtype, note),
    ]


def every_token(dtype: str) -> list[Question]:
    """The same two rows with every token that the draft can propose."""
    q, p = [0.5, 0.25, 0.125, 0.125, 0.0], [0.125, 0.25, 0.0, 0.375, 0.25]
    return [ask(q, p, t, dtype, f"the same rows, drafted token {t}") for t in range(4)]


def one_token(dtype: str) -> list[Question]:
    """A vocabulary of a single token."""
    return [ask([1.0], [1.0], 0, dtype, "a vocabulary of one token")]


def uniform_draft(dtype: str, size: int = 4) -> Question:
    """A uniform draft row, which can be an expanded one (stride 0)."""
    p = [0.5, 0.125, 0.25, 0.125] + [0.0] * (size - 4)
    return ask([1 / size] * size, p, 1, dtype, "a uniform draft row")


def uniform_target(dtype: str) -> Question:
    """A uniform target row, which can be an expanded one (stride 0)."""
    return ask([0.5, 0.125, 0.25, 0.125], [0.25] * 4, 0, dtype, "a uniform target row")


# Rows made from a source of random numbers


def noise(rng: random.Random, size: int, scale: float) -> Numbers:
    """Uniform numbers between -scale and scale, drawn all at once."""
    whole = np.frombuffer(rng.randbytes(4 * size), dtype="<i4")
    return np.asarray(whole * (scale / 2.0**31))


def softmax(logits: Numbers) -> Numbers:
    """The softmax of one row of logits, in float64."""
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def some_token(rng: random.Random, draft: Array) -> int:
    """A token that the draft can propose."""
    return rng.choice(np.flatnonzero(draft.numbers()).tolist())


def asked(rng: random.Random, draft: Any, target: Any, dtype: str, note: str = "") -> Question:
    """`ask` about a random token among those that the draft can propose."""
    return ask(draft, target, some_token(rng, array(draft, dtype)), dtype, note)


def asked_twice(
    rng: random.Random, draft: Any, target: Any, dtype: str, note: str = ""
) -> list[Question]:
    """`ask` about a token that may be rejected and about one that is always kept, not too rare.

    With rows that have no such tokens, about any that the draft can propose.
    """
    q, p = array(draft, dtype).numbers(), array(target, dtype).numbers()
    kinds = [np.flatnonzero((p > 0) & (p < q)), np.flatnonzero((q > 0) & (q <= p))]
    kinds = [common if (common := kind[q[kind] >= COMMON]).size else kind for kind in kinds]
    tokens = [rng.choice(kind.tolist()) for kind in kinds if kind.size]
    tokens = tokens or [rng.choice(np.flatnonzero(q).tolist())]
    return [ask(draft, target, t, dtype, note) for t in tokens]


def grid_row(rng: random.Random, size: int, grid: int) -> list[float]:
    """A distribution whose entries are multiples of 1 / grid, some of them possibly 0."""
    cuts = [0, *sorted(rng.randint(0, grid) for _ in range(size - 1)), grid]
    return [(b - a) / grid for a, b in pairwise(cuts)]


def _move(row: list[float], tokens: Iterable[int], to: int) -> None:
    """Gives what a row has at some tokens to another one."""
    for token in tokens:
        row[to] += row[token]
        row[token] = 0.0


def grid_questions(rng: random.Random, dtype: str, count: int) -> list[Question]:
    """Two different rows of simple fractions, exact in the dtype, over 2 to 8 tokens.

    In every fourth the draft never proposes what the target likes best, one token or two; in every
    other fourth some token is possible under neither.
    """
    questions = []
    for i in range(count):
        size = 2 + i % 7
        q = p = [1.0]
        while q == p:
            q, p = grid_row(rng, size, GRID[dtype]), grid_row(rng, size, GRID[dtype])
            if i % 4 == 3:
                *liked, least = sorted(range(size), key=p.__getitem__, reverse=True)
                _move(q, liked[: 1 + (size > 3)], least)
            elif i % 4 == 1 and size > 2:
                for row in (q, p):
                    _move(row, [0], 1)
        questions.append(asked(rng, q, p, dtype, "rows of simple fractions"))
    return questions


def softmax_questions(
    rng: random.Random, dtype: str, sizes: Sequence[int], scale: float = 4.0
) -> list[Question]:
    """Rows as language models make them: softmax of random logits, two questions a size."""
    questions = []
    for size in sizes:
        q, p = softmax(noise(rng, size, scale)), softmax(noise(rng, size, scale))
        while size < FSUM_SIZE and coincide(q, p, dtype):
            p = softmax(noise(rng, size, scale))
        questions += asked_twice(rng, q, p, dtype, f"softmax rows over {size} tokens")
    return questions


def coincide(q: Numbers, p: Numbers, dtype: str, within: float = 0.0) -> bool:
    """Whether rows have an entry above 0 in common, or nearly, by chance, as half rows may.

    within: how near, relative to the entry.
    """
    draft, target = array(q, dtype).numbers(), array(p, dtype).numbers()
    close = np.abs(draft - target) <= within * draft
    return bool(np.any(close & (draft > 0))) and len(q) > 1


def different_rows(rng: random.Random, dtype: str, sizes: Sequence[int]) -> list[Question]:
    """Softmax rows, other ones for every question, also where a size comes again."""
    return [softmax_questions(rng, dtype, [size])[0] for size in sizes]


def equal_softmax(rng: random.Random, dtype: str, size: int) -> Question:
    """A softmax row against itself."""
    row = softmax(noise(rng, size, 4.0))
    return asked(rng, row, row, dtype, f"p equals q over {size} tokens")


def apart_in_the_middle(rng: random.Random, dtype: str, size: int = 300) -> list[Question]:
    """Two pairs of rows that agree in everything but their middle third; one token for both."""
    q, p = softmax(noise(rng, size, 4.0)), softmax(noise(rng, size, 4.0))
    first, last = size // 3, 2 * size // 3
    moved = np.concatenate([p[:first], p[first:last][::-1], p[last:]])
    note = f"rows over {size} tokens that differ in the middle only"
    return [ask(q, row, 0, dtype, note) for row in (p, moved)]


def near_equal_questions(
    rng: random.Random, dtype: str, sizes: Sequence[int], apart: float = 64.0
) -> list[Question]:
    """Softmax rows whose logits are up to `apart` eps apart: hardly any mass is left over.

    Rows are drawn again while the target exceeds the draft nowhere. In turn the token is the one
    that the target likes least, or most, in comparison with the draft.
    """
    questions = []
    for i, size in enumerate(sizes):
        while True:
            logits = noise(rng, size, 4.0)
            moved = logits + noise(rng, size, apart * EPS[dtype])
            q, p = array(softmax(logits), dtype), array(softmax(moved), dtype)
            if bool(np.any(p.numbers() > q.numbers())):
                break
        note = f"nearly equal rows over {size} tokens"
        ratios = p.numbers() / q.numbers()
        t = int(ratios.argmax() if i % 2 else ratios.argmin())
        atol = CLOSE_TOLERANCE_IN_EPS * EPS[dtype]
        questions.append(ask(q.numbers(), p.numbers(), t, dtype, note, atol))
    return questions


def sparse_questions(rng: random.Random, dtype: str, sizes: Sequence[int]) -> list[Question]:
    """Softmax rows over a random half of the tokens each, one or two questions a size.

    From size 4 on the rows have a token in common that the target likes less than the draft does,
    and the target has one that the draft never proposes.
    """
    questions = []
    for size in sizes:
        half = max(1, size // 2)
        q, p = np.zeros(size), np.zeros(size)
        while not p.any() or coincide(q, p, dtype, 2.0**-3):
            order = rng.sample(range(size), size)
            weights = -np.sort(-softmax(noise(rng, half, 4.0)))
            q[:], p[:] = 0.0, 0.0
            q[order[:half]] = weights
            others = [order[-1], *rng.sample(order[1:-1], max(0, half - 2)), order[0]][:half]
            p[others] = -np.sort(-softmax(noise(rng, half, 4.0)))
        questions += asked_twice(rng, q, p, dtype, "rows with many zeros")
    return questions


def tiny_residual_questions(rng: random.Random, dtype: str, count: int) -> list[Question]:
    """Everything but a random tiny mass is on one token under both distributions.

    Every other mass is at the end of the range, so that some of its shares are subnormal numbers.
    """
    first, last = TINY[dtype]
    questions = []
    for i in range(count):
        k = rng.randint(max(first, last - 4), last) if i % 2 else rng.randint(first, last)
        size = rng.randint(2, 5)
        exponents = [k] + [min(k + rng.randint(0, 16), SMALLEST[dtype]) for _ in range(size - 1)]
        p = [rng.randint(1, 7) * 2.0**-exponent for exponent in exponents]
        q = [0.0] * size
        at = rng.randint(0, size)
        q.insert(at, 1.0)
        p.insert(at, 1.0)
        questions.append(ask(q, p, at, dtype, "a tiny leftover mass", TINY_TOLERANCE[dtype]))
    return questions


def subnormal_residual_questions(rng: random.Random, dtype: str, count: int) -> list[Question]:
    """A leftover sum below the smallest normal number, in random shares where the dtype has digits.

    With a bfloat16 all of it is on one token.
    """
    if dtype not in SUBNORMAL:
        return []
    total = 2.0 ** -SUBNORMAL[dtype]
    questions = []
    for _ in range(count):
        size = rng.randint(2, 5)
        shares = grid_row(rng, size, 1 if dtype == "bfloat16" else GRID[dtype])
        at = rng.randint(0, size)
        p, q = [share * total for share in shares], [0.0] * size
        q.insert(at, 1.0)
        p.insert(at, 1.0)
        note = "a leftover mass below the smallest normal number"
        questions.append(ask(q, p, at, dtype, note, TINY_TOLERANCE[dtype]))
    return questions


def rare_token_questions(rng: random.Random, dtype: str, count: int) -> list[Question]:
    """The drafted token is next to impossible under the draft.

    In turn its ratio is 0, a number of sevenths, which no few digits hold, and 2 or more.
    """
    first, last = TINY[dtype]
    questions = []
    for i in range(count):
        k = rng.randint(max(first, last - 4), last) if i % 2 else rng.randint(first, last)
        in_draft = (rng.randint(1, 7), 7, rng.randint(1, 3))[i % 3]
        least, most = ((0, 0), (4, 6), (2 * in_draft, 7))[i % 3]
        in_target = rng.randint(least, most)
        q, p = [0.5, 0.5], [0.25, 0.75]
        at = rng.randint(0, 2)
        q.insert(at, in_draft * 2.0**-k)
        p.insert(at, in_target * 2.0**-k)
        questions.append(ask(q, p, at, dtype, "a tiny q[t]", TINY_TOLERANCE[dtype]))
    return questions


def shuffled(rng: random.Random, question: Question) -> Question:
    """The same question with the vocabulary in another order."""
    size = question.draft.shape[0]
    order = rng.sample(range(size), size)
    q, p = (a.numbers()[order] for a in (question.draft, question.target))
    token = order.index(question.token)
    return ask(q, p, token, question.draft.dtype, question.note, question.atol)
