"""The references on random legal inputs, against exact oracles written here from the statements.

Numbers are read from their bits and stay fractions, so that nothing is shared with the code that
grades but the workers the references run in. The examples follow from the constants of the modules
that are loaded, so a test may see others alone than in company: every control is to be seen by any
seed. `GRADER_PROPERTY_EXAMPLES=2000` draws that many of every kind, new ones each time.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from grader import kit as kits
from grader import problem as problems
from grader.expect import Mismatch, exactly
from grader.grading import Grading, Request
from grader.submission import Case, Helper, Outcome, Submission
from grader.values import FLOATING, Array, Library, array, seeded
from grader.workers import Launcher, launcher
from problems.step import cases as step_cases
from problems.verify import cases as verify_cases

KIT = kits.find()
MORE = int(os.environ.get("GRADER_PROPERTY_EXAMPLES", "0"))
CALLS = 500  # of one step, for its law
CLOSE = Fraction(1, 2**20)  # nearer than this to a decision, rounding may decide

FORMATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}

Row = tuple[Fraction, ...]
Answer = tuple[tuple[int, ...], int]
Law = dict[Answer, Fraction]

pytestmark = pytest.mark.skipif(KIT.solutions is None, reason="this kit has no solutions")


def profile(examples: int, *phases: Phase) -> settings:
    """So many examples, drawn without chance, unless the environment asks for more."""
    return settings(
        max_examples=MORE or examples,
        derandomize=not MORE,
        database=None,
        deadline=None,
        print_blob=True,
        report_multiple_bugs=False,
        phases=phases or (Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
    )


def control(examples: int) -> settings:
    """For a wrong file: any example that shows it will do, the smallest one is of no use."""
    return profile(examples, Phase.generate)


# What may be asked ------------------------------------------------------------------------------


def exact(a: Array) -> Row:
    """The numbers of an array, from its bits and the definition of binary floating point."""
    exponents, fractions = FORMATS[a.dtype]
    width = (1 + exponents + fractions) // 8
    numbers = []
    for start in range(0, len(a.data), width):
        bits = int.from_bytes(a.data[start : start + width], "little")
        exponent = bits >> fractions & (1 << exponents) - 1
        assert exponent + 1 < 1 << exponents, "an entry is inf or nan"
        significand = (bits & (1 << fractions) - 1) + (bool(exponent) << fractions)
        scale = max(exponent, 1) - (1 << exponents - 1) + 1 - fractions
        sign = -1 if bits >> exponents + fractions else 1
        numbers.append(sign * significand * Fraction(2) ** scale)
    return tuple(numbers)


def smallest(dtype: str) -> Fraction:
    """The smallest positive number of a dtype, a subnormal one."""
    exponents, fractions = FORMATS[dtype]
    return Fraction(2) ** (2 - (1 << exponents - 1) - fractions)


def eps(dtype: str) -> Fraction:
    return Fraction(1, 1 << FORMATS[dtype][1])


def entries(dtype: str) -> st.SearchStrategy[Fraction]:
    """One part of a row, sizable in three of four."""
    sizable = [st.integers(1, 256).map(lambda parts: Fraction(parts, 256)) for _ in range(3)]
    return st.one_of(*sizable, slight(dtype))


def slight(dtype: str) -> st.SearchStrategy[Fraction]:
    """Nothing, or anything between 2^-8 and the smallest number of the dtype."""
    exponents, fractions = FORMATS[dtype]
    lowest = (1 << exponents - 1) - 2 + fractions
    some = st.builds(lambda m, k: Fraction(m, 2**k), st.integers(1, 7), st.integers(11, lowest))
    return st.just(Fraction(0)) | some


def distribution(parts: Sequence[Fraction], dtype: str) -> Array:
    """Shares in proportion to the parts, which together are one up to the dtype's rounding."""
    parts = parts if any(parts) else [Fraction(1), *parts[1:]]
    total = sum(parts)
    return array([part / total for part in parts], dtype)


@st.composite
def pairs(draw: st.DrawFn, dtype: str, size: int) -> tuple[Array, Array]:
    """A draft and a target row: unrelated, equal, nearly equal, or alike but for the rare tokens.

    Long rows repeat a short pattern.
    """
    shape = {"min_size": min(size, 8), "max_size": min(size, 8)}
    q = draw(st.lists(entries(dtype), **shape))
    relation = draw(st.sampled_from(["none", "tails", "near", "none", "none", "equal"]))
    if relation == "none":
        p = draw(st.lists(entries(dtype), **shape))
    elif relation == "near":
        step = Fraction(1, 2 ** draw(st.integers(3, FORMATS[dtype][1] + 1)))
        moves = draw(st.lists(st.integers(-4, 4), **shape))
        p = [part * (1 + move * step) for part, move in zip(q, moves, strict=True)]
    elif relation == "tails":
        tails = draw(st.lists(slight(dtype), **shape))
        p = [
            part if part >= Fraction(1, 256) else tail for part, tail in zip(q, tails, strict=True)
        ]
    else:
        p = q
    long = [[row[i % len(row)] for i in range(size)] for row in (q, p)]
    draft, target = (distribution(row, dtype) for row in long)
    return draft, target


@st.composite
def layouts(draw: st.DrawFn, a: Array) -> Array:
    """The same numbers, lying in memory in any way they can."""
    ways = ["contiguous", "column", "every_second", "read_only"]
    if len(set(a.numbers().ravel().tolist())) == 1:
        ways.append("expanded")
    return a.to(layout=draw(st.sampled_from(ways)))


@st.composite
def questions(draw: st.DrawFn, library: Library) -> Case:
    """One call of `verify`, in any dtype and layout."""
    dtype = draw(st.sampled_from(FLOATING[library]))
    size = draw(st.sampled_from([4, 5, 6, 7, 8, 3, 2, 1, 31, 100]))
    rows = draw(pairs(dtype, size))
    token = draw(st.sampled_from([i for i, x in enumerate(exact(rows[0])) if x]))
    q, p = (draw(layouts(row.to(library=library))) for row in rows)
    default = draw(st.sampled_from([None, "float64", "bfloat16"])) if library == "torch" else None
    return Case((q, p, token), exactly(None), default_dtype=default)


@st.composite
def steps(
    draw: st.DrawFn, most_positions: int = 3, most_tokens: int = 4
) -> tuple[Array, Array, Array]:
    """The arrays of one call of `step`: rows of either exact dtype, ids of any integer dtype."""
    dtype = draw(st.sampled_from(["float32", "float64"]))
    positions = draw(st.sampled_from([*range(most_positions, 0, -1), most_positions, 2, 0]))
    size = draw(st.sampled_from([*range(most_tokens, 1, -1), most_tokens, 3, 1]))
    rows = [draw(pairs(dtype, size)) for _ in range(positions + 1)]
    tokens = [draw(st.sampled_from(drafted(exact(q), exact(p)))) for q, p in rows[:-1]]
    ids = draw(st.sampled_from(["int64", "int32", "uint8"]))
    return (
        draw(layouts(stacked([q for q, _ in rows[:-1]], dtype, size))),
        draw(layouts(stacked([p for _, p in rows], dtype, size))),
        draw(layouts(array(tokens, ids))),
    )


def drafted(q: Row, p: Row) -> list[int]:
    """The tokens that may be drafted, first those that may be kept or rejected."""
    return sorted(
        (t for t, share in enumerate(q) if share), key=lambda t: (not 0 < p[t] < q[t], p[t] > q[t])
    )


def stacked(rows: Sequence[Array], dtype: str, size: int) -> Array:
    return Array("torch", dtype, "cpu", (len(rows), size), b"".join(row.data for row in rows))


def split(a: Array) -> list[Row]:
    """The rows of a matrix."""
    numbers, size = exact(a), a.shape[1]
    return [numbers[i * size : (i + 1) * size] for i in range(a.shape[0])]


# The statements, in fractions -------------------------------------------------------------------


def verified(q: Row, p: Row, t: int) -> tuple[Fraction, Row]:
    """The accept probability and the residual, as the statement of `verify` defines them."""
    leftover = [max(b - a, Fraction(0)) for a, b in zip(q, p, strict=True)]
    total = sum(leftover)
    return min(Fraction(1), p[t] / q[t]), tuple(r / total if total else r for r in leftover)


def weights(q: Row, p: Row) -> Row:
    """What a replacement is drawn from: the residual, or the target row where nothing is left."""
    leftover = verified(q, p, next(i for i, x in enumerate(q) if x))[1]
    return leftover if any(leftover) else p


def enumerated(draft: Sequence[Row], target: Sequence[Row], tokens: Sequence[int]) -> Law:
    """The probability of every answer of `step`, branch by branch through its statement."""
    result: Law = defaultdict(Fraction)

    def ends(n: int, row: Row, probability: Fraction) -> None:
        for token, weight in enumerate(row):
            if weight and probability:
                result[(*tokens[:n], token), n] += probability * weight / sum(row)

    reached = Fraction(1)
    for i, (q, p, t) in enumerate(zip(draft, target, tokens, strict=False)):
        keep, _ = verified(q, p, t)
        ends(i, weights(q, p), reached * (1 - keep))
        reached *= keep
    ends(len(tokens), target[-1], reached)
    return dict(result)


def stated(
    draft: Sequence[Row],
    target: Sequence[Row],
    tokens: Sequence[int],
    coins: Sequence[Fraction],
    races: Sequence[Row],
) -> tuple[Answer, bool]:
    """The answer these random numbers give, and whether a decision was too close to be asked about.

    coins: one a position. races[m]: what `torch.multinomial` divides the weights by after m coins;
    it picks the largest quotient.
    """
    close, n, tossed = False, len(tokens), len(tokens)
    row = target[-1]
    for i, t in enumerate(tokens):
        keep, _ = verified(draft[i], target[i], t)
        close = close or abs(coins[i] - keep) <= CLOSE
        if not coins[i] < keep:
            n, tossed, row = i, i + 1, weights(draft[i], target[i])
            break
    quotients = [weight / slow for weight, slow in zip(row, races[tossed], strict=True)]
    *_, second, best = [Fraction(0), *sorted(quotients)]
    close = close or second >= best * (1 - CLOSE)
    return ((*tokens[:n], quotients.index(best)), n), close


# The references, in workers ---------------------------------------------------------------------


@pytest.fixture(scope="module", name="started")
def _started() -> Iterator[Launcher]:
    started = launcher("auto")
    yield started
    started.close()


@pytest.fixture(scope="module", name="opened")
def _opened(started: Launcher) -> Iterator[Callable[..., Grading]]:
    """Opens a file of a problem's solutions as a grading does, with time for all examples."""
    with contextlib.ExitStack() as stack:

        def opened(slug: str, file: str, library: str = "torch") -> Grading:
            problem = problems.load(KIT, slug)
            limits = replace(problem.limits, call=60, submission=36_000)
            source = ((KIT.solutions or KIT.root) / slug / file).read_bytes()
            request = Request(
                KIT, replace(problem, limits=limits), source, library, "cpu", seed=0, hidden=False
            )
            return stack.enter_context(Grading(request, started))

        yield opened


def answers(submission: Submission, calls: list[Case], *observe: str) -> list[Outcome]:
    """What the calls gave; none failed, changed its arguments or drew from a global generator."""
    outcomes = submission.outcomes(calls, ("args", "globals", *observe))
    for call, outcome in zip(calls, outcomes, strict=True):
        assert outcome.failure is None, outcome.failure.message
        for given_one, after in zip(call.args, outcome.args_after, strict=True):
            if isinstance(given_one, Array):
                assert (after.data, after.shape) == (given_one.data, given_one.shape)
        assert outcome.moved == ()
    return outcomes


# verify -----------------------------------------------------------------------------------------


def is_verified(call: Case, answer: Any) -> None:
    """The answer of one call keeps what the statement of `verify` promises, at every magnitude.

    An entry may be off by the 16 eps of the statement, and by no more than the roundings of one
    subtraction, a sum of V numbers and one division.
    """
    q, p, t = call.args
    keep, residual = verified(exact(q), exact(p), t)
    assert type(answer) is dict
    assert set(answer) == {"accept_prob", "residual"}
    assert type(answer["accept_prob"]) is float
    assert answer["accept_prob"] == float(keep), "the quotient of two floats, rounded once"
    found = answer["residual"]
    assert (found.library, found.dtype, found.device, found.shape) == (
        *(q.library, q.dtype, q.device),
        q.shape,
    )
    few, least = (len(residual) + 4) * eps(q.dtype), smallest(q.dtype)
    for got, wanted in zip(exact(found), residual, strict=True):
        assert got > 0 if wanted else got == 0, (
            "zero just where the target does not exceed the draft"
        )
        assert abs(got - wanted) <= min(16 * eps(q.dtype), few * wanted + least)


def verify_holds(submission: Submission, library: Library, rule: settings) -> None:
    @rule
    @given(st.lists(questions(library), min_size=8, max_size=16))
    def holds(calls: list[Case]) -> None:
        for call, outcome in zip(calls, answers(submission, calls), strict=True):
            is_verified(call, outcome.value)

    holds()


@pytest.mark.parametrize(
    ("library", "file"), [("torch", "solution.py"), ("numpy", "solution_numpy.py")]
)
def test_verify_is_exact_on_any_legal_rows(opened, library, file):
    """Accept probability, residual, zeros, dtype and shape are those of exact arithmetic."""
    verify_holds(opened("verify", file, library).submission, library, profile(30))


@pytest.mark.parametrize(
    "name", ["smaller_epsilon_in_divisor", "threshold_on_sum", "half_l1_divisor", "accept_rounded"]
)
def test_a_wrong_verify_is_seen(opened, name):
    """The negative control: small faults fail the property that the reference keeps."""
    submission = opened("verify", f"wrong/{name}.py").submission
    with pytest.raises(AssertionError):
        verify_holds(submission, "torch", control(120))


@profile(100)
@given(st.sampled_from(["torch", "numpy"]).flatmap(questions))
def test_the_answers_the_checks_of_verify_expect_are_exact(call):
    """What the checks compare with is the exact answer, rounded to float64."""
    q, p, t = call.args
    keep, residual = verified(exact(q), exact(p), t)
    found_keep, found = verify_cases.solve(q, p, t)
    assert found_keep == float(keep)
    for got, wanted in zip(found.tolist(), residual, strict=True):
        assert (got > 0) == (wanted > 0) or wanted < smallest("float64")
        assert abs(Fraction(got) - wanted) <= wanted * Fraction(1, 2**50) + smallest("float64")


@profile(100)
@given(st.sampled_from(["float16", "bfloat16", "float32", "float64"]), st.data())
def test_the_rows_asked_about_are_legal(dtype, data):
    """No entry is negative, and a row sums to one up to the rounding of its entries."""
    size = data.draw(st.integers(1, 8) | st.just(100))
    for row in data.draw(pairs(dtype, size)):
        numbers = exact(row)
        assert min(numbers) >= 0
        assert abs(sum(numbers) - 1) <= eps(dtype) / 2 + size * smallest(dtype)
        assert list(numbers) == row.fractions()


# step: the law ----------------------------------------------------------------------------------


@st.composite
def models(draw: st.DrawFn) -> tuple[int, int, dict[tuple[int, ...], tuple[Row, Row]]]:
    """K, V, and what draft and target say after every text of up to K tokens, sums exactly one."""
    positions = draw(st.sampled_from([3, 2, 1, 0, 2, 3]))
    size = draw(st.sampled_from([4, 3, 2, 4, 3]))
    grid = draw(st.sampled_from([4, 16, 64]))
    cuts = st.lists(st.integers(0, grid), min_size=size - 1, max_size=size - 1)
    rows = []
    for places in draw(st.lists(cuts, min_size=6, max_size=9)):
        ends = [0, *sorted(places), grid]
        rows.append(tuple(Fraction(b - a, grid) for a, b in itertools.pairwise(ends)))
    texts = [
        text for i in range(positions + 1) for text in itertools.product(range(size), repeat=i)
    ]
    chosen = st.lists(st.sampled_from(rows), min_size=len(texts), max_size=len(texts))
    both = zip(draw(chosen), draw(chosen), strict=True)
    return positions, size, dict(zip(texts, both, strict=True))


@profile(60)
@given(models())
def test_the_stated_rule_gives_the_distribution_of_the_target(model):
    """Summed over the drafts as the draft model draws them, the text is the target's own, exactly.

    Rows depend on the text before them. Behind the last token of a step the target goes on alone.
    """
    positions, size, rows = model
    emitted: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for tokens in itertools.product(range(size), repeat=positions):
        path = [rows[tokens[:i]] for i in range(positions + 1)]
        draft, target = [q for q, _ in path[:-1]], [p for _, p in path]
        drawn = Fraction(1)
        for q, t in zip(draft, tokens, strict=True):
            drawn *= q[t]
        if drawn:
            found = enumerated(draft, target, tokens)
            step = step_cases.Step(
                *(tuple(tuple(map(float, row)) for row in matrix) for matrix in (draft, target)),
                tokens,
            )
            assert step_cases.law(step) == found
            assert sum(found.values()) == 1
            for (text, n), probability in found.items():
                assert len(text) == n + 1
                emitted[text] += drawn * probability
    alone = {(): Fraction(1)}  # the target's own probability of a text
    ended = {(): Fraction(0)}  # the probability of that text with a step that ended within it
    for text, (_, p) in rows.items():
        for token, share in enumerate(p):
            longer = (*text, token)
            alone[longer] = alone[text] * share
            ended[longer] = ended[text] * share + emitted[longer]
    whole = [text for text in alone if len(text) == positions + 1]
    assert [ended[text] for text in whole] == [alone[text] for text in whole]


@profile(25)
@given(st.lists(steps(), min_size=4, max_size=8))
def test_the_law_the_checks_of_step_judge_by_is_the_stated_one(batch):
    """Also for rows whose rounded entries miss one, and where rounding leaves no residual."""
    for draft, target, tokens in batch:
        step = step_cases.Step(
            *(tuple(tuple(row) for row in a.numbers().tolist()) for a in (draft, target)),
            tuple(tokens.numbers().tolist()),
        )
        found = enumerated(split(draft), split(target), step.tokens)
        assert step_cases.law(step) == found
        assert set(step_cases.possible(step)) == set(found)


def undecided(seed: int) -> list[tuple[Array, Array, Array]]:
    """Steps of ordinary rows, in most of which several tokens may be rejected."""
    rng = random.Random(seed)
    sizes = [(rng.randint(1, 3), rng.randint(2, 4)) for _ in range(3)]
    return [step_cases.arguments(step_cases.random_step(rng, *size)) for size in sizes]


def law_holds(submission: Submission, rule: settings) -> None:
    @rule
    @given(st.lists(steps(), min_size=2, max_size=4), st.integers(0, 2**32 - 1))
    def holds(batch: list[tuple[Array, Array, Array]], seed: int) -> None:
        for arrays in [*batch, *undecided(seed)]:
            draft, target, tokens = arrays
            law = enumerated(split(draft), split(target), tokens.numbers().tolist())
            tally = submission.repeat(CALLS, *arrays, seeded(seed))
            for text, n in tally.values:
                assert (tuple(text.numbers().tolist()), n) in law, "an answer of probability 0"
            assert step_cases.bias(step_cases.events(law), tally.values, tally.counts) is None

    holds()


def test_the_answers_of_step_obey_the_enumerated_law(opened):
    """No impossible answer comes, and none so often or so rarely as once in a billion runs."""
    law_holds(opened("step", "solution.py").submission, profile(20))


@pytest.mark.parametrize(
    "name", ["resample_from_target", "shared_coin", "bonus_from_residual", "accepts_above_coin"]
)
def test_a_wrong_law_is_seen(opened, name):
    """The negative control: biased files fail the property that the reference keeps."""
    submission = opened("step", f"wrong/{name}.py").submission
    with pytest.raises((AssertionError, Mismatch)):
        law_holds(submission, control(60))


# step: the draws --------------------------------------------------------------------------------


def draws_hold(submission: Submission, draws: Helper, rule: settings) -> list[int]:
    """How many calls were compared, and how many were too close to be."""
    count = [0, 0]

    @rule
    @given(st.lists(steps(4, 8), min_size=6, max_size=12), st.integers(0, 2**32 - 1))
    def holds(batch: list[tuple[Array, Array, Array]], first: int) -> None:
        batch = [*batch, *barely_left(first)]
        seeds = [(first + 0x9E3779B1 * i) % 2**32 for i in range(len(batch))]
        coins = [exact(row) for row in rows_of(draws("coins", seeds, 4))]
        before, sizes, wanted = [], [], []
        for seed, row, (draft, target, ids) in zip(seeds, coins, batch, strict=True):
            size, tokens = target.shape[1], ids.numbers().tolist()
            races = draws("races", [seed] * 5, list(range(5)), size)
            answer, close = stated(split(draft), split(target), tokens, row, split(races))
            wanted.append(None if close else answer)
            before.append(min(answer[1] + 1, len(tokens)))
            sizes.append(size)
            count[close] += 1
        states = rows_of(draws("states", seeds, before, sizes))
        calls = [
            Case((*arrays, seeded(seed)), exactly(None))
            for arrays, seed in zip(batch, seeds, strict=True)
        ]
        outcomes = answers(submission, calls, "generator")
        for answer, state, outcome in zip(wanted, states, outcomes, strict=True):
            if answer is not None:
                text, n = outcome.value
                assert type(outcome.value) is tuple
                assert (text.library, text.dtype, text.shape) == ("torch", "int64", (n + 1,))
                assert type(n) is int
                assert (tuple(text.numbers().tolist()), n) == answer
                assert outcome.generator == state.data

    holds()
    return count


def barely_left(seed: int) -> list[tuple[Array, Array, Array]]:
    """Steps that reject a rare token nearly always, and leave next to nothing to draw from."""
    rng = random.Random(seed)
    batch = []
    for dtype in ("float32", "float64"):
        common = [Fraction(rng.randint(1, 256), 256) for _ in range(2)]
        rare, rarer = (Fraction(rng.randint(1, 7), 2**k) for k in (rng.randint(26, 30), 40))
        rows = [distribution([*common, *tail], dtype) for tail in ((rare, rarer), (rarer, rare))]
        draft, target = (stacked([row] * n, dtype, 4) for row, n in zip(rows, (1, 2), strict=True))
        batch.append((draft, target, array([2], "int64")))
    return batch


def rows_of(a: Array) -> list[Array]:
    """The rows of a matrix, each an array."""
    width = len(a.data) // a.shape[0]
    return [
        replace(a, shape=a.shape[1:], data=a.data[start : start + width], strides=None)
        for start in range(0, len(a.data), width)
    ]


def test_step_follows_the_stated_draws_on_any_legal_rows(opened):
    """The answer and the generator's state afterwards are those of the stated coins and pick."""
    grading = opened("step", "solution.py")
    compared, close = draws_hold(grading.submission, grading.draws, profile(20))
    assert compared > 20 * close


@pytest.mark.parametrize("name", ["residual_threshold", "ratio_epsilon", "copies_generator"])
def test_wrong_draws_are_seen(opened, name):
    """The negative control: faults that no sample shows fail the property of the draws."""
    grading = opened("step", f"wrong/{name}.py")
    with pytest.raises(AssertionError):
        draws_hold(grading.submission, grading.draws, control(60))
