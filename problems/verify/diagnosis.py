"""The questions by which a wrong `verify` is recognised: every kind of row, in every dtype.

The rows come from a fixed seed, so that what was answered once can be compared with what is
answered now.
"""

import random
from functools import cache

from grader.diagnosis import Question, Sitting
from grader.values import FLOATING
from problems.verify import cases


def sittings(library, device, draws):
    """Plain calls, calls whose answers are overwritten, refilled arguments, and a device."""
    result = [
        Sitting((*_plain(library), *_in_other_ways(library))),
        Sitting(_private(library), private=True),
        Sitting(_refilled(library), reuse=True),
    ]
    if library == "torch":
        result.append(Sitting(_on_device(device), device=True))
    return result


@cache
def _rows(dtype):
    """Questions of one dtype, with what their rows are an example of."""
    rng = random.Random(f"diagnosis:{dtype}")
    half = [
        ("ordinary rows", cases.ordinary(dtype)),
        ("rows that are equal", cases.equal_rows(dtype)[1:]),
        ("rows that are equal once rounded", cases.rounded_away(dtype)[:1]),
        ("a leftover next to nothing", cases.tiny_residuals(dtype)),
        ("a token with next to no probability", cases.rare_tokens(dtype)),
        ("rows with zeros", cases.zeros_in_draft(dtype)),
    ]
    if dtype in ("float16", "bfloat16"):
        return [(kind, question) for kind, questions in half for question in questions]
    full = [
        ("ordinary rows", cases.ordinary(dtype)),
        ("ordinary rows", cases.softmax_questions(rng, dtype, [7, 40])),
        ("rows of 1200 tokens", cases.softmax_questions(rng, dtype, [1200])),
        ("rows that are equal", cases.equal_rows(dtype)),
        ("rows that are equal once rounded", cases.rounded_away(dtype)),
        ("rows that nearly agree", cases.slight_shifts(dtype)),
        ("a leftover next to nothing", cases.tiny_residuals(dtype)),
        ("a leftover next to nothing", cases.subnormal_residuals(dtype)),
        ("a token with next to no probability", cases.rare_tokens(dtype)),
        ("a token with next to no probability", cases.subnormal_tokens(dtype)),
        ("rows with zeros", cases.disjoint_supports(dtype) + cases.zeros_in_draft(dtype)),
        ("a vocabulary of one token", cases.one_token(dtype)),
        ("different drafted tokens", cases.every_token(dtype)),
        ("rows that nearly agree", cases.near_equal_questions(rng, dtype, [9, 60])),
    ]
    return [(kind, question) for kind, questions in full for question in questions]


def _plain(library):
    return [
        Question(kind, question.case(library))
        for dtype in FLOATING[library]
        for kind, question in _rows(dtype)
    ]


def _in_other_ways(library):
    """Views, read-only rows, another default dtype, and the first question once more."""
    first, second, *_ = cases.ordinary()
    uniform = cases.uniform_draft("float32")
    kind = "rows that are views of other arrays"
    asked = [
        Question(kind, first.case(library, layouts=("column", "column"))),
        Question(kind, second.case(library, layouts=("every_second", "column"))),
        Question(kind, uniform.case(library, layouts=("expanded", "contiguous"))),
        Question("read-only rows", first.case(library, layouts=("read_only", "read_only"))),
    ]
    if library == "torch":
        kind = "another default dtype"
        zeros = cases.equal_rows("float32")[1]
        asked += [
            Question(kind, question.case(library, default_dtype=dtype))
            for dtype in ("float64", "float16")
            for question in (first, second, zeros)
        ]
    return [*asked, Question("the same call again", first.case(library))]


@cache
def _private(library):
    rng = random.Random("private")
    asked = []
    for dtype in FLOATING[library]:
        first, second, *_ = cases.ordinary(dtype)
        asked += [
            ("ordinary rows", first),
            ("ordinary rows", second),
            ("rows that are equal", cases.equal_rows(dtype)[1]),
            ("rows that are equal once rounded", cases.rounded_away(dtype)[0]),
            ("rows with zeros", cases.disjoint_supports(dtype)[0]),
            ("rows with zeros", cases.disjoint_supports(dtype)[1]),
            ("a vocabulary of one token", cases.one_token(dtype)[0]),
            ("rows of 1200 tokens", cases.softmax_questions(rng, dtype, [1200])[0]),
            ("rows of 1200 tokens", cases.softmax_questions(rng, dtype, [1200])[0]),
            ("rows that are equal", cases.equal_softmax(rng, dtype, 9)),
            ("ordinary rows", first),
        ]
    return tuple(Question(kind, question.case(library)) for kind, question in asked)


@cache
def _refilled(library):
    """Other numbers in the arrays of the call before, drafted token and size being the same."""
    rng = random.Random("refilled")
    rows = cases.different_rows(rng, "float32", [9, 9, 300, 300])
    rows += cases.apart_in_the_middle(rng, "float32")
    asked = cases.ordinary() + [
        cases.ask(q.draft.numbers(), q.target.numbers(), 0, q.draft.dtype, q.note) for q in rows
    ]
    return tuple(Question("arrays that held other numbers before", q.case(library)) for q in asked)


@cache
def _on_device(device):
    rng = random.Random("device")
    asked = [
        *cases.ordinary(),
        *cases.equal_rows("float16"),
        *cases.rounded_away("float32"),
        *cases.tiny_residuals("bfloat16"),
        *cases.softmax_questions(rng, "float64", [9]),
    ]
    return tuple(Question("rows on a device", q.case("torch", device=device)) for q in asked)
