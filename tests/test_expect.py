"""Comparison: nothing that differs compares equal, and no answer makes the comparison fail."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.expect import Difference, Expectation, changed, exactly, like, nearly, one_of
from grader.values import CARRIER, Array, Cut, NumpyScalar, Other, Value, array, strides_of

NAN, INF = math.nan, math.inf
SNAN = Array("torch", "float32", "cpu", (1,), b"\x01\x00\x80\x7f")
Q = array([0.25, 0.75])
GRAD = replace(Q, requires_grad=True)


def numpy(*values: Any, dtype: str = "float32") -> Array:
    return array(values, dtype, "numpy")


# ---- what is the same

SAME = [
    (None, exactly(None)),
    (True, exactly(True)),
    (3, exactly(3)),
    (10**40, exactly(10**40)),
    (0.5, exactly(0.5)),
    (-0.0, exactly(0.0)),
    (INF, exactly(INF)),
    ("abc", exactly("abc")),
    ((), exactly(())),
    ([], exactly([])),
    ({}, exactly({})),
    ((1, [2.0]), exactly((1, [2.0]))),
    ({"b": 2, "a": 1}, exactly({"a": 1, "b": 2})),
    ({(1, "x"): None}, exactly({(1, "x"): None})),
    (Q, exactly(Q)),
    (Q, exactly(like(Q, [0.25, 0.75]))),
    (replace(Q, strides=(3,), writeable=False, inference=True), exactly(Q)),
    (array([INF, -INF]), exactly(array([INF, -INF]))),
    (array([-0.0]), exactly(array([0.0]))),
    (array([]), exactly(array([]))),
    (array(0.5), exactly(array(0.5))),
    (array([True, False], "bool"), exactly(array([True, False], "bool"))),
    (array([2**53 + 1], "int64"), exactly(array([2**53 + 1], "int64"))),
    (array([3, 4], "int64"), exactly(like(array([0], "int64"), [3, 4]))),
    (0.5, nearly(0.5 + 1e-9, atol=1e-8)),
    (array([0.25, 0.75]), nearly(like(Q, [0.25 + 1e-9, 0.75]), atol=1e-8)),
    (array([0.0, 1.0]), nearly(like(Q, [0.0, 1.0]), atol=1e-8, zeros="exact")),
    (array([-0.0, 1.0]), nearly(like(Q, [0.0, 1.0]), atol=1e-8, zeros="exact")),
    (4, one_of(exactly(3), exactly(4))),
]


@pytest.mark.parametrize(("got", "expected"), SAME, ids=[str(e)[:30] for _, e in SAME])
def test_same(got: Value, expected: Expectation) -> None:
    """An answer of the expected type and value is met, whichever side of == it stands on."""
    assert expected.difference(got) is None
    assert got == expected
    assert expected == got


# ---- what is not the same, and the first difference told

DIFFERENT = [
    # types
    (1, exactly(True), "answer: expected bool True, got int 1"),
    (True, exactly(1), "answer: expected int 1, got bool True"),
    (False, exactly(0), "answer: expected int 0, got bool False"),
    (1.0, exactly(1), "answer: expected int 1, got float 1"),
    (1, exactly(1.0), "answer: expected a Python float (1.0), got int 1"),
    (0, nearly(0.0, atol=1), "answer: expected a Python float (0.0), got int 0"),
    (None, exactly(0), "answer: expected int 0, got None"),
    (None, exactly(Q), "answer: expected torch.Tensor, got None"),
    (0, exactly(None), "answer: expected None, got int 0"),
    ((), exactly(None), "answer: expected None, got tuple"),
    ([1], exactly((1,)), "answer: expected a tuple, got list"),
    ((1,), exactly([1]), "answer: expected a list, got tuple"),
    ([], exactly({}), "answer: expected a dict, got list"),
    ("1", exactly(1), "answer: expected int 1, got str"),
    (Other("bytes"), exactly("a"), "answer: expected str 'a', got bytes"),
    (Other("Fraction"), exactly(0.5), "answer: expected a Python float (0.5), got Fraction"),
    (Other("float"), exactly(0.5), "answer: expected a Python float (0.5), got float"),
    (NumpyScalar("float64", 0.5), exactly(0.5),
     "answer: expected a Python float (0.5), got numpy.float64(0.5)"),
    (NumpyScalar("int64", 1), exactly(1), "answer: expected int 1, got numpy.int64(1)"),
    (array(0.5), exactly(0.5),
     "answer: expected a Python float (0.5), got torch.Tensor of dtype float32, shape ()"),
    (0.25, exactly(array(0.25)), "answer: expected torch.Tensor, got float 0.25"),
    ([0.25, 0.75], exactly(Q), "answer: expected torch.Tensor, got list"),
    (Cut("list", 3), exactly([1, 2, 3]), "answer: expected a list, got list of 3 items"),
    (Cut("dict", 0), exactly({}), "answer: expected a dict, got dict of 0 items"),
    (Other("torch.Tensor", "torch.complex64"), exactly(Q),
     "answer: expected torch.Tensor, got torch.Tensor (torch.complex64)"),
    (numpy(0.25, 0.75), exactly(Q),
     "answer: expected torch.Tensor, got numpy.ndarray of dtype float32, shape (2,)"),
    (Q, exactly(numpy(0.25, 0.75)),
     "answer: expected numpy.ndarray, got torch.Tensor of dtype float32, shape (2,)"),
    # values
    (2, exactly(1), "answer: expected 1, got 2"),
    (2**63, exactly(-(2**63)), f"answer: expected {-(2**63)}, got {2**63}"),
    (10**40 + 1, exactly(10**40), f"answer: expected {10**40}, got {10**40 + 1}"),
    (False, exactly(True), "answer: expected True, got False"),
    ("a ", exactly("a"), "answer: expected 'a', got 'a '"),
    ("e\u0301", exactly("\u00e9"), "answer: expected '\u00e9', got 'e\u0301'"),
    (0.1 + 0.2, exactly(0.3), "answer: expected 0.3, got 0.30000000000000004"),
    (NAN, exactly(NAN), "answer: expected nan, got nan"),
    (NAN, nearly(0.5, atol=INF), "answer: expected 0.5, got nan"),
    (INF, nearly(0.5, atol=1e300), "answer: expected 0.5, got inf"),
    (-INF, exactly(INF), "answer: expected inf, got -inf"),
    (0.6, nearly(0.5, atol=0.05), "answer: expected 0.5, got 0.6"),
    # containers
    ((1,), exactly((1, 2)), "answer: expected 2 items, got 1"),
    ((1, 2, 3), exactly((1, 2)), "answer: expected 2 items, got 3"),
    ((), exactly((None,)), "answer: expected 1 items, got 0"),
    ((1, (2, 3)), exactly((1, (2, 4))), "answer[1][1]: expected 4, got 3"),
    ({"a": [1, True]}, exactly({"a": [1, 1]}), "answer['a'][1]: expected int 1, got bool True"),
    ({}, exactly({"a": 1}), "answer: the key 'a' is missing"),
    ({"a": 1, "b": 2}, exactly({"a": 1}), "answer: unexpected key 'b'"),
    ({"A": 1}, exactly({"a": 1}), "answer: the key 'a' is missing, there is 'A'"),
    ({True: "x"}, exactly({1: "x"}), "answer: the key 1 is missing, there is True"),
    ({1.0: "x"}, exactly({1: "x"}), "answer: the key 1 is missing, there is 1.0"),
    ({(1, True): "x"}, exactly({(1, 1): "x"}),
     "answer: the key (1, 1) is missing, there is (1, True)"),
    ({Other("NumpyScalar key"): 1}, exactly({1: 1}),
     "answer: the key 1 is missing, there is NumpyScalar key"),
    # arrays
    (replace(Q, dtype="int32"), exactly(Q), "answer: expected dtype float32, got dtype int32"),
    (array([0.25, 0.75], "float64"), exactly(Q),
     "answer: expected dtype float32, got dtype float64"),
    (array([[0.25, 0.75]]), exactly(Q), "answer: expected shape (2,), got shape (1, 2)"),
    (array([0.25]), exactly(array(0.25)), "answer: expected shape (), got shape (1,)"),
    (array(0.25), exactly(array([0.25])), "answer: expected shape (1,), got shape ()"),
    (array([0.5]), exactly(array([0.5, 0.5])), "answer: expected shape (2,), got shape (1,)"),
    (array(np.zeros((0, 3))), exactly(array(np.zeros((3, 0)))),
     "answer: expected shape (3, 0), got shape (0, 3)"),
    (array([]), exactly(array([0.0])), "answer: expected shape (1,), got shape (0,)"),
    (replace(Q, device="sim:0"), exactly(Q), "answer: expected device cpu, got device sim:0"),
    (GRAD, exactly(Q), "answer: the tensor must not require grad"),
    (array(0.75), exactly(array(0.5)), "answer: expected 0.5, got 0.75"),
    (array([2**53 + 1], "int64"), exactly(array([2**53], "int64")),
     f"answer[0]: expected {2**53}, got {2**53 + 1}"),
    (array([2**53 + 1], "int64"), exactly(like(array([0], "int64"), [2**53])),
     f"answer[0]: expected {2**53}, got {2**53 + 1}"),
    (array([2, 3], "int64"), nearly(array([2, 4], "int64"), atol=9),
     "answer[1]: expected 4, got 3\n  expected [2, 4]\n  got      [2, 3]"),
    (array([2, 3], "int64"), exactly(like(array([0], "int64"), [2, 4])),
     "answer[1]: expected 4, got 3\n  expected [2, 4]\n  got      [2, 3]"),
    (array([True], "bool"), exactly(array([False], "bool")), "answer[0]: expected False, got True"),
    (array([NAN]), exactly(array([NAN])), "answer[0]: expected nan, got nan"),
    (array([NAN]), nearly(array([0.0]), atol=INF), "answer[0]: expected 0, got nan"),
    (SNAN, nearly(array([1.0]), atol=1), "answer[0]: expected 1, got nan"),
    (array([INF]), nearly(array([1.0]), atol=1e30), "answer[0]: expected 1, got inf"),
    (array([-INF]), nearly(array([INF]), atol=1), "answer[0]: expected inf, got -inf"),
    (array([1.7e308], "float64"), nearly(array([-1.7e308], "float64"), atol=1),
     "answer[0]: expected -1.7e+308, got 1.7e+308"),
    (array([0.25, 0.5]), nearly(Q, atol=0.1),
     "answer[1]: expected 0.75, got 0.5\n  expected [0.25, 0.75]\n  got      [0.25, 0.5]"),
    (array([[0.0] * 5, [0.0, 0.0, 1.0, 0.0, 0.0]] * 2), nearly(array(np.zeros((4, 5))), atol=0.1),
     "answer[1, 2]: expected 0, got 1"),
    # zeros
    (array([1e-12]), nearly(array([0.0]), atol=1, zeros="exact"),
     "answer[0]: expected exactly 0, got 1e-12"),
    (array([NAN]), nearly(array([0.0]), atol=1, zeros="exact"),
     "answer[0]: expected exactly 0, got nan"),
    (array([0.0]), nearly(array([1e-12]), atol=1, zeros="exact"),
     "answer[0]: expected 1e-12, which is not 0, got 0"),
    (array([-0.0]), nearly(array([1e-12]), atol=1, zeros="exact"),
     "answer[0]: expected 1e-12, which is not 0, got 0"),
    (array([-0.5]), nearly(array([0.5]), atol=2, zeros="exact"),
     "answer[0]: expected 0.5, got -0.5"),
    # choices
    (5, one_of(exactly(3), exactly(4)), "expected 3 or 4; got 5"),
    (None, one_of(exactly((1,)), exactly((2,))), "answer: expected a tuple, got None"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("got", "expected", "text"), DIFFERENT, ids=[text[:50] for _, _, text in DIFFERENT]
)
def test_different(got: Value, expected: Expectation, text: str) -> None:
    """An answer that differs in type, form or value is not met; the first difference is told."""
    assert str(expected.difference(got)) == text
    assert got != expected
    assert expected != got


@pytest.mark.parametrize("zeros", ["near", "exact"])
def test_the_tolerance_is_absolute_and_inclusive(zeros: Any) -> None:
    """A difference of exactly `atol` passes, the next larger one does not."""
    expected = nearly(array([0.5], "float64"), atol=0.25, zeros=zeros)
    assert array([0.75], "float64") == expected
    assert array([np.nextafter(0.75, 1)], "float64") != expected


# ---- whatever arrives, the comparison says something and nothing else

ODD = [
    None, True, 0, -1, 10**59, 0.0, -0.0, NAN, INF, "", "\ud800\u202e\x1b[31m", "x" * 4096,
    (), [], {}, ((),), [[]], {"a": {}}, {None: 1}, {(1, (2,)): 1}, {NAN: 1}, {"\ud800": 1},
    ("x", 1), [None], [[[[[[1]]]]]], {"a": 1, 2: "b"},
    NumpyScalar("bool", True), NumpyScalar("float16", NAN), NumpyScalar("int64", 2**63 - 1),
    Other("torch.Size"), Other("Point", "detail"), Cut("list", 10**9), Cut("tuple", 0),
    {Other("Point key"): 1}, {(Other("Point"), Q): 1}, (Q, Other("Point")), [Cut("dict", 2)],
    SNAN, GRAD, array([]), array(np.zeros((0, 3))), array(np.zeros((10**6, 0))),
    array(np.zeros((1,) * 8)), array(np.ones((8,) * 7), "int8"), array(NAN), array(INF, "float16"),
    array([True], "bool"), array([2**63 - 1], "int64"), array([255], "uint8"),
    array([NAN, INF, -INF, -0.0]), array([1.7e308, -1.7e308], "float64"),
    numpy(), numpy(0.25, 0.75), numpy(NAN, dtype="float64"), [1] * 1024, ([0.5] * 1000,) * 4,
    {i: i for i in range(1024)},
]  # fmt: skip


def expectations() -> list[Expectation]:
    wide = [0.25, 0.75]
    return [
        *(exactly(value) for value in ODD if not isinstance(value, Other | Cut | NumpyScalar)),
        nearly({"accept_prob": 0.5, "residual": like(Q, wide)}, atol=1e-6, zeros="exact"),
        nearly((like(Q, wide), 1), atol=1e-6),
        nearly(array([INF, NAN, 0.0, 1.0]), atol=INF, zeros="exact"),
        one_of(exactly((array([1, 2], "int64"), 2)), exactly((array([1], "int64"), 1))),
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("got", ODD, ids=[repr(value)[:30] for value in ODD])
def test_no_answer_breaks_the_comparison(got: Value) -> None:
    """Any legal answer against any expectation gives a verdict, never an error."""
    for expected in expectations():
        difference = expected.difference(got)
        assert difference is None or isinstance(difference, Difference)
        assert len(str(difference)) < 7000
        assert expected.likeness(got) in ("same", "different", "unlike")


def test_only_the_value_itself_meets_an_exact_expectation() -> None:
    """Among many odd values each is met by itself alone, or by nothing where it holds a nan."""
    plain = [value for value in ODD if not isinstance(value, Other | Cut | NumpyScalar)]
    met = [
        (i, j)
        for i, expected in enumerate(plain)
        for j, got in enumerate(plain)
        if exactly(expected).difference(got) is None
    ]
    # 0.0 and -0.0 are one number; what holds a nan, a record or requires grad meets nothing.
    assert {(i, j) for i, j in met if i != j} == {(i, j) for i in (5, 6) for j in (5, 6) if i != j}


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.0, -0.0, 1.0, NAN, INF, 0.5]),
    st.sampled_from(["", "a", "1"]),
    st.builds(NumpyScalar, st.just("int64"), st.integers(0, 1)),
    st.builds(Other, st.just("Point")),
    st.builds(
        array,
        st.sampled_from([0.0, [0.0], [1.0], [0.0, 1.0], [], [[0.0, 1.0]], NAN, [INF, 0.0]]),
        st.sampled_from(["float16", "float32", "float64"]),
        st.sampled_from(["torch", "numpy"]),
    ),
)  # fmt: skip
keys = st.sampled_from(["a", "b", 0, 1, True, 1.0, None, (1,), (True,)])
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(
            st.sampled_from(["a", "b", 0, 1, True, 1.0, None, (1,)]), inner, max_size=2
        ),
    ),
    max_leaves=5,
)


def spelled(value: Value) -> str | None:
    """A value spelled out with its types; None where it holds something that equals nothing."""
    if isinstance(value, NumpyScalar | Other):
        return None
    if isinstance(value, Array):
        numbers = (value.numbers() + 0.0).ravel().tolist()  # -0.0 + 0.0 is 0.0
        if NAN in numbers or any(number != number for number in numbers):
            return None
        return f"{value.library} {value.dtype} {value.shape} {numbers}"
    if type(value) is float:
        return None if value != value else f"float {value + 0.0}"
    if type(value) is dict:
        value = sorted(((repr(k), v) for k, v in value.items()), key=lambda pair: pair[0])
        inside = spelled([list(pair) for pair in value])
        return None if inside is None else f"dict{inside}"
    if type(value) in (tuple, list):
        parts = [spelled(item) for item in value]
        return None if None in parts else f"{type(value).__name__}{parts}"
    return f"{type(value).__name__} {value!r}"


@settings(max_examples=250, deadline=None)
@given(got=values, wanted=values)
def test_equal_means_spelled_the_same(got: Value, wanted: Value) -> None:
    """A value meets another exactly where both, written with all their types, read the same."""
    alike = spelled(got) is not None and spelled(got) == spelled(wanted)
    assert (exactly(wanted).difference(got) is None) == alike
    assert (nearly(wanted, atol=0).difference(got) is None) == alike
    if alike:
        assert exactly(wanted).likeness(got) in ("same", "unlike")


# ---- likeness: what the numbers say once types are forgiven

LIKENESS = [
    ((Q, 1), (Q, 1), "same"),
    ((Q, 1), [Q, 1], "same"),
    ((Q, 1), [[0.25, 0.75], 1.0], "same"),
    ((Q, 1), (array([0.25, 0.75], "float64"), array(1, "int64")), "same"),
    ((Q, 1), {"a": numpy(0.25, 0.75), "b": NumpyScalar("int64", 1)}, "same"),
    ((Q, 1), (GRAD, True), "same"),
    ((Q, 1), (array([0.25, 0.5]), 1), "different"),
    ((Q, 1), (array([0.25]), 1), "different"),
    ((Q, 1), (array([NAN, 0.75]), 1), "different"),
    ((Q, 1), (array([INF, 0.75]), 1), "different"),
    ((Q, 1), (SNAN, 1, 1), "different"),
    ((Q, 1), (array(np.zeros((8,) * 7), "int8"), 1), "different"),
    ((Q, 1), ([0.25, 0.75], 10**59), "different"),
    ((Q, 1), None, "unlike"),
    ((Q, 1), (Q, None), "unlike"),
    ((Q, 1), (Q, "1"), "unlike"),
    ((Q, 1), (), "unlike"),
    ((Q, 1), (Q, Other("Point")), "unlike"),
    ((Q, 1), Cut("tuple", 5000), "unlike"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "got", "likeness"), LIKENESS)
def test_likeness(expected: Value, got: Value, likeness: str) -> None:
    """A wrong type with the right numbers is `same`; what holds no numbers is `unlike`."""
    assert exactly(expected).likeness(got) == likeness


def test_one_choice_alike_is_enough() -> None:
    """Of several expectations the one that the answer is most like decides."""
    choices = one_of(exactly((Q, 1)), exactly((Q, 2)))
    assert [choices.likeness(got) for got in ((Q, 2.0), (Q, 3), None)] == [
        "same",
        "different",
        "unlike",
    ]


# ---- what a learner may not touch

CHANGES = [
    (Q, replace(Q, data=array([0.25, 0.5]).data), "q[1] was changed from 0.75 to 0.5"),
    (Q, replace(Q, dtype="int32"), "q: its dtype was changed from float32 to int32"),
    (Q, replace(Q, shape=(2, 1), strides=(1, 1)), "q: its shape was changed from (2,) to (2, 1)"),
    (Q, replace(Q, device="sim:0"), "q: its device was changed from cpu to sim:0"),
    (Q, replace(Q, strides=(2,)), "q: its strides were changed from (1,) to (2,)"),
    (Q, GRAD, "q: its requires_grad flag was changed to True"),
    (Q, Other("torch.Tensor", "torch.complex64"), "q: it is now torch.Tensor (torch.complex64)"),
    (Q, None, "q: it is now None"),
    (array([0.0, 1.0]), array([-0.0, 1.0]), "q[0] was changed from 0 to -0"),
    (array([NAN, 1.0]), array([NAN, 2.0]), "q[1] was changed from 1 to 2"),
    (array(0.5), array(0.25), "q was changed from 0.5 to 0.25"),
    (array([1, 2], "int64"), array([1, 3], "int64"), "q[1] was changed from 2 to 3"),
    (numpy(0.5), replace(numpy(0.5), writeable=False),
     "q: its writeable flag was changed to False"),
    (numpy(0.5).to(layout="read_only"), numpy(0.5), "q: its writeable flag was changed to True"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "text"), CHANGES, ids=[text for _, _, text in CHANGES])
def test_changed(before: Array, after: Value, text: str) -> None:
    """A change of bytes, shape, strides or flags of an argument is told; nan is no change."""
    assert changed(before, after, "q") == text


@pytest.mark.parametrize(
    "argument",
    [
        *(array([0, 1], dtype) for dtype in CARRIER),
        array([NAN, -0.0]),
        array([]),
        array([[0.5, 0.5]] * 2, layout="expanded"),
        numpy(0.5).to(layout="every_second"),
    ],
)
def test_unchanged(argument: Array) -> None:
    """An argument that comes back as it was sent is unchanged."""
    seen = replace(argument, layout="contiguous", strides=strides_of(argument))
    assert changed(argument, seen, "q") is None


def test_a_mask_is_told_as_it_is_whatever_is_asked_of_zeros():
    """Exact zeros are asked of floats: of booleans the wrong entry is told, as without them."""
    wanted = nearly(array([True, False], "bool"), atol=0.1, zeros="exact")
    found = wanted.difference(array([True, True], "bool"))
    assert (found.kind, found.text.splitlines()[0]) == (
        "value",
        "answer[1]: expected False, got True",
    )


@pytest.mark.parametrize("value", [exactly(1), [exactly(1)], {"a": (1, nearly(1.0, atol=0.1))}])
def test_an_expectation_stands_alone(value):
    """One inside another is refused when it is built, not compared as a value."""
    with pytest.raises(TypeError, match="cannot stand inside another"):
        exactly(value)
