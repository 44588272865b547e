"""What `step` asks for: one check per promise in the statement.

The group says what a check can tell. `law`: no lossless function fails it, whatever random numbers
it draws. `draws` and `seeded`: the random numbers are the stated ones, in the stated order. The
others are about the form of the answer and about side effects.
"""

import pytest

from grader.expect import Mismatch
from problems.step import cases
from problems.step.cases import remembered

example_cases = remembered(cases.example_cases)
ties = remembered(cases.ties)
bracket_accept = remembered(cases.bracket_accept)
bracket_extremes = remembered(cases.bracket_extremes)
bracket_residual = remembered(cases.bracket_residual)
bracket_bonus = remembered(cases.bracket_bonus)
bracket_tail = remembered(cases.bracket_tail)
coin_of_zero = remembered(cases.coin_of_zero)
generator_states = remembered(cases.generator_states)
seeded_cases = remembered(cases.seeded_cases)
one_after_another = remembered(cases.one_after_another)
refilled = remembered(cases.refilled)
default_generator_cases = remembered(cases.default_generator_cases)
zero_residual_draws = remembered(cases.zero_residual_draws)

# Contract: what comes back, whatever the numbers are --------------------------------------------


@pytest.mark.points(2, group="contract")
@pytest.mark.hint("Return `torch.tensor(tokens, dtype=torch.int64), n` with n a plain Python int.")
def test_answer_is_tokens_and_a_count(submission):
    """The answer is a tuple of a 1-D int64 tensor and a Python int, with n + 1 tokens."""
    submission.check(lambda: cases.all_kept() + cases.first_rejection())


@pytest.mark.points(2, group="contract")
@pytest.mark.hint(
    "Take ids by .tolist() (as an index, uint8 is a mask); give the tokens int64 by name."
)
def test_ids_of_any_integer_dtype_give_int64_tokens(submission):
    """Drafted ids may be of a narrower integer dtype; the tokens are int64 all the same."""
    submission.check(cases.id_types)


@pytest.mark.points(2, group="contract")
@pytest.mark.hint("Stay in PyTorch, or move single numbers with `.item()`: NumPy has no bfloat16.")
def test_half_precision_rows(submission):
    """Rows of float16 and bfloat16 work like those of float32."""
    submission.check(cases.half_types)


@pytest.mark.points(2, group="contract")
@pytest.mark.hint("Pass `generator=generator` on as it is: PyTorch understands None itself.")
def test_generator_is_optional(submission):
    """The generator can be given by position or by name, can be None, and can be left out."""
    submission.check(cases.generator_forms)


# Law: seed-free, so that every lossless function passes -----------------------------------------


@pytest.mark.points(3, group="law")
@pytest.mark.hint("If no token was rejected, draw one more from the last row of target_probs.")
def test_all_kept_tokens_are_followed_by_a_bonus(submission):
    """If every drafted token is kept, a bonus token from the last target row ends the answer."""
    submission.check(cases.all_kept)


@pytest.mark.points(3, group="law")
@pytest.mark.hint("At the first rejection draw the replacement from that position and return.")
def test_first_rejection_ends_the_answer(submission):
    """The first rejected token is replaced and nothing follows: n counts the tokens before it."""
    submission.check(cases.first_rejection)


@pytest.mark.points(2, group="law")
@pytest.mark.hint("Loop over every position; nothing is special about the length of the draft.")
def test_long_drafts(submission):
    """Drafts of 10, 40 and 130 tokens are verified to the end like short ones."""
    submission.check(cases.long_drafts)


@pytest.mark.points(3, group="law")
@pytest.mark.hint("The accept probability is min(1, p/q), which is 1 where the rows are equal.")
def test_equal_rows_keep_every_token(submission):
    """Where draft and target agree every drafted token is kept."""
    submission.check(cases.equal_rows)


@pytest.mark.points(3, group="law")
@pytest.mark.hint("With p[t] = 0 the accept probability is 0, and no coin is below 0.")
def test_forbidden_token_is_replaced(submission):
    """A drafted token that the target never produces is replaced by one that it does produce."""
    submission.check(cases.forbidden_token)


@pytest.mark.points(3, group="law")
@pytest.mark.hint("Divide by the plain sum of the residual: no epsilon, no threshold.")
def test_tiny_residual_counts_in_full(submission):
    """However little probability is left over, the replacement comes from it alone."""
    submission.check(cases.small_residual)


@pytest.mark.points(3, group="law")
@pytest.mark.hint("Keep the token only if the coin is strictly below the accept probability.")
def test_coin_equal_to_the_accept_probability_rejects(submission, draws):
    """A coin that equals the accept probability rejects the token."""
    kinds = ties(draws)
    asked = [one for kind in kinds for one in kind]
    submission.check(lambda: asked + coin_of_zero(draws))
    outcomes = submission.outcomes(asked)
    for kind in kinds:
        answers, outcomes = outcomes[: len(kind)], outcomes[len(kind) :]
        if all(out.value == cases.keeps(one) for out, one in zip(answers, kind, strict=True)):
            submission.evidence.wrong += 1
            raise Mismatch(
                f"in all {len(kind)} cases like this one you keep the token: {kind[0].note}; keep "
                "it only if the coin is strictly below",
                wrong=True,
                kind="a coin equal to the accept probability",
            )


@pytest.fixture(scope="session", autouse=True)
def many_answers(ahead):
    """The answers of many calls, begun before all checks: they take as long as these together."""
    rows, _ = cases.fixture()
    return ahead(cases.CALLS, *rows, cases.FIXTURE_GENERATOR)


@pytest.mark.points(5, group="law")
@pytest.mark.hint("Check the accept probability, the residual and the bonus row in this order.")
def test_answers_come_as_often_as_they_should(submission, many_answers):
    """In many calls every answer comes about as often as it should."""
    _, events = cases.fixture()
    tally = many_answers()
    found = cases.bias(events, tally.values, tally.counts)
    if found is not None:
        raise found


# Draws: the stated random numbers, one decision at a time ---------------------------------------


@pytest.mark.points(2, group="draws")
@pytest.mark.hint("`grade show step` prints the statement with its examples worked out.")
def test_worked_examples(submission, draws, example):
    """The examples of the statement come out as printed there."""
    submission.check(lambda: example_cases(draws, example.title, example.args, example.returns))


@pytest.mark.points(4, group="draws")
@pytest.mark.hint(
    "Toss one `torch.rand((), generator=generator)` a position; compare it with p/q as it is."
)
def test_coin_decides_at_each_position(submission, draws):
    """A token is kept just if the coin of its position is below p/q, to within 2^-16."""
    submission.check(lambda: bracket_accept(draws, range(8)) + bracket_extremes(draws))


@pytest.mark.points(3, group="draws")
@pytest.mark.hint("Draw the replacement with one torch.multinomial(…, 1, generator=generator).")
def test_replacement_is_one_draw_from_the_residual(submission, draws):
    """The replacement is what torch.multinomial draws from the residual right after the coin."""
    submission.check(lambda: bracket_residual(draws, range(6)) + bracket_tail(draws, (1, 3), True))


@pytest.mark.points(2, group="draws")
@pytest.mark.hint("Draw the bonus with one torch.multinomial(…, 1, generator=generator).")
def test_bonus_is_one_draw_from_the_last_row(submission, draws):
    """The bonus token is what torch.multinomial draws from the last target row after K coins."""
    submission.check(lambda: bracket_bonus(draws, range(6)) + bracket_tail(draws, (2, 4), False))


@pytest.mark.points(3, group="draws")
@pytest.mark.hint("Count the draws: one coin for each position reached, then one multinomial.")
def test_generator_moves_by_the_stated_draws(submission, draws):
    """After a call the generator has given one coin per visited position and one multinomial."""
    submission.check(lambda: generator_states(draws))


@pytest.mark.points(2, group="draws")
@pytest.mark.hint("Pass `generator=generator` to every torch function that draws.")
def test_global_generators_stay_untouched(submission):
    """With a generator given, the global ones of PyTorch, NumPy and Python are left alone."""
    submission.check(
        lambda: cases.all_kept() + cases.first_rejection() + cases.unsettled(),
        globals_untouched=True,
    )


@pytest.mark.points(1, group="draws", extra=True)
@pytest.mark.hint("Where nothing is left, call torch.multinomial once, on target_probs[i].")
def test_residual_of_nothing_is_one_draw_from_the_target(submission, draws):
    """If no residual is left the replacement is what torch.multinomial draws from the target."""
    submission.check(lambda: zero_residual_draws(draws))


# Seeded: the whole procedure on random rows -----------------------------------------------------


@pytest.mark.points(4, group="seeded")
@pytest.mark.hint("Follow the statement position by position: coin, compare, keep or replace.")
def test_seeded_calls_follow_the_procedure(submission, draws, rng):
    """Random rows and a seeded generator give the one answer that the stated procedure gives."""
    submission.check(lambda: seeded_cases(draws, rng, 90))


@pytest.mark.points(2, group="seeded")
@pytest.mark.hint("Draw from the generator itself: no copy, no new seed, no draw to spare.")
def test_calls_share_one_generator(submission, draws, rng):
    """Calls with one generator, one after another, go on where the last one stopped."""
    submission.check(lambda: one_after_another(draws, rng.randrange(2**32), rng, 24))


@pytest.mark.points(2, group="seeded")
@pytest.mark.hint("Keep nothing from call to call: the caller may refill the tensors it passed.")
def test_tensors_may_be_refilled_between_calls(submission, draws, rng):
    """Calls with the same tensor objects, refilled in between, follow what is in them now."""
    submission.check(lambda: refilled(draws, rng.randrange(2**32), rng), reuse=True)


@pytest.mark.points(2, group="seeded")
@pytest.mark.hint("With generator=None draw from PyTorch's default generator, as torch.rand does.")
def test_default_generator_is_used_without_one(submission, draws, rng):
    """Without a generator the random numbers come from PyTorch's default one, as it stands."""
    submission.check(lambda: default_generator_cases(draws, rng, 20))


# Edges ------------------------------------------------------------------------------------------


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("With K = 0 the loop never runs; the answer is one bonus token and n = 0.")
def test_empty_draft_gives_a_bonus_alone(submission):
    """With nothing drafted (K = 0) the answer is the bonus token alone and n = 0."""
    submission.check(cases.nothing_drafted)


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("Index rows instead of squeezing: a vocabulary of one still is an axis.")
def test_vocabulary_of_one_token(submission):
    """With a single token in the vocabulary (V = 1) all drafted tokens are kept."""
    submission.check(cases.one_word_vocabulary)


@pytest.mark.points(2, group="edges")
@pytest.mark.hint(
    "Collect the tokens as Python ints: int8 ends at 127, float16 skips ids above 2048."
)
def test_large_vocabularies(submission):
    """Ids of up to 5000 tokens come out as they are, whatever the dtypes of rows and ids."""
    submission.check(cases.large_vocabularies)


@pytest.mark.points(2, group="edges")
@pytest.mark.hint("Index with [i, t]; `.view` and raw storage assume contiguous memory.")
def test_inputs_need_not_be_contiguous(submission):
    """Rows from transposed storage and every second id of a longer tensor work as well."""
    submission.check(cases.strided)


@pytest.mark.points(2, group="edges", extra=True)
@pytest.mark.hint("If the residual sums to 0 at a rejection, draw from target_probs[i] instead.")
def test_residual_of_nothing_falls_back_to_the_target(submission):
    """If rounding leaves no residual at a rejection, the replacement comes from the target row."""
    submission.check(cases.zero_residual)


# Side effects -----------------------------------------------------------------------------------


@pytest.mark.points(2, group="side effects")
@pytest.mark.hint("`p[i].sub_(…)`, `p[i] -= …` and slices written to change the caller's tensors.")
def test_inputs_are_left_as_they_were(submission):
    """None of the three input tensors is changed, whether tokens are kept or rejected."""
    submission.check(cases.touchable, unchanged=True)


@pytest.mark.points(1, group="side effects")
@pytest.mark.hint("Build the tokens in a new tensor on every call.")
def test_answers_stay_as_they_were(submission):
    """The tokens of one call are not changed by the next, and share no memory with the inputs."""
    submission.check(
        lambda: cases.all_kept() + cases.first_rejection() + cases.varied(), private=True
    )


# Device -----------------------------------------------------------------------------------------


@pytest.mark.points(2, group="device", extra=True)
@pytest.mark.hint("Make the tokens with `device=draft_tokens.device`.")
def test_tokens_are_on_the_device_of_the_ids(submission, accelerator):
    """On an accelerator the tokens come back on the device of draft_tokens."""
    submission.check(lambda: cases.on_device(accelerator))


@pytest.mark.points(1, group="device", extra=True)
@pytest.mark.hint("Toss the coin with `device=generator.device` wherever a generator is given.")
def test_coin_is_drawn_where_the_generator_lives(submission, accelerator):
    """With a generator of the accelerator the coin is drawn on that accelerator."""
    submission.check(lambda: cases.on_device(accelerator, own_generator=True))
