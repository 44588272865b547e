"""The questions by which a wrong `step` is recognised, and what other draws can be told apart.

Most calls leave one answer possible; the seeded ones have the answer that the stated draws give in
the installed PyTorch. A residual that rounds to nothing is not asked about: either answer to it is
worth full marks.
"""

import random
from functools import cache

from grader.diagnosis import Question, Sitting
from grader.values import Generator
from problems.step import cases

SEEDED = "random rows and a seed"


def sittings(library, device, draws):
    """Calls with new arguments, one generator for many calls, overwritten answers, a device."""
    return [
        Sitting((*_settled(), *_drawn(draws))),
        Sitting(_questions("calls that share a generator", _shared(draws))),
        Sitting(_questions("tensors that held other rows before", _refilled(draws)), reuse=True),
        Sitting(_questions("answers that are written over", cases.varied()), private=True),
        Sitting(_questions("inputs on a device", cases.on_device(device)), device=True),
    ]


def remark(findings):
    """What the seeded answers say of the draws, where the law is not in doubt."""
    asked = [finding for finding in findings if finding is not None]
    if not all(f.like for f in asked if f.question.kind in _LAW):
        return None
    seeded = [f for f in asked if f.question.kind == SEEDED]
    wrong = [f for f in seeded if not f.like]
    if not wrong or any(_kept(f) is None for f in seeded):
        return None
    counts = [(*_kept(f), len(f.question.case.args[2].numbers())) for f in seeded]
    if all(wanted == got for wanted, got, _ in counts):
        return (
            "Your coins are the stated ones, but the last token is not what one torch.multinomial "
            "with the generator draws from the right weights."
        )
    if all((wanted == 0) == (got == 0) for wanted, got, positions in counts if positions):
        return (
            "Your first coin is the stated one and later ones are not: toss one for each position "
            "when it is reached, and draw nothing in between."
        )
    return None


def _kept(finding):
    """How many tokens are to be kept and how many were; None where the answer is of no such form.

    That of the right answer is one less than its number of tokens.
    """
    if "value" not in (finding.trace or {"value": None}):
        return None
    wanted = finding.question.case.expects.value[1]
    if finding.like:
        return wanted, wanted
    value = finding.outcome.value
    if type(value) not in (tuple, list) or len(value) != 2 or type(value[1]) is not int:
        return None
    return wanted, value[1]


_LAW = {
    "all tokens kept",
    "a rejected token",
    "equal rows",
    "a forbidden token",
    "a residual next to nothing",
}


def _questions(kind, asked):
    return tuple(Question(kind, case, draws=not _has_generator(case)) for case in asked)


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
    ties = [case for kind in cases.ties(draws) for case in kind[:4]]
    return [
        *_questions("coins close to the accept probability", cases.bracket_accept(draws, range(2))),
        *_questions("a coin equal to the accept probability", ties + cases.coin_of_zero(draws)),
        *_questions("a close draw of a replacement", cases.bracket_residual(draws, range(3))),
        *_questions("a close draw of a bonus token", cases.bracket_bonus(draws, range(3))),
        *_questions("the state of the generator", cases.generator_states(draws)),
        *_questions(SEEDED, cases.seeded_cases(draws, rng, 30)),
        *_questions("calls without a generator", cases.default_generator_cases(draws, rng, 8)),
    ]


@cases.remembered
def _shared(draws):
    return cases.one_after_another(draws, 7, random.Random("shared"), 12)


@cases.remembered
def _refilled(draws):
    return cases.refilled(draws, 11, random.Random("refilled"))
