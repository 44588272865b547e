"""The exact answers that the checks of `step` expect, against enumeration and simulation."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from grader import kit, problem
from grader.submission import Helper, Submission
from grader.values import Generator, array
from grader.workers import launcher
from problems.step import cases
from problems.step.cases import (
    Step,
    answer,
    kept,
    law,
    possible,
    random_row,
    random_step,
    settled,
)

RNG = random.Random("step cases")


class Numbers:
    """Random numbers in place of a seeded generator's: what `draws` gives the checks."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, name, *args):
        return getattr(self, name)(*args)

    def stream_of(self, seed):
        return np.random.default_rng([self.seed, seed])

    def coins(self, seeds, count):
        return array([self.numbers(seed, count, 1)[0] for seed in seeds])

    def races(self, seeds, before, size):
        pairs = zip(seeds, before, strict=True)
        return array([self.numbers(seed, m, size)[1] for seed, m in pairs], "float64")

    def picks(self, seeds, before, sizes, weights):
        flat, rows = weights.numbers(), []
        for seed, m, size in zip(seeds, before, sizes, strict=True):
            rows.append((flat[:size], self.numbers(seed, m, size)[1]))
            flat = flat[size:]
        winners = [int(np.argmax(w / e)) for w, e in rows]
        return array(winners, "int64"), array(np.concatenate([e for _, e in rows]), "float64")

    def numbers(self, seed, before, size):
        """The first `before` coins, on the grid of float32 ones, and the exponentials then."""
        stream = self.stream_of(seed)
        coins = [stream.integers(1, 2**24) / 2**24 for _ in range(before)]
        return coins, stream.standard_exponential(size)

    def run(self, one_case):
        """The answer to a case by a plain float loop that knows nothing of `cases`."""
        q, p, d, generator = (*one_case.args, Generator(0, False))[:4]
        q, p, d = q.numbers(), p.numbers(), d.numbers().tolist()
        for i, t in enumerate(d):
            coins, race = self.numbers(generator.seed, i + 1, p.shape[1])
            if not coins[i] < min(1.0, p[i, t] / q[i, t]):
                token = int(np.argmax(np.maximum(p[i] - q[i], 0) / race))
                return array([*d[:i], token], "int64"), i
        _, race = self.numbers(generator.seed, len(d), p.shape[1])
        return array([*d, int(np.argmax(p[-1] / race))], "int64"), len(d)


def test_the_law_sums_to_one():
    """Every answer has its exact probability, for random rows of many shapes."""
    for positions, size in itertools.product(range(5), (1, 2, 3, 8)):
        assert sum(law(random_step(RNG, positions, size)).values()) == 1


def test_the_possible_answers_are_those_of_the_law():
    """Comparisons find just the answers that have a probability above 0."""
    for positions, size in itertools.product(range(5), (1, 2, 3, 8)):
        step = random_step(RNG, positions, size)
        assert sorted(possible(step)) == sorted(law(step))


def test_the_law_counts_what_the_procedure_does():
    """Coins on a grid that the ratios lie on are counted exactly, position by position."""
    q, p = (0.5, 0.25, 0.25), (0.125, 0.5, 0.375)
    step = Step((q, q), (p, p, (0.0, 0.0, 1.0)), (0, 0))
    grid = [k / 4 for k in range(4)]
    counts = [kept(step, coins) for coins in itertools.product(grid, grid)]
    by_count = {n: sum(w for a, w in law(step).items() if a[1] == n) for n in range(3)}
    assert by_count == {n: Fraction(counts.count(n), 16) for n in range(3)}


def test_tokens_drafted_from_the_draft_leave_the_target_law():
    """Summed over what the draft may propose, the first tokens are distributed as the target's."""
    rng = random.Random(3)
    draft = tuple(random_row(rng, 3) for _ in range(2))
    target = tuple(random_row(rng, 3) for _ in range(3))
    first = dict.fromkeys(range(3), Fraction(0))
    second = dict.fromkeys(itertools.product(range(3), range(3)), Fraction(0))
    for tokens in itertools.product(range(3), range(3)):
        drafted = Fraction(draft[0][tokens[0]]) * Fraction(draft[1][tokens[1]])
        for (found, n), probability in law(Step(draft, target, tokens)).items():
            first[found[0]] += drafted * probability
            for follower in range(3):
                # An answer of one token says nothing about the second: the target goes on.
                then = Fraction(target[1][follower]) if n == 0 else Fraction(found[1] == follower)
                second[found[0], follower] += drafted * probability * then
    assert first == {x: Fraction(target[0][x]) for x in range(3)}
    assert second == {(x, y): Fraction(target[0][x]) * Fraction(target[1][y]) for x, y in second}


def test_a_residual_of_nothing_falls_back_to_the_target_row():
    """Rows that round to the same sum can reject and leave nothing over."""
    step = Step(((1.0, 2.0**-30),), ((1.0, 0.0), (0.0, 1.0)), (1,))
    assert settled(step) == ((0,), 0)


def test_a_step_left_to_chance_is_not_settled():
    """Two possible answers are an error, never a silent choice."""
    with pytest.raises(ValueError, match="unpack"):
        settled(Step((), ((0.5, 0.5),), ()))


def test_renaming_tokens_renames_the_answer():
    """Token i becomes names[i] in rows, drafted tokens and the answer."""
    step = cases.certain((0, 1), (0, 2, 1), 3)
    assert settled(step) == ((0, 2), 1)
    assert settled(cases.relabelled(step, (1, 2, 0))) == ((1, 0), 1)


@pytest.mark.parametrize(
    "family",
    [
        cases.all_kept,
        cases.first_rejection,
        cases.half_types,
        cases.id_types,
        cases.touchable,
        cases.equal_rows,
        cases.forbidden_token,
        cases.small_residual,
        cases.nothing_drafted,
        cases.one_word_vocabulary,
        cases.strided,
        cases.long_drafts,
        cases.large_vocabularies,
        cases.varied,
        cases.unsettled,
    ],
)
def test_settled_families_hold_for_any_random_numbers(family):
    """Ten unlike streams of numbers give an expected answer in every case."""
    for seed in range(10):
        numbers = Numbers(seed)
        assert [c.note for c in family() if numbers.run(c) != c.expects] == []


@pytest.mark.parametrize(
    "family",
    [cases.bracket_accept, cases.bracket_residual, cases.bracket_bonus],
)
def test_brackets_follow_the_numbers_they_were_built_from(family):
    """A plain float loop on the same numbers gives every expected answer."""
    numbers = Numbers(1)
    built = family(numbers, range(20))
    assert len(built) >= 50
    assert [c.note for c in built if numbers.run(c) != c.expects] == []


@pytest.mark.parametrize(
    "family",
    [cases.bracket_accept, cases.bracket_residual, cases.bracket_bonus],
)
def test_brackets_flip_with_the_side(family):
    """The two cases of a bracket expect different answers."""
    built = family(Numbers(2), range(20))
    shown = [c.expects.show() for c in built]
    assert all(below != above for below, above in zip(shown[::2], shown[1::2], strict=True))


def test_seeded_cases_follow_the_numbers():
    """Random steps get the answer of a plain float loop, in float32 and float64."""
    numbers = Numbers(3)
    built = cases.seeded_cases(numbers, random.Random(4), 300)
    assert len(built) > 290
    assert [c.note for c in built if numbers.run(c) != c.expects] == []


def test_a_tie_rejects():
    """A plain loop that keeps a token strictly below the ratio rejects every tie."""
    numbers = Numbers(5)
    kinds = cases.ties(numbers)
    assert [len(kind) for kind in kinds] == [10, 10, 10]
    assert [{numbers.run(c)[1] for c in kind} for kind in kinds] == [{0}, {0}, {1}]
    ties = [c for kind in kinds for c in kind]
    assert [c.note for c in ties if numbers.run(c) != c.expects] == []
    assert [c.note for c in ties if numbers.run(c) == cases.keeps(c)] == []


def test_cases_are_built_once_for_the_same_seeds_and_random_state():
    """Grading another file reuses them; another seed or another random state does not."""
    build = cases.remembered(cases.seeded_cases)
    numbers = Numbers(8)
    first = build(numbers, random.Random(1), 5)
    assert build(Numbers(9), random.Random(1), 5) is first
    assert build(numbers, random.Random(2), 5) is not first
    assert build(numbers, random.Random(1), 6) is not first


def test_remembered_cases_leave_the_random_numbers_where_building_them_does():
    """What a check asks next is the same whether its first cases were built or remembered."""
    build = cases.remembered(cases.seeded_cases)
    numbers = Numbers(8)
    once, again = random.Random(1), random.Random(1)
    build(numbers, once, 5)
    build(numbers, again, 5)
    assert once.getstate() == again.getstate() != random.Random(1).getstate()


def test_a_coin_that_is_not_zero_drops_its_case():
    """Where a PyTorch build gives the known seeds another coin, nothing is asked of them."""
    assert cases.coin_of_zero(Numbers(6)) == []


CONSTANTS = [((token,), 0) for token in range(5)] + [((0, 0), 1), ((1, 1), 1), ((0, 1, 2), 2)]


@pytest.mark.parametrize("constant", CONSTANTS)
def test_no_constant_answer_fits_a_whole_family(constant):
    """Each family has a case that any one fixed answer gets wrong."""
    numbers = Numbers(7)
    families = [
        cases.all_kept(),
        cases.first_rejection(),
        cases.half_types(),
        cases.id_types(),
        cases.touchable(),
        cases.generator_forms(),
        cases.on_device("cpu"),
        cases.equal_rows(),
        cases.forbidden_token(),
        cases.small_residual(),
        cases.zero_residual(),
        cases.nothing_drafted(),
        cases.one_word_vocabulary(),
        cases.strided(),
        cases.bracket_accept(numbers, range(8)),
        cases.bracket_residual(numbers, range(8)),
        cases.bracket_bonus(numbers, range(8)),
        *cases.ties(numbers),
        cases.long_drafts(),
        cases.large_vocabularies(),
        cases.varied(),
        cases.unsettled(),
    ]
    tokens, n = constant
    got = (array(list(tokens), "int64"), n)
    assert all(any(got != c.expects for c in family) for family in families)


def test_random_rows_sum_to_one_and_are_zero_where_asked():
    """Rows are exact in float32, and nothing but the asked entries is 0."""
    for size in (2, 3, 8, 100):
        row = random_row(RNG, size, {1})
        assert sum(map(Fraction, row)) == 1
        assert [i for i, x in enumerate(row) if x == 0] == [1]
        assert array([row]).numbers().tolist() == [list(row)]


def test_expected_answers_have_the_types_of_the_statement():
    """int64 tokens in one dimension, and a plain int."""
    assert (array([1, 2], "int64"), 1) == answer(((1, 2), 1))
    assert (array([1, 2], "int32"), 1) != answer(((1, 2), 1))
    assert (array([[1, 2]], "int64"), 1) != answer(((1, 2), 1))
    assert (array([1, 2], "int64"), True) != answer(((1, 2), 1))
    assert [array([1, 2], "int64"), 1] != answer(((1, 2), 1))


# The real draws, in a worker with PyTorch ---------------------------------------------------------


@pytest.fixture(name="draws", scope="module")
def _draws():
    """The helper that the checks ask what a generator gives next."""
    step = problem.load(kit.find(), "step")
    workers = launcher("auto")
    source = (step.folder / "draws.py").read_bytes()
    opened = Submission(workers, source, [], step.parameters, step.limits)
    yield Helper("draws", opened, None)
    opened.close()
    workers.close()


def test_a_pick_is_the_largest_weight_over_its_exponential(draws):
    """`torch.multinomial` runs the race that the brackets are built from, after any coins."""
    seeds = list(range(300))
    before, sizes = [k % 4 for k in seeds], [3 + k % 6 for k in seeds]
    weights = np.random.default_rng(1).random(sum(sizes))
    picks, exponentials = draws("picks", seeds, before, sizes, array(weights, "float64"))
    ends = np.cumsum(sizes)[:-1]
    races = np.split(weights / exponentials.numbers(), ends)
    assert picks.numbers().tolist() == [int(np.argmax(race)) for race in races]


def test_races_and_picks_see_the_same_exponentials(draws):
    """Both start behind the same number of coins."""
    weights = array([1.0] * 8, "float64")
    _, exponentials = draws("picks", [7, 8], [0, 2], [4, 4], weights)
    races = draws("races", [7, 8], [0, 2], 4)
    assert races.numbers().ravel().tolist() == exponentials.numbers().tolist()


def test_a_stream_begins_like_a_single_pick(draws):
    """The first pick of a stream is the one after as many coins; the second is another draw."""
    weights = array([0.25] * 8, "float64")
    picks, states = draws("stream", 5, [2, 0], [4, 4], weights)
    chosen = picks.numbers().tolist()
    single, _ = draws("picks", [5], [2], [4], array([0.25] * 4, "float64"))
    assert chosen[0] == single.numbers().item()
    assert len(chosen) == 2
    assert states.numbers()[0].tolist() == draws("states", [5], [2], [4]).numbers()[0].tolist()


def test_coins_are_float32_numbers_below_one(draws):
    """A coin is a multiple of 2^-24 in [0, 1), and the known seeds give exactly 0."""
    coins = draws("coins", list(range(50)), 3)
    numbers = coins.numbers()
    assert coins.dtype == "float32"
    assert np.all((numbers >= 0) & (numbers < 1) & (numbers * 2**24 % 1 == 0))
    assert draws("coins", cases.ZERO_COIN_SEEDS, 1).numbers().tolist() == [[0.0], [0.0]]


def test_states_differ_by_every_coin(draws):
    """A generator that has tossed one coin more is in another state."""
    states = draws("states", [3, 3, 3], [0, 1, 1], [4, 4, 5]).numbers()
    assert states.shape[0] == 3
    assert len({state.tobytes() for state in states}) == 3


def families(draws):
    """Every case of every family, public and fresh, with a name for each family."""
    rng = random.Random(11)
    seeds = range(6)
    fresh = [
        cases.followed(draws, cases.fresh_large(rng, 8)),
        cases.followed(draws, cases.long_steps(rng) + cases.wide_steps(rng, 2)),
    ]
    return {
        "all_kept": cases.all_kept(),
        "first_rejection": cases.first_rejection(),
        "long_drafts": cases.long_drafts(),
        "half_types": cases.half_types(),
        "id_types": cases.id_types(),
        "generator_forms": cases.generator_forms(),
        "equal_rows": cases.equal_rows(),
        "forbidden_token": cases.forbidden_token(),
        "small_residual": cases.small_residual(),
        "zero_residual": cases.zero_residual(),
        "zero_residual_draws": cases.zero_residual_draws(draws),
        "nothing_drafted": cases.nothing_drafted(),
        "one_word_vocabulary": cases.one_word_vocabulary(),
        "large_vocabularies": cases.large_vocabularies(),
        "strided": cases.strided(),
        "touchable": cases.touchable(),
        "varied": cases.varied(),
        "unsettled": cases.unsettled(),
        "on_device": cases.on_device("cpu"),
        "bracket_accept": cases.bracket_accept(draws, range(8)),
        "bracket_residual": cases.bracket_residual(draws, seeds),
        "bracket_bonus": cases.bracket_bonus(draws, seeds),
        "bracket_tail": [
            *cases.bracket_tail(draws, seeds, True),
            *cases.bracket_tail(draws, seeds, False),
        ],
        "ties": [one for kind in cases.ties(draws) for one in kind],
        "coin_of_zero": cases.coin_of_zero(draws),
        "generator_states": cases.generator_states(draws),
        "seeded_cases": cases.seeded_cases(draws, rng, 60),
        "default_generator_cases": cases.default_generator_cases(draws, rng, 20),
        "one_after_another": cases.one_after_another(draws, 1, rng, 24),
        "refilled": cases.refilled(draws, 1, rng),
        "fresh_settled": [
            cases.case(step, seed, dtype=dtype)
            for step, seed in cases.fresh_settled(rng, 24)
            for dtype in cases.EXACT_DTYPES
        ],
        "fresh_half": cases.fresh_half(draws, rng, 12),
        "fresh_possible": cases.fresh_possible(rng, 24),
        "fresh_shapes": cases.fresh_shapes(rng),
        "fresh_large": [
            cases.case(step, seed, found, dtype=dtype)
            for calls in fresh
            for step, seed, found in calls
            for dtype in cases.EXACT_DTYPES
        ],
    }


def test_every_row_is_a_distribution_and_every_drafted_token_is_possible(draws):
    """Every row of every case sums to one within rounding, and every drafted token has q > 0."""
    for name, family in families(draws).items():
        assert family, name
        for one in family:
            q, p, ids = one.args[:3]
            for row in (*q.numbers(), *p.numbers()):
                assert row.min() >= 0, (name, one.note)
                assert abs(math.fsum(row) - 1) <= 2 * p.eps, (name, one.note)
            drafted = ids.numbers().tolist()
            assert all(q.numbers()[i, t] > 0 for i, t in enumerate(drafted)), (name, one.note)


def test_a_coin_near_one_is_one_in_half_precision(draws):
    """The known seeds give coins that float16 and bfloat16 round to one."""
    coins = draws("coins", cases.HIGH_COIN_SEEDS, 1).numbers()[:, 0].tolist()
    assert all(1 - 2**-13 < coin < 1 for coin in coins)
    assert array(coins, "float16").numbers().tolist() == [1.0] * len(coins)


def test_a_refilled_family_has_one_shape_and_repeats_itself(draws):
    """Tensors can be refilled from call to call, and some calls are given the same numbers."""
    built = cases.refilled(draws, 3, random.Random(5))
    assert {tuple(a.shape for a in c.args[:3]) for c in built} == {((2, 4), (3, 4), (2,))}
    assert {c.args[0].dtype for c in built} == {"float32"}
    assert len({c.args[1].data for c in built}) < len(built)


def test_calls_without_a_generator_form_one_stream(draws):
    """The first of a row seeds the default generator, the others go on, and each has a state."""
    built = cases.default_generator_cases(draws, random.Random(6), 8)
    stream = [c for c in built if c.state_after is not None]
    assert [c.continues for c in stream] == [False, *[True] * 11]
    assert [c.global_seed is None for c in stream] == [False, *[True] * 11]
