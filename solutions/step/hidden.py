"""What `step` asks for on fresh inputs: the seed of the run makes the cases, the reference answers.

The reference runs live, in the PyTorch that the submission runs in. Where the exact procedure of
`problems.step.cases` says otherwise, one of the two is broken, and nobody's points are at stake.
"""

import dataclasses

import pytest

from grader.expect import exactly
from grader.faults import KitFault
from problems.step import cases
from problems.step.cases import remembered


@remembered
def seeded_cases(reference, draws, rng):
    """Random calls that expect what the reference does; those too close to call are dropped."""
    calls = cases.seeded_steps(rng, 110, fewest=0) + cases.fresh_large(rng, 8)
    calls += cases.fresh_heirs(rng, 12)
    others = cases.long_steps(rng) + cases.wide_steps(rng, 8)
    result = []
    known = cases.followed(draws, calls) + cases.followed(draws, others)
    asked = [
        cases.case(step, seed, found, dtype=cases.EXACT_DTYPES[i % 2], note=f"seed {seed}")
        for i, (step, seed, found) in enumerate(known)
    ]
    for call, outcome in zip(asked, reference.outcomes(asked), strict=True):
        if outcome.value != call.expects:
            raise KitFault(f"the reference and the exact procedure differ at {call.note}")
        result.append(dataclasses.replace(call, expects=exactly(outcome.value)))
    return result


@remembered
def shared_cases(reference, rng):
    """Fresh calls on one generator that expect what the reference does."""
    seed = rng.randrange(2**32)
    asked = [
        cases.case(step, seed, ((), 0), dtype=cases.EXACT_DTYPES[i // 2 % 2], shared=True)
        for i, step in enumerate(cases.fresh_stream(rng, 48))
    ]
    return [
        dataclasses.replace(call, expects=exactly(outcome.value))
        for call, outcome in zip(asked, reference.outcomes(asked), strict=True)
    ]


@remembered
def state_cases(reference, draws, rng):
    """Settled calls that leave the generator where the reference leaves it."""
    asked = settled_cases(rng, 18) + half_cases(draws, rng, 8)
    return [
        dataclasses.replace(call, state_after=outcome.generator)
        for call, outcome in zip(asked, reference.outcomes(asked, ("generator",)), strict=True)
    ]


@remembered
def settled_cases(rng, number):
    """Calls on fresh rows that leave one answer possible."""
    return [
        cases.case(step, seed, dtype=cases.EXACT_DTYPES[i % 2])
        for i, (step, seed) in enumerate(cases.fresh_settled(rng, number))
    ]


@remembered
def coin_brackets(draws, rng):
    return cases.bracket_accept(draws, fresh_seeds(rng, 8))


@remembered
def last_token_brackets(draws, rng):
    seeds = fresh_seeds(rng, 6)
    return cases.bracket_residual(draws, seeds) + cases.bracket_bonus(draws, seeds)


half_cases = remembered(cases.fresh_half)
possible_cases = remembered(cases.fresh_possible)
shape_cases = remembered(cases.fresh_shapes)


def fresh_seeds(rng, number):
    return [rng.randrange(2**32) for _ in range(number)]


@pytest.mark.points(4, group="law")
@pytest.mark.hint("Each position has its own row of both distributions; a rejection ends it.")
def test_fresh_rows_with_one_possible_answer(submission, rng):
    """Fresh rows that leave one answer possible give that answer."""
    submission.check(lambda: settled_cases(rng, 24))


@pytest.mark.points(3, group="law")
@pytest.mark.hint("Only tokens with p > q can replace a rejected one; p = 0 is never kept.")
def test_fresh_answers_are_possible_ones(submission, rng):
    """On fresh rows no answer comes that the target's law rules out."""
    submission.check(lambda: possible_cases(rng, 36))


@pytest.mark.points(4, group="draws")
@pytest.mark.hint("Toss one `torch.rand((), generator=generator)` a position; use it as it is.")
def test_fresh_coins_decide(submission, draws, rng):
    """On fresh seeds a token is kept just if the coin of its position is below p/q."""
    submission.check(lambda: coin_brackets(draws, rng))


@pytest.mark.points(3, group="draws")
@pytest.mark.hint("Draw the last token with one torch.multinomial(…, 1, generator=generator).")
def test_fresh_last_token_is_one_draw(submission, draws, rng):
    """On fresh seeds the last token is what torch.multinomial draws from the right weights."""
    submission.check(lambda: last_token_brackets(draws, rng))


@pytest.mark.points(3, group="draws")
@pytest.mark.hint("Count the draws: one coin for each position reached, then one multinomial.")
def test_fresh_generator_states(submission, reference, draws, rng):
    """On fresh rows the generator is left where the stated draws leave it."""
    submission.check(lambda: state_cases(reference, draws, rng))


@pytest.mark.points(6, group="seeded")
@pytest.mark.hint("Follow the statement position by position: coin, compare, keep or replace.")
def test_fresh_seeded_calls_follow_the_procedure(submission, reference, draws, rng):
    """Fresh rows of up to 1000 tokens and a fresh seed give the answer of the stated procedure."""
    submission.check(lambda: seeded_cases(reference, draws, rng))


@pytest.mark.points(2, group="seeded")
@pytest.mark.hint("Draw from the generator itself: no copy, no new seed, no draw to spare.")
def test_fresh_calls_share_one_generator(submission, reference, rng):
    """Fresh calls with one generator, one after another, go on where the last one stopped."""
    submission.check(lambda: shared_cases(reference, rng))


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("With K = 0 only the bonus is left; with V = 1 the rows still have two axes.")
def test_fresh_shapes_and_layouts(submission, rng):
    """Fresh inputs with K = 0, with V = 1 and with rows that are not contiguous work."""
    submission.check(lambda: shape_cases(rng))


@pytest.mark.points(3, group="side effects")
@pytest.mark.hint("Compute in new tensors; `clone()` first where you want to write.")
def test_fresh_inputs_are_left_as_they_were(submission, draws, rng):
    """Fresh inputs are not changed, and the answers share no memory with them."""
    submission.check(
        lambda: settled_cases(rng, 18) + half_cases(draws, rng, 8), unchanged=True, private=True
    )
