"""The calls that the checks of `step` make, and the exact answers they expect.

Three parts: the procedure of the statement in exact fractions (`kept`, `weights`, `law`); the bound
that the statistical check judges by; and one function for every family of cases. Most cases are
`settled`: whatever the random numbers are, only one answer is possible. The others are built around
the numbers that a seeded generator gives next, which `draws.py` reads from the installed PyTorch.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, wraps
from typing import Any

import numpy as np

from grader.expect import Difference, Expectation, Mismatch, exactly, one_of
from grader.submission import Case
from grader.values import Array, Generator, Layout, array, seeded, show

Row = tuple[float, ...]
Answer = tuple[tuple[int, ...], int]  # the tokens of the answer, and how many drafted ones it keeps
Draws = Callable[..., Any]

EXACT_DTYPES = ("float32", "float64")  # half types are too coarse for all but settled cases
HALF_DTYPES = ("float16", "bfloat16")
ID_DTYPES = ("int64", "int32", "int16", "int8", "uint8")
NEVER = 2.0**-20  # a seeded case this close to a decision could go either way by rounding
CLEAR = 2.0**-7  # random cases keep this far from a decision: how exact one is has cases of its own


# The procedure, exactly -------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """The inputs of one call: K rows of the draft, K + 1 rows of the target, K drafted tokens.

    Rows are floats that the dtype of the call can hold; all arithmetic on them is exact.
    """

    draft: tuple[Row, ...]
    target: tuple[Row, ...]
    tokens: tuple[int, ...]

    @property
    def size(self) -> int:
        """The size V of the vocabulary."""
        return len(self.target[0])

    def accept_prob(self, i: int) -> Fraction:
        """The probability of keeping the token drafted at position i, once it is reached."""
        t = self.tokens[i]
        return min(Fraction(1), Fraction(self.target[i][t]) / Fraction(self.draft[i][t]))

    def is_close(self, i: int, coin: float) -> bool:
        """Whether the coin is so close to the accept probability, or to 1, that little decides."""
        ratio = self.target[i][self.tokens[i]] / self.draft[i][self.tokens[i]]
        return abs(min(1.0, ratio) - coin) <= CLEAR or coin >= 1 - CLEAR

    def weights(self, n: int, number: Callable[[float], Any] = Fraction) -> list[Any]:
        """What the last token is drawn from, not normalised, once n drafted tokens are kept.

        number: Fraction for exact weights, float for rounded ones.
        """
        target = [number(x) for x in self.target[n]]
        if n == len(self.tokens):
            return target
        pairs = zip(self.draft[n], target, strict=True)
        residual = [max(p - number(q), number(0)) for q, p in pairs]
        return residual if any(residual) else target


def kept(step: Step, coins: Sequence[float]) -> int:
    """How many drafted tokens these coins keep: each must be strictly below its ratio.

    Exact for coins and rows that float32 can hold, since float64 holds their products.
    """
    for i, (coin, t) in enumerate(zip(coins, step.tokens, strict=True)):
        if not coin * step.draft[i][t] < step.target[i][t]:
            return i
    return len(step.tokens)


def possible(step: Step) -> list[Answer]:
    """Every answer that can occur, found by comparisons alone."""
    result: list[Answer] = []
    for n, t in enumerate(step.tokens):
        q, p = step.draft[n], step.target[n]
        if p[t] < q[t]:
            left = [x for x in range(step.size) if p[x] > q[x]]
            left = left or [x for x in range(step.size) if p[x] > 0]
            result += [((*step.tokens[:n], x), n) for x in left]
        if p[t] == 0:
            return result
    bonus = [x for x, weight in enumerate(step.target[-1]) if weight > 0]
    return result + [((*step.tokens, x), len(step.tokens)) for x in bonus]


def settled(step: Step) -> Answer:
    """The answer of a step that leaves nothing to chance; raises ValueError for any other."""
    (only,) = possible(step)
    return only


def law(step: Step) -> dict[Answer, Fraction]:
    """The exact probability of every answer that can occur."""
    result: dict[Answer, Fraction] = {}
    reached = Fraction(1)
    for n in range(len(step.tokens) + 1):
        keep = step.accept_prob(n) if n < len(step.tokens) else Fraction(0)
        weights = step.weights(n)
        for token, weight in enumerate(weights):
            probability = reached * (1 - keep) * weight / sum(weights)
            if probability:
                result[(*step.tokens[:n], token), n] = probability
        reached *= keep
    return result


# The statistical check --------------------------------------------------------------------------

ALPHA = 1e-9  # how often a right submission may fail the statistical check, at most
CALLS = 1000
FIXTURE_GENERATOR = seeded(2023)


@dataclass(frozen=True)
class Event:
    """Something that a call may do, with its exact probability; `answers` are those that do it."""

    name: str
    answers: frozenset[Answer]
    probability: Fraction


@cache
def fixture() -> tuple[tuple[Array, Array, Array], tuple[Event, ...]]:
    """The inputs of the statistical check and the events it counts.

    Accept probabilities of 1/2 and 3/4, so that keeping and rejecting cannot be exchanged unseen;
    drafted tokens that are not the likeliest of their row; residuals of two tokens, of which the
    draft never proposes one; a bonus row that forbids a token.
    """
    rows = (
        array([[0.6, 0.2, 0.2, 0.0], [0.5, 0.1, 0.4, 0.0]]),
        array([[0.2, 0.1, 0.3, 0.4], [0.1, 0.4, 0.3, 0.2], [0.0, 0.1, 0.3, 0.6]]),
        array([1, 2], "int64"),
    )
    draft, target, tokens = (a.numbers().tolist() for a in rows)
    step = Step(tuple(map(tuple, draft)), tuple(map(tuple, target)), tuple(tokens))
    return rows, events(law(step))


def events(answers: Mapping[Answer, Fraction]) -> tuple[Event, ...]:
    """Every answer by itself, and every number of kept tokens that has several answers.

    The last such number is left out: the others and the answers say all there is to it.
    """
    single = [
        Event(f"the answer (tensor({list(tokens)}), {n})", frozenset([(tokens, n)]), probability)
        for (tokens, n), probability in answers.items()
    ]
    counts = sorted({n for _, n in answers})[:-1]
    several = []
    for n in counts:
        group = {a: w for a, w in answers.items() if a[1] == n}
        if len(group) > 1:
            plural = "" if n == 1 else "s"
            name = f"{n} kept token{plural}" if n else "a rejection at position 0"
            several.append(Event(name, frozenset(group), sum(group.values(), Fraction(0))))
    return (*single, *several)


def surprise(times: int, count: int, probability: float) -> float:
    """times * KL(count / times, probability) in nats: infinite for what cannot happen.

    In independent calls it reaches x with a probability of at most 2 exp(-x) (Chernoff's bound,
    which holds at every number of calls and every probability).
    """
    total = 0.0
    for seen, expected in ((count, probability), (times - count, 1 - probability)):
        if seen and not expected > 0:
            return math.inf
        if seen:
            total += seen * math.log(seen / (times * expected))
    return total


def threshold(number_of_events: int, alpha: float = ALPHA) -> float:
    """The surprise that no event may exceed, so that all together do so with less than `alpha`."""
    return math.log(2 * number_of_events / alpha)


def most_surprising(
    judged: Sequence[Event], counts: Mapping[Answer, int]
) -> tuple[Event, int] | None:
    """The event furthest beyond the threshold and how often it came, or None if none is beyond.

    `counts` holds only answers that the law allows.
    """
    times = sum(counts.values())
    limit = threshold(len(judged))
    worst: tuple[float, Event, int] | None = None
    for event in judged:
        count = sum(k for answer, k in counts.items() if answer in event.answers)
        by = surprise(times, count, float(event.probability))
        if by > limit and (worst is None or by > worst[0]):
            worst = by, event, count
    return worst and worst[1:]


def bias(judged: Sequence[Event], values: Sequence[Any], counts: Sequence[int]) -> Mismatch | None:
    """What is wrong with a sample of answers, `values[i]` having come `counts[i]` times.

    Types are forgiven until the law has been judged: a wrong type is no bias.
    """
    times = sum(counts)
    allowed = {a for event in judged for a in event.answers}
    came: dict[Answer, int] = {}
    form: Difference | None = None
    for value, count in zip(values, counts, strict=True):
        found = next((a for a in allowed if answer(a).likeness(value) == "same"), None)
        if found is not None:
            came[found] = came.get(found, 0) + count
            form = form or answer(found).difference(value)
        elif any(answer(a).likeness(value) == "different" for a in allowed):
            return Mismatch(
                f"{count} of {times} calls returned {show(value)}, an answer of probability 0",
                wrong=True,
            )
        else:
            form = answer(next(iter(allowed))).difference(value)
            break
    worst = most_surprising(judged, came)
    if worst is not None and sum(came.values()) == times:
        event, count = worst
        wanted = float(event.probability)
        return Mismatch(
            f"{event.name} came in {count} of {times} calls, where about {round(times * wanted)} "
            f"are expected (probability {wanted:.4g}); a right function is that far off in fewer "
            "than one of a billion runs",
            wrong=True,
        )
    return Mismatch(form.text, kind=f"{form.place}: wrong {form.kind}") if form else None


# Calls ------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)  # answers to secret inputs are other ones in every grading
def answer(found: Answer, device: str = "cpu") -> Expectation:
    """The expectation of exactly this answer, in exactly the types of the statement."""
    tokens, n = found
    return exactly((array(list(tokens), "int64", device=device), n))


def arguments(
    step: Step,
    dtype: str = "float32",
    ids: str = "int64",
    layouts: tuple[Layout, Layout] = ("contiguous", "contiguous"),
) -> tuple[Array, Array, Array]:
    """The three arrays of a call; layouts: of the rows and of the ids."""
    rows, row = layouts
    return (
        array(step.draft or np.empty((0, step.size)), dtype, layout=rows),
        array(step.target, dtype, layout=rows),
        array(step.tokens, ids, layout=row),
    )


def case(
    step: Step,
    seed: int,
    found: Answer | Iterable[Answer] | None = None,
    *,
    dtype: str = "float32",
    ids: str = "int64",
    note: str = "",
    shared: bool = False,
    state_after: bytes | None = None,
    layouts: tuple[Layout, Layout] = ("contiguous", "contiguous"),
) -> Case:
    """One call with a generator seeded with `seed`.

    found: the answer, or several that are all right; None for that of a settled step. layouts: of
    the rows and of the ids.
    """
    if found is None:
        found = settled(step)
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], int):
        expects = answer(found)
    else:
        expects = one_of(*(answer(choice) for choice in found))
    return Case(
        args=(*arguments(step, dtype, ids, layouts), seeded(seed, shared=shared)),
        expects=expects,
        note=note,
        state_after=state_after,
    )


def relabelled(step: Step, names: Sequence[int]) -> Step:
    """The same step with token i called names[i]: no constant answer fits several names."""
    where = sorted(range(len(names)), key=names.__getitem__)

    def renamed(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(tuple(row[i] for i in where) for row in rows)

    return Step(renamed(step.draft), renamed(step.target), tuple(names[t] for t in step.tokens))


def after(rows: Sequence[Row], drafted: Sequence[int], step: Step) -> Step:
    """`step` behind positions at which draft and target agree, so that the drafted token stays."""
    return Step((*rows, *step.draft), (*rows, *step.target), (*drafted, *step.tokens))


def one_hot(*tokens: int, size: int) -> tuple[Row, ...]:
    """Rows that are certain of one token each."""
    nothing = (0.0,) * size
    return tuple((*nothing[:token], 1.0, *nothing[token + 1 :]) for token in tokens)


REMEMBERED = 4


def remembered(build: Callable[..., list[Case]]) -> Callable[..., list[Case]]:
    """Keeps the cases that `build` made lately, so that grading many files makes them once.

    They are known by the seeds, numbers and random states it was given. The workers it may ask are
    no part of that: one process grades in one PyTorch, where they always answer the same. Random
    numbers are left as building the cases leaves them, whatever is asked for next.
    """
    lately: dict[tuple[Any, ...], tuple[list[Case], list[Any]]] = {}

    @wraps(build)
    def known(*arguments: Any) -> list[Case]:
        drawn_from = [a for a in arguments if isinstance(a, random.Random)]
        key = tuple(_identity(a) for a in arguments if not callable(a))
        if key not in lately:
            made = build(*arguments)
            lately[key] = made, [rng.getstate() for rng in drawn_from]
            if len(lately) > REMEMBERED:
                del lately[next(iter(lately))]
        made, states = lately[key]
        for rng, state in zip(drawn_from, states, strict=True):
            rng.setstate(state)
        return made

    return known


def _identity(argument: Any) -> Any:
    if isinstance(argument, random.Random):
        return argument.getstate()
    if isinstance(argument, Array):
        return argument.dtype, argument.shape, argument.data
    if isinstance(argument, tuple | list | range):
        return tuple(map(_identity, argument))
    return argument


# Settled cases: right or wrong for any stream of random numbers ---------------------------------


def certain(drafted: Sequence[int], wanted: Sequence[int], size: int) -> Step:
    """One-hot rows: the draft is certain of `drafted`, the target of `wanted` (one more)."""
    return Step(one_hot(*drafted, size=size), one_hot(*wanted, size=size), tuple(drafted))


@cache
def all_kept() -> list[Case]:
    """Certain rows that agree at every position, so that the answer ends with the bonus token."""
    return [
        case(certain((0, 1, 2), (0, 1, 2, 3), 4), 1, note="3 drafted tokens, all kept"),
        case(certain((3, 0), (3, 0, 1), 4), 2, note="2 drafted tokens, both kept"),
        case(certain((2,), (2, 0), 3), 3, note="1 drafted token, kept"),
        case(certain((1, 1, 0, 1), (1, 1, 0, 1, 1), 2), 4, dtype="float64", note="4, all kept"),
    ]


@cache
def first_rejection() -> list[Case]:
    """Certain rows that disagree at one position; those behind it agree again."""
    return [
        case(certain((0, 1, 2), (2, 1, 2, 3), 4), 5, note="rejected at position 0 of 3"),
        case(certain((0, 1, 2), (0, 3, 2, 1), 4), 6, note="rejected at position 1 of 3"),
        case(certain((0, 1, 2), (0, 1, 3, 0), 4), 7, note="rejected at position 2, the last"),
        case(certain((1, 2), (0, 2, 1), 3), 8, dtype="float64", note="rejected at position 0 of 2"),
        case(certain((0, 1, 0, 1), (0, 1, 1, 0, 1), 2), 9, note="rejected at position 2 of 4"),
    ]


@cache
def half_types() -> list[Case]:
    """Settled cases in float16 and bfloat16."""
    kept_then_rejected = after(
        [(0.5, 0.25, 0.25)],
        [1],
        Step(((0.5, 0.0, 0.5),), ((0.0, 0.0, 1.0), (0.25, 0.25, 0.5)), (0,)),
    )
    return [
        case(step, seed, dtype=dtype, note=f"{dtype}: {what}")
        for dtype in HALF_DTYPES
        for seed, (step, what) in enumerate(
            [
                (certain((0, 1, 2), (0, 1, 2, 3), 4), "all kept"),
                (certain((1, 2), (3, 2, 1), 4), "rejected at position 0"),
                (kept_then_rejected, "one kept, then a rejection"),
            ]
        )
    ]


@cache
def id_types() -> list[Case]:
    """An accepting and a rejecting call with ids of every integer dtype."""
    return [
        case(step, 11, dtype=dtype, ids=ids, note=f"{ids} ids, {dtype} rows, {what}")
        for ids, dtype in zip(ID_DTYPES, itertools.cycle(EXACT_DTYPES))
        for step, what in [
            (certain((2, 0), (2, 0, 1), 3), "both kept"),
            (certain((2, 0), (2, 1, 0), 3), "one kept"),
        ]
    ]


@cache
def generator_forms() -> list[Case]:
    """Settled calls with the generator by position, by name, None, and not given at all."""
    result = []
    for step in (certain((0, 2), (0, 2, 1), 3), certain((0, 2), (1, 2, 0), 3)):
        rows, expects = arguments(step), answer(settled(step))
        result += [
            Case((*rows, seeded(13)), expects, note="generator by position"),
            Case(rows, expects, {"generator": seeded(13)}, note="generator by name"),
            Case((*rows, None), expects, note="None by position"),
            Case(rows, expects, {"generator": None}, note="None by name"),
            Case(rows, expects, note="no generator argument"),
            Case(arguments(step, "bfloat16"), expects, note="no generator, bfloat16 rows"),
        ]
    return result


@cache
def equal_rows() -> list[Case]:
    """Draft and target agree bit for bit but are not certain.

    Twenty seeds of rows that say little; drafted tokens as rare as the dtype allows, subnormal ones
    too; and half types met by coins so near one that a rounded coin is 1.
    """
    rng = random.Random("equal rows")
    result = []
    for seed in range(20):
        positions, size = 1 + seed % 4, 2 + seed % 5
        rows = tuple(random_row(rng, size) for _ in range(positions))
        drafted = tuple(rng.randrange(size) for _ in rows)
        bonus = rng.randrange(size)
        step = Step(rows, (*rows, *one_hot(bonus, size=size)), drafted)
        found = ((*drafted, bonus), positions)
        result.append(case(step, seed, found, dtype=EXACT_DTYPES[seed % 2], note="equal rows"))
    for dtype, power in (("float32", 100), ("float32", 127), ("float64", 1000), ("float64", 1023)):
        for seed, names in ((1, (1, 2, 0)), (2, (2, 0, 1))):  # coins above one half
            rare = (2.0**-power, 0.5, 0.5)
            step = relabelled(Step((rare,), (rare, (0.0, 0.0, 1.0)), (0,)), names)
            found = ((names[0], names[2]), 1)
            note = f"equal rows, q[t] = 2^-{power}, {dtype}"
            result.append(case(step, seed, found, dtype=dtype, note=note))
    for i, seed in enumerate(HIGH_COIN_SEEDS):
        same = ((0.25, 0.5, 0.25), (0.5, 0.25, 0.25))[i % 2]
        t, bonus = i % 3, (i + 1) % 3
        step = Step((same,), (same, *one_hot(bonus, size=3)), (t,))
        note = f"equal rows, {HALF_DTYPES[i % 2]}"
        result.append(case(step, seed, ((t, bonus), 1), dtype=HALF_DTYPES[i % 2], note=note))
    return result


# Seeds whose first coin is above 1 - 2^-13, which float16 and bfloat16 round to 1. With other coins
# the cases say less and hold as well.
HIGH_COIN_SEEDS = [7977, 10642, 14713, 17610]


@cache
def long_drafts() -> list[Case]:
    """Up to 130 positions, kept to the end or rejected late; one answer is possible."""
    result = []
    for seed, (positions, end) in enumerate([(10, 10), (10, 8), (40, 40), (130, 125)]):
        drafted = [(i * i + seed) % 3 for i in range(positions)]
        wanted = [*drafted, 3]
        wanted[end] = 3
        step = certain(drafted, wanted, 4)
        dtype = EXACT_DTYPES[seed % 2]
        result.append(case(step, seed, dtype=dtype, note=f"K = {positions}, {end} kept"))
    return result


@cache
def large_vocabularies() -> list[Case]:
    """Ids that neither a narrow integer nor a half type holds; one answer is possible."""
    result = []
    for dtype, size, t in (
        ("bfloat16", 300, 257),
        ("float16", 5000, 2049),
        ("float32", 5000, 4097),
    ):
        for wanted, found in (
            ((t, size - 1), ((t, size - 1), 1)),
            ((size - 1, 0), ((size - 1,), 0)),
        ):
            step = certain((t,), wanted, size)
            result.append(case(step, size, found, dtype=dtype, note=f"V = {size}, {dtype}"))
    for ids in ("uint8", "int8", "int16"):
        for step in (certain((5, 6), (5, 299, 0), 300), certain((7,), (7, 299), 300)):
            result.append(case(step, 300, ids=ids, note=f"V = 300, {ids} ids"))
    return result


@cache
def forbidden_token() -> list[Case]:
    """The target forbids the drafted token, at position 0 or 1; 24 seeds, every labelling."""
    forbidden = Step(((0.5, 0.25, 0.25),), ((0.0, 0.5, 0.5), (0.25, 0.5, 0.25)), (0,))
    result = []
    for seed, names in enumerate(list(itertools.permutations(range(3))) * 4):
        step = relabelled(forbidden, names)
        if seed % 3 == 2:
            step = after([(0.25, 0.5, 0.25)], [names[1]], step)
        t, n = names[0], len(step.tokens) - 1
        allowed = [((*step.tokens[:n], names[i]), n) for i in (1, 2)]
        note = f"target_probs[{n}][{t}] = 0 and {t} was drafted"
        result.append(case(step, seed, allowed, dtype=EXACT_DTYPES[seed % 2], note=note))
    return result


@cache
def small_residual() -> list[Case]:
    """All that is left over is tiny, on a token the draft never proposes.

    2^-100 and, nearly the smallest normal number, 2^-125; their like in the other dtypes.
    """
    result = []
    for seed, names in enumerate(list(itertools.permutations(range(3))) * 2):
        dtype, power = (
            (("float32", 100), ("float64", 1000)),
            (("float32", 125), ("float64", 1021)),
            (("float16", 13), ("bfloat16", 100)),
        )[seed // 4][seed % 2]
        tiny = 2.0**-power
        step = relabelled(Step(((tiny, 1.0, 0.0),), ((0.0, 1.0, tiny), (1.0, 0, 0)), (0,)), names)
        if seed % 3 == 2:
            step = after([(0.5, 0.25, 0.25)], [names[1]], step)
        result.append(case(step, seed, dtype=dtype, note=f"a residual of 2^-{power}, {dtype}"))
    return result


@cache
def zero_residual() -> list[Case]:
    """Rounded rows that reject for sure and leave nothing over: the target row decides."""
    result = []
    for dtype, power in (("float32", 30), ("float64", 60), ("bfloat16", 12), ("float16", 14)):
        nothing = Step(((1.0, 2.0**-power),), ((1.0, 0.0), (0.0, 1.0)), (1,))
        for seed, names in enumerate([(0, 1), (1, 0)]):
            step = relabelled(nothing, names)
            later = after([(0.5, 0.5)], [names[1]], step)
            result += [
                case(step, seed, dtype=dtype, note=f"no residual at position 0, {dtype}"),
                case(later, seed, dtype=dtype, note=f"no residual at position 1, {dtype}"),
            ]
    return result


def zero_residual_draws(draws: Draws) -> list[Case]:
    """Nothing is left over and the target row has two tokens: one draw from it decides."""
    steps, dtypes = [], []
    for i, names in enumerate(list(itertools.permutations(range(3))) * 2):
        dtype, power = (("float32", 30), ("float64", 60))[i // 2 % 2]
        draft, target = (0.25, 0.75, 2.0**-power), (0.25, 0.75, 0.0)
        step = relabelled(Step((draft,), (target, (0.0, 0.0, 1.0)), (2,)), names)
        steps.append(after([(0.5, 0.25, 0.25)], [i % 3], step) if i % 2 else step)
        dtypes.append(dtype)
    seeds, before = list(range(40, 40 + len(steps))), [len(step.tokens) for step in steps]
    sizes = [3] * len(steps)
    flat = [w for step in steps for w in step.target[-2]]
    chosen, _ = draws("picks", seeds, before, sizes, array(flat, "float64"))
    states = _states(draws, seeds, before, sizes)
    return [
        case(
            step,
            seed,
            ((*step.tokens[:-1], pick), len(step.tokens) - 1),
            dtype=dtype,
            state_after=state,
            note=f"no residual at position {len(step.tokens) - 1}, {dtype}",
        )
        for step, seed, pick, dtype, state in zip(
            steps, seeds, chosen.numbers().tolist(), dtypes, states, strict=True
        )
    ]


def _states(
    draws: Draws, seeds: Sequence[int], before: Sequence[int], sizes: Sequence[int]
) -> list[bytes]:
    """The state of each seed's generator after its coins and its one pick."""
    return _rows(draws("states", list(seeds), list(before), list(sizes)))


def _rows(states: Array) -> list[bytes]:
    width = states.shape[1]
    return [states.data[i * width : (i + 1) * width] for i in range(states.shape[0])]


@cache
def nothing_drafted() -> list[Case]:
    """K = 0: the answer is the bonus token alone."""
    return [
        case(
            Step((), one_hot(token, size=size), ()),
            seed,
            dtype=dtype,
            note=f"K = 0, V = {size}",
        )
        for seed, (token, size, dtype) in enumerate(
            [(2, 4, "float32"), (0, 2, "float64"), (1, 3, "float32"), (2, 3, "float16")]
        )
    ] + [
        case(Step((), one_hot(2, size=4), ()), 5, ids="int8", note="K = 0, int8 ids"),
        case(Step((), one_hot(1, size=4), ()), 6, layouts=_READ_ONLY, note="K = 0, read-only"),
    ]


_READ_ONLY: tuple[Layout, Layout] = ("read_only", "read_only")


@cache
def one_word_vocabulary() -> list[Case]:
    """V = 1: every token is 0, and all are kept; one case of V = 2 shows what is special."""
    return [
        *(
            case(certain((0,) * k, (0,) * (k + 1), 1), k, dtype=dtype, note=f"V = 1, K = {k}")
            for k, dtype in [(2, "float32"), (1, "float64"), (3, "float32"), (2, "bfloat16")]
        ),
        case(certain((0, 0), (1, 0, 0), 2), 4, note="V = 2, K = 2"),
    ]


@cache
def strided() -> list[Case]:
    """Rows in transposed storage or in every second column; ids from a longer tensor."""
    steps = [
        (certain((0, 1, 2), (0, 1, 2, 3), 4), "all kept"),
        (certain((0, 1, 2), (0, 3, 2, 1), 4), "rejected at position 1"),
        (
            after(
                [(0.5, 0.25, 0.25)],
                [2],
                Step(((0.25, 0.5, 0.25),), ((0.25, 0.0, 0.75), (1.0, 0.0, 0.0)), (1,)),
            ),
            "one kept, then a rejection",
        ),
    ]
    layouts: list[tuple[Layout, Layout, str]] = [
        ("column", "contiguous", "rows of a transposed matrix"),
        ("every_second", "contiguous", "every second column of a wider matrix"),
        ("contiguous", "every_second", "every second id of a longer tensor"),
        ("column", "column", "a transposed matrix and a column of ids"),
    ]
    return [
        case(step, seed, dtype=EXACT_DTYPES[seed % 2], layouts=(rows, ids), note=f"{how}: {what}")
        for seed, ((step, what), (rows, ids, how)) in enumerate(itertools.product(steps, layouts))
    ] + [
        case(step, 12, dtype=dtype, ids="int32", layouts=("column", "every_second"), note=note)
        for dtype in (*HALF_DTYPES, "float32")
        for step, note in (
            (certain((0, 12), (0, 12, 3), 20), f"{dtype}, V = 20, not contiguous: all kept"),
            (certain((7, 12), (7, 4, 3), 20), f"{dtype}, V = 20, not contiguous: one kept"),
        )
    ]


@cache
def touchable() -> list[Case]:
    """Calls that would show a write into rows or ids: all kept, rejected early, rejected late.

    Half of them have inputs in which PyTorch itself refuses to write, and names the line.
    """
    drafted = ((0.5, 0.25, 0.25), (0.25, 0.5, 0.25))
    kept_all = Step(drafted, (*drafted, (0.0, 1.0, 0.0)), (0, 2))
    early = Step(drafted, ((0.0, 0.25, 0.75), drafted[1], (0.5, 0.25, 0.25)), (0, 2))
    late = Step(drafted, (drafted[0], (0.75, 0.25, 0.0), (0.25, 0.5, 0.25)), (0, 2))
    layouts: tuple[Layout, ...] = ("contiguous", "read_only")
    return [
        case(step, 21, dtype=dtype, layouts=(layout, layout), note=what)
        for layout in layouts
        for dtype in EXACT_DTYPES
        for step, what in (
            (kept_all, "all kept"),
            (early, "rejected at position 0"),
            (late, "rejected at position 1"),
        )
    ] + varied()


@cache
def varied() -> list[Case]:
    """Two settled calls each, one kept and one rejected, of shapes and types of many kinds."""
    result = []
    kept_all, rejected = certain((0, 1, 2), (0, 1, 2, 3), 4), certain((3, 1, 2), (3, 0, 2, 1), 4)
    for step in (kept_all, rejected):
        result += [case(step, 3, dtype=dtype, note=f"{dtype} rows") for dtype in HALF_DTYPES]
        result += [
            case(step, 3, layouts=("column", "every_second"), note="not contiguous"),
            case(step, 3, dtype="float64", ids="int8", note="int8 ids"),
            Case(arguments(step), answer(settled(step)), note="no generator"),
        ]
    again = certain((3, 1, 0), (3, 1, 0, 2), 4)  # as many tokens as `kept_all` leaves
    result += [
        case(again, 3, ids="int8", note="int8 ids"),
        Case(arguments(again), answer(settled(again)), note="no generator"),
    ]
    tiny = 2.0**-100
    for token in (1, 2):
        bonus = Step((), one_hot(token, size=4), ())
        wide = certain((7, 12), (7, 12 + token, 3), 20)
        left = Step(((tiny, 1.0, 0.0),), ((0.0, 1.0, tiny), (0.25, 0.5, 0.25)), (0,))
        left = relabelled(left, (0, token, 3 - token))
        long = certain((0, 1) * 4, (*(0, 1) * 4, token), 3)
        result += [
            case(bonus, token, note="K = 0"),
            case(certain((0, 0), (0, 0, 0), 1), token, note="V = 1"),
            case(wide, token, note="V = 20"),
            case(left, token, note="a residual of 2^-100"),
            case(long, token, note="K = 8"),
        ]
    return result


@cache
def unsettled() -> list[Case]:
    """Random calls, K = 3 and V = 8; any answer that the law allows will do."""
    rng = random.Random("unsettled")
    result = []
    for seed in range(6):
        step = random_step(rng, 3, 8)
        dtype = EXACT_DTYPES[seed % 2]
        result.append(case(step, seed, possible(step), dtype=dtype, note="K = 3, V = 8"))
    return result


def on_device(device: str, own_generator: bool = False) -> list[Case]:
    """Settled calls with all three inputs on a device, and no generator, or one of that device.

    What is drawn there is not compared: a device has random numbers of its own. With a generator
    the tokens may come back on the CPU: where they belong is asked without one.
    """
    steps = [
        *(certain((t,), ((t + 2) % 4, 0), 4) for t in range(4)),
        certain((1, 0), (1, 0, 2), 4),
        certain((0, 1, 2), (0, 1, 3, 2), 4),
        certain((3, 2, 1), (3, 0, 1, 2), 4),
    ]
    result = []
    for step in steps:
        inputs = tuple(a.to(device=device) for a in arguments(step))
        found = settled(step)
        note = f"K = {len(step.tokens)}, {found[1]} kept, on {device}"
        expects = answer(found, device)
        if own_generator:
            inputs += (seeded(len(result), device=device),)
            expects, note = one_of(expects, answer(found)), f"{note} like the generator"
        result.append(Case(inputs, expects, note=note))
    return result


# Cases built around the stated draws ------------------------------------------------------------


def bracket_accept(draws: Draws, seeds: Sequence[int]) -> list[Case]:
    """Accept probabilities just above and just below the coin of their position.

    Rows before the position agree, rows behind it too, and any replacement will do: the answer says
    how the coin was compared and nothing else. An accept probability that is off by 2^-16 is seen
    (2^-22 in float64 where q[t] is 1/2: a comparison in float32 still tells), as is an epsilon of
    1e-10 in the ratio where q[t] is 2^-40.
    """
    coins = draws("coins", list(seeds), 3).numbers()
    result = []
    orders = itertools.cycle(itertools.permutations(range(3)))
    for number, (seed, row) in enumerate(zip(seeds, coins.tolist(), strict=True)):
        for i, coin in enumerate(row):
            if not 2**-5 < coin < 1 - 2**-5:
                continue
            names = next(orders)
            q = (0.5, 2.0**-3, 2.0**-6, 2.0**-40)[(number + i) % 4]
            dtype = EXACT_DTYPES[(number + i) % 2]
            sides = [("below", coin - 2**-16), ("above", coin + 2**-16)]
            if i == number % 3:
                q, dtype = 0.5, "float64"
                sides += [("below", coin - 2**-22), ("above", coin + 2**-22)]
            for side, ratio in sides:
                if q == 2.0**-40:
                    draft, target = (q, 0.5, 0.5 - q), (q * ratio, 0.25, 0.75 - q * ratio)
                else:
                    draft, target = (q, 1 - q, 0.0), (q * ratio, 1 - q, q * (1 - ratio))
                step = relabelled(_at(i, draft, target), names)
                result.append(
                    case(
                        step,
                        seed,
                        _any_replacement(step, i) if side == "below" else settled_by(step, 3),
                        dtype=dtype,
                        note=f"accept probability just {side} the coin of position {i}",
                    )
                )
    return result + _rare_brackets(seeds, coins[:, 0].tolist())


def bracket_extremes(draws: Draws) -> list[Case]:
    """The same where the coin is next to 0 or to 1, and an accept probability of next to nothing.

    A rule that keeps whatever is likely enough, or rejects whatever is not, differs nowhere else.
    """
    coins = draws("coins", EXTREME_COIN_SEEDS, 1).numbers()[:, 0].tolist()
    result = []
    for number, (seed, coin) in enumerate(zip(EXTREME_COIN_SEEDS, coins, strict=True)):
        if 0.01 < coin < 0.95:
            continue  # another PyTorch gives this seed another coin
        names, dtype = _ORDERS_OF_3[number % 6], EXACT_DTYPES[number % 2]
        for side, ratio in (("below", coin - 2**-16), ("above", coin + 2**-16)):
            step = _at(0, (0.5, 0.5, 0.0), (0.5 * ratio, 0.5, 0.5 * (1 - ratio)))
            step = relabelled(step, names)
            found = _any_replacement(step, 0) if side == "below" else settled_by(step, 3)
            note = f"accept probability just {side} a coin of {coin:.5f}"
            result.append(case(step, seed, found, dtype=dtype, note=note))
    for seed, names in enumerate(_ORDERS_OF_3[:4]):
        step = relabelled(_at(0, (0.5, 0.5, 0.0), (2.0**-22, 0.5, 0.5 - 2.0**-22)), names)
        found = _any_replacement(step, 0)
        result.append(case(step, seed, found, dtype="float64", note="accept probability of 2^-21"))
    return result


# Seeds whose first coin is above 0.955, 0.98, 0.999 and 0.9999, and below 0.0003 and 0.0014.
EXTREME_COIN_SEEDS = [533, 27, 15166, 27200, 11179, 37419]


def _rare_brackets(seeds: Sequence[int], coins: Sequence[float]) -> list[Case]:
    """The same about a drafted token of 2^-100 (2^-1000 in float64), 2^-7 around its coin.

    Logarithms of so small numbers, taken in float32, leave no more than 16 bits of their ratio.
    """
    result = []
    usable = [(s, coin) for s, coin in zip(seeds, coins, strict=True) if 2**-5 < coin < 1 - 2**-5]
    for number, (seed, coin) in enumerate(usable[:2]):
        dtype, power = (("float32", 100), ("float64", 1000))[number % 2]
        q = 2.0**-power
        names = _ORDERS_OF_3[number % 6]
        for side, ratio in (("below", coin - 2**-7), ("above", coin + 2**-7)):
            step = relabelled(_at(0, (q, 0.5, 0.5), (q * ratio, 0.25, 0.75)), names)
            found = _any_replacement(step, 0) if side == "below" else settled_by(step, 3)
            note = f"q[t] = 2^-{power}, accept probability {side} the coin"
            result.append(case(step, seed, found, dtype=dtype, note=note))
    return result


_ORDERS_OF_3 = list(itertools.permutations(range(3)))


def _any_replacement(step: Step, i: int) -> list[Answer]:
    """The answers with a rejection at position i, whatever the replacement."""
    return [((*step.tokens[:i], token), i) for token in range(step.size)]


def settled_by(step: Step, n: int) -> Answer:
    """The answer once n tokens are kept, where only one token can follow."""
    (token,) = (i for i, weight in enumerate(step.weights(n, float)) if weight > 2**-50)
    return (*step.tokens[:n], token), n


def _at(i: int, draft: Row, target: Row) -> Step:
    """Three positions that differ at position i only; token 0 is drafted there, the bonus is 1."""
    same = ((0.25, 0.5, 0.25), (0.5, 0.25, 0.25), (0.125, 0.5, 0.375))
    drafted = [1, 2, 0]
    drafted[i] = 0
    return Step(
        (*same[:i], draft, *same[i + 1 :]),
        (*same[:i], target, *same[i + 1 :], (0.0, 1.0, 0.0)),
        tuple(drafted),
    )


def bracket_residual(draws: Draws, seeds: Sequence[int]) -> list[Case]:
    """Residuals of two tokens, tipped by 0.02 % to either side of the draw that decides them.

    `torch.multinomial` picks the largest weight / E, so weights in the ratio of two E are a draw.
    In every third seed next to nothing is left over, on tokens that the draft never proposes.
    """
    result = []
    orders = itertools.cycle(_ORDERS)
    races = draws("races", list(seeds), [1 + k % 2 for k in range(len(seeds))], 4).numbers()
    for number, (seed, race) in enumerate(zip(seeds, races.tolist(), strict=True)):
        for names in _even_orders(race, orders, 1, 2):
            first, second = race[names[1]], race[names[2]]
            for winner, tip in ((1, 1 + 2**-12), (2, 1 - 2**-12)):
                share = _share(first * tip, second)
                draft: Row = (0.5, 0.125, 0.125, 0.25)
                target: Row = (0.0, 0.125 + share / 2, 0.625 - share / 2, 0.25)
                if number % 3 == 2:
                    left = 2.0**-20 if number % 2 else 2.0**-100
                    draft = (left, 0.0, 0.0, 1 - left)
                    target = (0.0, share * left, (1 - share) * left, 1 - left)
                step = relabelled(Step((draft,), (target, (1.0, 0.0, 0.0, 0.0)), (0,)), names)
                if number % 2:
                    step = after([(0.25, 0.25, 0.125, 0.375)], [number % 4], step)
                n = len(step.tokens) - 1
                result.append(
                    case(
                        step,
                        seed,
                        ((*step.tokens[:n], names[winner]), n),
                        dtype=EXACT_DTYPES[number // 2 % 2],
                        note=f"residual weights tipped by 0.02 %, rejected at position {n}",
                    )
                )
    return result


_ORDERS = random.Random("orders").sample(list(itertools.permutations(range(4))), 24)


def _even_orders(
    race: Sequence[float], orders: Iterator[tuple[int, ...]], one: int, other: int
) -> Iterator[tuple[int, ...]]:
    """The next two orders in which the exponentials of two tokens are not too far apart.

    The race is run in the order of the renamed tokens.
    """
    close = (
        names
        for names in itertools.islice(orders, len(_ORDERS))
        if 2**-4 < race[names[one]] / race[names[other]] < 2**4
    )
    return itertools.islice(close, 2)


def _share(first: float, second: float) -> float:
    """first / (first + second), rounded so that float32 holds it, its half and its rest exactly."""
    return round(first / (first + second) * 2**22) / 2**22


def bracket_bonus(draws: Draws, seeds: Sequence[int]) -> list[Case]:
    """Bonus rows of two tokens, tipped by 0.02 % to either side of the draw that decides them."""
    result = []
    orders = itertools.cycle(_ORDERS)
    races = draws("races", list(seeds), [1 + k % 2 for k in range(len(seeds))], 4).numbers()
    for number, (seed, race) in enumerate(zip(seeds, races.tolist(), strict=True)):
        positions = 1 + number % 2
        for names in _even_orders(race, orders, 0, 1):
            first, second = race[names[0]], race[names[1]]
            for winner, tip in ((0, 1 + 2**-12), (1, 1 - 2**-12)):
                share = _share(first * tip, second)
                step = relabelled(Step((), ((share, 1 - share, 0.0, 0.0),), ()), names)
                rows = [(0.125, 0.5, 0.25, 0.125), (0.25, 0.25, 0.25, 0.25)][:positions]
                step = after(rows, [number % 4, 2][:positions], step)
                result.append(
                    case(
                        step,
                        seed,
                        ((*step.tokens, names[winner]), positions),
                        dtype=EXACT_DTYPES[number // 2 % 2],
                        note=f"bonus weights tipped by 0.02 %, K = {positions}",
                    )
                )
    return result


def bracket_tail(draws: Draws, seeds: Sequence[int], rejected: bool) -> list[Case]:
    """A token of next to no weight that wins the draw, among V = 1000.

    rejected: as a replacement, not as a bonus. The token has the smallest exponential of all and
    its one rival the largest, so that a weight of about 2^-12 is enough, and three fifths of that
    are not. What is cut off the end of a row is missed here.
    """
    size = 1000
    result = []
    races = draws("races", list(seeds), [1] * len(seeds), size).numbers()
    for number, (seed, race) in enumerate(zip(seeds, races, strict=True)):
        small, large = int(race.argmin()), int(race.argmax())
        even = float(race[small] / race[large])
        t = next(x for x in range(size) if x not in (small, large))
        for winner, factor in ((small, 1.25), (large, 0.75)):
            weight = round(even * factor * 2**23) / 2**23
            row = [0.0] * size
            row[small], row[large] = weight, 1 - weight
            only = one_hot(t, size=size)
            if rejected:
                step, found = Step(only, (tuple(row), *only), (t,)), ((winner,), 0)
            else:
                step, found = Step(only, (*only, tuple(row)), (t,)), ((t, winner), 1)
            note = f"V = {size}, a weight of {weight:.1e} against 1"
            result.append(case(step, seed, found, dtype=EXACT_DTYPES[number % 2], note=note))
    return result


def example_cases(draws: Draws, title: str, args: Sequence[Any], printed: Any) -> list[Case]:
    """A worked example of the statement, with the answer that the stated draws give.

    That is the printed one, unless the installed PyTorch draws other numbers from the same seed.
    """
    draft, target, tokens = (a.numbers().tolist() for a in args[:3])
    step = Step(tuple(map(tuple, draft)), tuple(map(tuple, target)), tuple(tokens))
    expects = exactly(printed)
    if len(args) > 3 and isinstance(args[3], Generator) and len(possible(step)) > 1:
        ((_, _, found),) = followed(draws, [(step, args[3].seed)])
        expects = answer(found)
    return [Case(tuple(args), expects)]


def ties(draws: Draws) -> list[list[Case]]:
    """Accept probabilities equal to their coin: either answer will do, but not `keeps` every time.

    Three lists, each judged by itself: float64 and float32 at position 0, float64 at position 1. A
    comparison in log space may keep some by rounding, but keeps all only if it is `<=`; a function
    with other random numbers meets no tie. The coins are small, so that it does not keep all of
    them by chance either (below 1e-12 a list).
    """
    coins = draws("coins", list(range(240)), 2).numbers().tolist()
    return [_ties(coins, i, dtype) for i, dtype in ((0, "float64"), (0, "float32"), (1, "float64"))]


def _ties(coins: Sequence[Sequence[float]], i: int, dtype: str) -> list[Case]:
    small = [(seed, row[i]) for seed, row in enumerate(coins) if 0 < row[i] < 2**-4]
    result = []
    for seed, coin in small[:10]:
        step = Step(((0.5, 0.5),), ((coin / 2, 1 - coin / 2), (0.0, 1.0)), (0,))
        step = relabelled(step, (seed % 2, 1 - seed % 2))
        if i:
            step = after([(0.5, 0.5)], [seed // 2 % 2], step)
        either = [settled_by(step, i), settled_by(step, i + 1)]
        note = f"a coin equal to its accept probability, position {i}, {dtype}"
        result.append(case(step, seed, either, dtype=dtype, note=note))
    return result


def keeps(one_tie: Case) -> Expectation:
    """The answer to a tie that keeps the drafted token."""
    drafted = one_tie.args[2].numbers().tolist()
    return answer(((*drafted, 1 - drafted[-1]), len(drafted)))


def coin_of_zero(draws: Draws) -> list[Case]:
    """A forbidden token met by a coin of exactly 0.

    Such coins are so rare that their seeds are known: where the installed PyTorch gives those
    another coin, the case is dropped.
    """
    result = []
    coins = draws("coins", ZERO_COIN_SEEDS, 1).numbers()[:, 0].tolist()
    for seed, coin in zip(ZERO_COIN_SEEDS, coins, strict=True):
        if coin != 0:
            continue
        for names, dtype in (((0, 1, 2), "float32"), ((1, 2, 0), "float64")):
            forbidden = Step(((0.5, 0.25, 0.25),), ((0.0, 0.5, 0.5), (0.25, 0.5, 0.25)), (0,))
            step = relabelled(forbidden, names)
            note = f"target_probs[0][{names[0]}] = 0 and a coin of exactly 0"
            result.append(case(step, seed, possible(step), dtype=dtype, note=note))
    return result


# The only seeds below 24 million whose first coin is exactly 0.
ZERO_COIN_SEEDS = [5528393, 24368689]


def generator_states(draws: Draws) -> list[Case]:
    """Settled cases with the state in which the generator has to be left."""
    steps = [
        certain((0, 1, 2), (0, 1, 2, 3), 4),
        certain((0, 1, 2), (3, 1, 2, 0), 4),
        certain((0, 1, 2), (0, 3, 2, 1), 4),
        certain((0, 1, 2), (0, 1, 0, 2), 4),
        certain((1,), (1, 0), 2),
        certain((1,), (0, 1), 2),
        certain((4, 0), (4, 0, 3), 5),
        certain((0,) * 4, (0,) * 5, 1),
        Step((), one_hot(2, size=3), ()),
    ]
    dtypes = [EXACT_DTYPES[i % 2] for i in range(len(steps))]
    seeds = list(range(100, 100 + len(steps)))
    # The same calls over again, from the same states: an answer out of a store would draw nothing.
    for again, dtype in ((0, "float32"), (2, "float32"), *itertools.product((0, 2), HALF_DTYPES)):
        steps.append(steps[again])
        seeds.append(seeds[again])
        dtypes.append(dtype)
    answers = [settled(step) for step in steps]
    before = [min(n + 1, len(step.tokens)) for step, (_, n) in zip(steps, answers, strict=True)]
    states = _states(draws, seeds, before, [step.size for step in steps])
    return [
        case(
            step,
            seed,
            found,
            dtype=dtype,
            note=f"K = {len(step.tokens)}, {found[1]} kept, {dtype}",
            state_after=state,
        )
        for step, seed, found, dtype, state in zip(
            steps, seeds, answers, dtypes, states, strict=True
        )
    ]


def seeded_steps(rng: random.Random, number: int, fewest: int = 1) -> list[tuple[Step, int]]:
    """Random steps, K up to 4 and V from 2 to 8, each with the seed of its generator."""
    shapes = [(k, v) for v in range(2, 9) for k in range(fewest, 5)]
    return [
        (random_step(rng, *shapes[i % len(shapes)]), rng.randrange(2**32)) for i in range(number)
    ]


def long_steps(rng: random.Random) -> list[tuple[Step, int]]:
    """Random steps with K of 10 and 40: rows that agree, but for every seventh from the tenth on.

    Two more have K = 5 and V = 20.
    """
    result = []
    for positions in (10, 40, 10, 40):
        rows = [random_row(rng, 5) for _ in range(positions)]
        drafted = [rng.randrange(5) for _ in rows]
        target = [*rows, random_row(rng, 5)]
        for i in range(9, positions, 7):
            rows[i], target[i] = (0.5, 0.25, 0.125, 0.0625, 0.0625), (0.375, 0.25, 0.125, 0.25, 0.0)
            drafted[i] = 0
        step = Step(tuple(rows), tuple(target), tuple(drafted))
        result.append((step, rng.randrange(2**32)))
    return result + [(random_step(rng, 5, 20), rng.randrange(2**32)) for _ in range(2)]


def wide_steps(rng: random.Random, number: int) -> list[tuple[Step, int]]:
    """Steps with 1000 tokens of about the same probability: none can be left out."""
    result = []
    for i in range(number):
        size = 1000
        rows = [_flat_row(rng, size) for _ in range(2)]
        t = rng.randrange(size)
        if i % 2:
            step = Step(one_hot(t, size=size), (rows[0], rows[1]), (t,))
        else:
            step = Step((rows[0],), (rows[0], rows[1]), (t,))
        result.append((step, rng.randrange(2**32)))
    return result


def _flat_row(rng: random.Random, size: int) -> Row:
    """A row of about equal entries that sums to one exactly, in float32 too."""
    middle = FINE // size
    steps = [rng.randrange(-(middle // 10), middle // 10 + 1) for _ in range(size // 2)]
    parts = [middle + sign * step for step in steps for sign in (1, -1)]
    parts += [middle] * (size - len(parts))
    parts[0] += FINE - sum(parts)
    return tuple(part / FINE for part in parts)


def followed(draws: Draws, calls: Sequence[tuple[Step, int]]) -> list[tuple[Step, int, Answer]]:
    """The calls with the answer that the stated draws give.

    Calls in which a decision is so close that right ways of computing it may differ are dropped.
    """
    seeds = [seed for _, seed in calls]
    most = max(len(step.tokens) for step, _ in calls)
    ends: list[int] = []
    flat: list[float] = []
    close: list[bool] = []
    tossed = draws("coins", seeds, most).numbers().tolist()
    for (step, _), row in zip(calls, tossed, strict=True):
        coins = row[: len(step.tokens)]
        n = kept(step, coins)
        ends.append(n)
        flat += step.weights(n, float)
        close.append(any(step.is_close(i, coin) for i, coin in enumerate(coins[: n + 1])))
    before = [min(n + 1, len(step.tokens)) for (step, _), n in zip(calls, ends, strict=True)]
    sizes = [step.size for step, _ in calls]
    chosen, exponentials = draws("picks", seeds, before, sizes, array(flat, "float64"))
    speeds = np.array(flat) / exponentials.numbers()
    result = []
    start = 0
    for i, ((step, seed), pick) in enumerate(zip(calls, chosen.numbers().tolist(), strict=True)):
        *_, second, best = [0.0, *sorted(speeds[start : start + step.size].tolist())]
        start += step.size
        if not close[i] and second < best * (1 - NEVER):
            result.append((step, seed, ((*step.tokens[: ends[i]], pick), ends[i])))
    return result


def seeded_cases(draws: Draws, rng: random.Random, number: int) -> list[Case]:
    """Random calls and the one answer that the stated draws give."""
    return [
        case(step, seed, found, dtype=EXACT_DTYPES[i % 2], note=f"seed {seed}")
        for i, (step, seed, found) in enumerate(
            followed(draws, seeded_steps(rng, number))
            + followed(draws, long_steps(rng) + wide_steps(rng, 3))
        )
    ]


def default_generator_cases(draws: Draws, rng: random.Random, number: int) -> list[Case]:
    """Random calls without a generator: PyTorch's own is seeded before each, or goes on.

    The second half is one stream, of which every call has to leave the state of the stated draws.
    """
    calls = seeded_steps(rng, number, fewest=0)
    calls += [(random_step(rng, k, 20), rng.randrange(2**32)) for k in (0, 1, 2, 3)]
    each = [
        Case(
            arguments(step, EXACT_DTYPES[i % 2]),
            answer(found),
            global_seed=seed,
            note=f"no generator, K = {len(step.tokens)}, V = {step.size}",
        )
        for i, (step, seed, found) in enumerate(followed(draws, calls))
    ]
    seed = rng.randrange(2**32)
    rows, kwargs = range(12), ({}, {"generator": None})
    known = _streamed(draws, seed, [streamed_step(rng, i, 3 + i % 4) for i in rows])
    stream = [
        Case(
            arguments(step, EXACT_DTYPES[i % 2]),
            answer(found),
            dict(kwargs[i // 2 % 2]),
            global_seed=None if i else seed,
            continues=i > 0,
            state_after=state,
            note=f"call {i + 1} in a row without a generator",
        )
        for i, (step, found, state) in enumerate(known)
    ]
    return each + stream


def one_after_another(draws: Draws, seed: int, rng: random.Random, number: int) -> list[Case]:
    """Calls that share one generator; each has to leave the state of the stated draws."""
    steps = [streamed_step(rng, i, 3 + i % 4) for i in range(number)]
    return _shared(draws, seed, steps, lambda i: EXACT_DTYPES[i % 2], "call {} on one generator")


def refilled(draws: Draws, seed: int, rng: random.Random) -> list[Case]:
    """Calls of one shape on one generator, some of them equal; for tensors that are refilled."""
    rows = [streamed_step(rng, i, 4, positions=2) for i in range(5)]
    steps = [rows[i] for i in (0, 0, 1, 1, 2, 0, 3, 3, 4, 2)]
    return _shared(draws, seed, steps, lambda i: "float32", "call {} on the same tensors, refilled")


def _shared(
    draws: Draws,
    seed: int,
    steps: Sequence[tuple[Step, int]],
    dtype: Callable[[int], str],
    note: str,
) -> list[Case]:
    return [
        case(
            step,
            seed,
            found,
            shared=True,
            dtype=dtype(i),
            state_after=state,
            note=note.format(i + 1),
        )
        for i, (step, found, state) in enumerate(_streamed(draws, seed, steps))
    ]


def streamed_step(
    rng: random.Random, i: int, size: int, positions: int | None = None
) -> tuple[Step, int]:
    """A step and how many tokens it keeps for certain; the last token is left to chance.

    In turn all tokens are kept, or one of them is rejected for sure.
    """
    positions = positions or 1 + i // 2 % 3
    rows = [random_row(rng, size) for _ in range(positions)]
    drafted = [rng.randrange(size) for _ in rows]
    target = [*rows, random_row(rng, size)]
    end = positions
    if i % 2:
        end = i // 6 % positions
        rows[end] = one_hot(drafted[end], size=size)[0]
        target[end] = random_row(rng, size, {drafted[end]})
    return Step(tuple(rows), tuple(target), tuple(drafted)), end


def _streamed(
    draws: Draws, seed: int, steps: Sequence[tuple[Step, int]]
) -> list[tuple[Step, Answer, bytes]]:
    """The steps with their answers from one stream, and the generator's state after each."""
    flat = [w for step, n in steps for w in step.weights(n, float)]
    before = [min(n + 1, len(step.tokens)) for step, n in steps]
    sizes = [step.size for step, _ in steps]
    picks, states = draws("stream", seed, before, sizes, array(flat, "float64"))
    return [
        (step, ((*step.tokens[:n], pick), n), state)
        for (step, n), pick, state in zip(
            steps, picks.numbers().tolist(), _rows(states), strict=True
        )
    ]


# Fresh cases: whatever the seed of the run gives ------------------------------------------------


RARE = 2.0**-9  # what a token has in the draft that hands it on; so little that no other row shows


def handed_on(
    rng: random.Random, size: int, t: int, heirs: Mapping[int, Fraction]
) -> tuple[Row, Row]:
    """A draft and a target row that differ in little: what the draft has at t goes to `heirs`.

    So a drafted t is rejected for sure, and one of the heirs replaces it, each with its share. The
    target has them so rarely that a draw from any other row shows; the draft never proposes the
    first (with V = 2 it has to), and the others as rarely or never.
    """
    first, *_ = heirs
    others = size - len(heirs) - 1
    draft = list(random_row(rng, size, {t, *heirs})) if others else [0.0] * size
    peak = draft.index(max(draft)) if others else first
    for heir in heirs:
        draft[heir] = RARE * rng.randrange(2) if heir != first else 0.0
    draft[t] = RARE
    draft[peak] += 1 - sum(draft)
    target = list(draft)
    target[t] = 0.0
    for heir, share in heirs.items():
        target[heir] += RARE * float(share)
    return tuple(draft), tuple(target)


def fresh_settled(rng: random.Random, number: int) -> list[tuple[Step, int]]:
    """Steps with one possible answer behind rows that say little, each with a seed.

    Up to some position the rows agree. There the drafted token is handed on to a single token, or
    nothing is rejected and the bonus is certain, of what the last draft row has the least of. One
    more step is the first again with another bonus: what is drafted does not tell the answer.
    """
    result = []
    for i in range(number):
        size, positions = 2 if i % 8 == 7 else rng.randint(3, 8), 1 + i % 6
        rows = [random_row(rng, size) for _ in range(positions)]
        drafted = [rng.randrange(size) for _ in rows]
        *_, other, bonus = sorted(range(size), key=rows[-1].__getitem__, reverse=True)
        target = [*rows, *one_hot(bonus, size=size)]
        if i == 0:
            again = Step(tuple(rows), (*rows, *one_hot(other, size=size)), tuple(drafted))
        if i % 3:
            place = i // 3 % positions
            t = drafted[place]
            heir = rng.choice([x for x in range(size) if x != t])
            rows[place], target[place] = handed_on(rng, size, t, {heir: Fraction(1)})
        result.append((Step(tuple(rows), tuple(target), tuple(drafted)), rng.randrange(2**32)))
    return [*result, (again, rng.randrange(2**32))]


def fresh_half(draws: Draws, rng: random.Random, number: int) -> list[Case]:
    """Certain rows in half types, kept to the end or rejected, V up to 60.

    No coin is one that half types round to 1: such coins have cases of their own.
    """
    seeds = [rng.randrange(2**32) for _ in range(2 * number)]
    highest = draws("coins", seeds, 3).numbers().max(axis=1).tolist()
    calm = [seed for seed, coin in zip(seeds, highest, strict=True) if coin < 1 - CLEAR]
    result = []
    for i, seed in enumerate(calm[:number]):
        size, positions = rng.randint(2, 8) if i % 4 == 3 else rng.randint(9, 60), 1 + i % 3
        drafted = [rng.randrange(size) for _ in range(positions)]
        wanted = [*drafted, rng.randrange(size)]
        if i % 2:
            place = i // 2 % positions
            wanted[place] = (drafted[place] + rng.randrange(1, size)) % size
        step, dtype = certain(drafted, wanted, size), HALF_DTYPES[i // 2 % 2]
        result.append(case(step, seed, dtype=dtype, note=dtype))
    return result


def fresh_possible(rng: random.Random, number: int) -> list[Case]:
    """Random rows with forbidden tokens; any answer that the law allows will do.

    In two of three the forbidden token is handed on to two others, at either position, and at the
    other one the rows agree, where the likeliest token is not the drafted one.
    """
    result = []
    for i in range(number):
        size = 3 + i % 2 if i % 3 == 0 else rng.randint(4, 6)
        q, q1 = random_row(rng, size), random_row(rng, size, {rng.randrange(size)})
        t = rng.randrange(size)
        t1 = rng.choice([x for x in range(size) if q1[x]])
        if i % 3:
            t = q.index(min(q))
            first, second, t1 = rng.sample(range(size), 3)
            left = handed_on(rng, size, t1, {first: Fraction(3, 4), second: Fraction(1, 4)})
            rows, tokens = [(q, q), left], [t, t1]
            if i % 3 == 2:
                rows, tokens = rows[::-1], tokens[::-1]
            (q, p), (q1, p1) = rows
            t, t1 = tokens
        else:
            p = random_row(rng, size, {t} if i % 2 else {(t + 1) % size})
            p1 = random_row(rng, size, {t1})
        step = Step((q, q1), (p, p1, random_row(rng, size)), (t, t1))
        note = "only answers the law allows"
        dtype = EXACT_DTYPES[i // 2 % 2]
        result.append(case(step, rng.randrange(2**32), possible(step), dtype=dtype, note=note))
    return result


def fresh_shapes(rng: random.Random) -> list[Case]:
    """Settled calls with K = 0, with V = 1 and with rows or ids that are not contiguous."""
    result = []
    for i in range(4):
        size, k = rng.randint(2, 8), rng.randint(1, 4)
        bonus = Step((), one_hot(rng.randrange(size), size=size), ())
        result += [
            case(bonus, rng.randrange(2**32), dtype=EXACT_DTYPES[i % 2], note="K = 0"),
            case(certain((0,) * k, (0,) * (k + 1), 1), rng.randrange(2**32), note="V = 1"),
        ]
    ways: list[tuple[Layout, Layout]] = [
        ("column", "every_second"),
        ("every_second", "column"),
        ("column", "contiguous"),
    ]
    for i, (step, seed) in enumerate(fresh_settled(rng, 18)):
        layouts = ways[i // 3 % 3]
        dtype = EXACT_DTYPES[i % 2]
        result.append(case(step, seed, dtype=dtype, layouts=layouts, note="not contiguous"))
    return result


def fresh_heirs(rng: random.Random, number: int) -> list[tuple[Step, int]]:
    """Steps that reject one token for sure and hand it on to three, in unequal shares."""
    result = []
    for i in range(number):
        size, positions = rng.randint(5, 7), 1 + i % 3
        rows = [random_row(rng, size) for _ in range(positions)]
        target, drafted = [*rows, random_row(rng, size)], [rng.randrange(size) for _ in rows]
        place = i // 3 % positions
        drafted[place], *heirs = rng.sample(range(size), 4)
        shares = dict(zip(heirs, (Fraction(n, 8) for n in (5, 2, 1)), strict=True))
        rows[place], target[place] = handed_on(rng, size, drafted[place], shares)
        result.append((Step(tuple(rows), tuple(target), tuple(drafted)), rng.randrange(2**32)))
    return result


def fresh_stream(rng: random.Random, number: int) -> list[Step]:
    """Steps that leave nothing but their last token to chance, for calls on one generator.

    Every second hands a token on. The others keep all of theirs; in turn their bonus row has
    nothing to do with the last draft row, or is almost the same.
    """
    result = []
    for i, (heirs, _) in enumerate(fresh_heirs(rng, number)):
        step = heirs
        if i % 2:
            step, _ = streamed_step(rng, 0, heirs.size, positions=1 + i // 4 % 3)
        if i % 4 == 3:
            shares = dict(zip(rng.sample(range(heirs.size), 3), (5, 2, 1), strict=True))
            t = next(x for x in range(heirs.size) if x not in shares)
            last, bonus = handed_on(
                rng, heirs.size, t, {x: Fraction(n, 8) for x, n in shares.items()}
            )
            step = Step((*step.draft, last), (*step.target[:-1], last, bonus), (*step.tokens, t))
        result.append(step)
    return result


def fresh_large(rng: random.Random, number: int) -> list[tuple[Step, int]]:
    """Random steps with up to 200 tokens, flat or steep, of multiples of 2^-24."""
    result = []
    for i in range(number):
        size, positions = rng.randint(50, 200), 1 + i % 3
        rows = [
            random_row(rng, size, grid=FINE, power=1 + 2 * (i % 2))
            for _ in range(2 * positions + 1)
        ]
        draft, target = rows[:positions], rows[positions:]
        tokens = [rng.choices(range(size), q)[0] for q in draft]
        result.append((Step(tuple(draft), tuple(target), tuple(tokens)), rng.randrange(2**32)))
    return result


# Random rows ------------------------------------------------------------------------------------

GRID = 2**12
FINE = 2**24  # the finest grid of which float32 holds all numbers up to 1


def random_row(
    rng: random.Random, size: int, zeros: Iterable[int] = (), grid: int = GRID, power: int = 1
) -> Row:
    """A row of multiples of 1 / grid that sums to one exactly and is 0 just at `zeros`.

    power: the higher, the steeper the row is.
    """
    weights = [(-math.log(1 - rng.random())) ** power for _ in range(size)]
    for place in zeros:
        weights[place] = 0.0
    unit = (grid - size) / sum(weights)
    parts = [1 + int(weight * unit) if weight else 0 for weight in weights]
    parts[parts.index(max(parts))] += grid - sum(parts)
    return tuple(part / grid for part in parts)


def random_step(rng: random.Random, positions: int, size: int) -> Step:
    """A step of random rows with what tells mistakes apart.

    Every second draft row never proposes some token, every fifth target row forbids one, a third of
    the positions have equal rows.
    """

    def some(share: float) -> set[int]:
        return {rng.randrange(size)} if size > 1 and rng.random() < share else set()

    draft, target, tokens = [], [], []
    for _ in range(positions):
        q = random_row(rng, size, some(1 / 2))
        p = q if rng.random() < 1 / 3 else random_row(rng, size, some(1 / 5))
        draft.append(q)
        target.append(p)
        tokens.append(rng.choice([i for i, x in enumerate(q) if x]))
    target.append(random_row(rng, size, some(1 / 2)))
    return Step(tuple(draft), tuple(target), tuple(tokens))
