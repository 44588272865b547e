"""The questions by which a wrong `step` is recognised.

Most calls leave one answer possible; the seeded ones have the answer that the stated draws give in
the installed PyTorch. A residual that rounds to nothing is not asked about: either answer to it is
worth full marks.
"""

import random
from dataclasses import replace
from functools import cache

from grader.diagnosis import Question, Sitting
from grader.values import Array, Generator
from problems.step import cases

SEEDED = "random rows and a seed"
COINS = "coins close to the accept probability"


def sittings(library, device, draws):
    """Calls with new arguments, one generator for many calls, overwritten answers.

    No device: what is asked of one is extra credit, and would hide what costs points.
    """
    return [
        Sitting((*_settled(), *_drawn(draws))),
        Sitting(_questions("calls that share a generator", _shared(draws))),
        Sitting(_questions("tensors that held other rows before", _refilled(draws)), reuse=True),
        Sitting(_questions("answers that are written over", cases.varied()), private=True),
    ]


def remark(findings):
    """That only the last token is wrong, where the coins are beyond doubt."""
    asked = [finding for finding in findings if finding is not None]
    if not all(finding.like for finding in asked if finding.question.named or _is_coin(finding)):
        return None
    wrong = [f for f in asked if f.question.kind == SEEDED and not f.like]
    if wrong and all(_only_last_differs(finding) for finding in wrong):
        return (
            "Your coins are the stated ones, but the last token is not what one torch.multinomial "
            "draws from the right weights right after them: look at the weights, at the sampler, "
            "and at what else is drawn."
        )
    return None


def _is_coin(finding):
    return finding.question.kind == COINS


def _only_last_differs(finding):
    """Whether an answer keeps the right tokens and ends with another one than it should."""
    tokens, n = finding.question.case.expects.value
    value = finding.outcome.value
    if type(value) not in (tuple, list) or len(value) != 2 or value[1] != n:
        return False
    got = value[0].numbers() if isinstance(value[0], Array) else None
    if got is None or got.shape != tokens.shape:
        return False
    wanted = tokens.numbers()
    return (got[:-1] == wanted[:-1]).all() and got[-1] != wanted[-1]


def _questions(kind, asked, named=True):
    return tuple(Question(kind, case, not _has_generator(case), named) for case in asked)


def _has_generator(case):
    return any(isinstance(value, Generator) for value in (*case.args, *case.kwargs.values()))


@cache
def _settled():
    """Calls with one possible answer."""
    return tuple(
        question
        for kind, asked in {
            "all tokens kept": cases.all_kept(),
            "a rejected token": cases.first_rejection(),
            "half precision": cases.half_types(),
            "ids of other integer dtypes": cases.id_types(),
            "a generator by name, None or left out": cases.generator_forms(),
            "equal rows": cases.equal_rows()[:12],
            "a forbidden token": cases.forbidden_token()[:12],
            "a residual next to nothing": cases.small_residual()[:8],
            "an empty draft": cases.nothing_drafted(),
            "a vocabulary of one token": cases.one_word_vocabulary(),
            "long drafts": cases.long_drafts(),
            "large vocabularies": cases.large_vocabularies(),
            "rows that are not contiguous": cases.strided(),
        }.items()
        for question in _questions(kind, asked)
    )


@cases.remembered
def _drawn(draws):
    """Calls whose answer, or the state they leave, hangs on the stated draws."""
    rng = random.Random("diagnosis")
    # A right function may keep a token at a tie by rounding, but then it is not asked.
    ties = [case for kind in cases.ties(draws) for case in kind[:4]]
    ties = [replace(case, expects=case.expects.choices[0]) for case in ties]
    families = {
        COINS: cases.bracket_accept(draws, range(2)) + cases.bracket_extremes(draws),
        "a coin equal to the accept probability": ties + cases.coin_of_zero(draws),
        "a close draw of a replacement": cases.bracket_residual(draws, range(3)),
        "a close draw of a bonus token": cases.bracket_bonus(draws, range(3)),
        "the state of the generator": cases.generator_states(draws),
        SEEDED: cases.seeded_cases(draws, rng, 50),
        "calls without a generator": cases.default_generator_cases(draws, rng, 8),
    }
    return [
        question
        for kind, asked in families.items()
        for question in _questions(kind, asked, named=False)
    ]


@cases.remembered
def _shared(draws):
    return cases.one_after_another(draws, 7, random.Random("shared"), 12)


@cases.remembered
def _refilled(draws):
    return cases.refilled(draws, 11, random.Random("refilled"))
