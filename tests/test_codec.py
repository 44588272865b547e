"""Values on the wire: what arrives is what was returned, and a false claim is a WireError."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.codec import ReplyPayload, RequestWriter, decode
from grader.expect import changed, exactly, like, nearly
from grader.problem import Limits
from grader.submission import Case, Outcome, Submission
from grader.values import (
    CARRIER,
    FLOATING,
    LAYOUTS,
    Array,
    Cut,
    NumpyScalar,
    Other,
    Value,
    array,
    seeded,
    strides_of,
)
from grader.worker import wire
from grader.worker.wire import WireError
from grader.workers import launcher

# ---- requests


def written(value: Value) -> Any:
    return RequestWriter().value(value)


@pytest.mark.parametrize(
    ("value", "tagged"),
    [
        (None, ["none"]),
        (True, ["bool", True]),
        (-3, ["int", "-3"]),
        (2**70, ["int", str(2**70)]),
        (0.1, ["float", "0x1.999999999999ap-4"]),
        (-0.0, ["float", "-0x0.0p+0"]),
        (math.inf, ["float", "inf"]),
        ("é\x00", ["str", "é\x00"]),
        ((1, [None]), ["tuple", 2, [["int", "1"], ["list", 1, [["none"]]]]]),
        ({"a": ()}, ["dict", 1, [[["str", "a"], ["tuple", 0, []]]]]),
        (seeded(7), ["generator", 7, False, "cpu"]),
        (seeded(7, shared=True), ["generator", 7, True, "cpu"]),
        (seeded(7, device="sim:0"), ["generator", 7, False, "sim:0"]),
    ],
)
def test_arguments_are_tagged(value: Value, tagged: Any) -> None:
    """An argument is written with its exact type, numbers in a form that loses nothing."""
    assert written(value) == tagged


def test_arrays_point_into_one_payload() -> None:
    """The bytes of all arrays of a message stand one after another, each where it can be read."""
    writer = RequestWriter()
    tagged = writer.value((array([1.0]), array([True], "bool"), array([], "float64")))
    assert [spec["at"] for _, spec in tagged[2]] == [[0, 4], [8, 1], [16, 0]]
    assert writer.payload() == array([1.0]).data + bytes(4) + b"\x01" + bytes(7)


@pytest.mark.parametrize(
    "value",
    [
        object(),
        b"bytes",
        1j,
        np.float64(1),
        np.zeros(2),
        {1, 2},
        Other("x"),
        NumpyScalar("bool", 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_passed_is_a_type_error(value: Any) -> None:
    """A check that passes something else than a value is told so."""
    with pytest.raises(TypeError, match="cannot be passed"):
        written([value])


# ---- replies, claim by claim

PAYLOAD = bytes(range(16))
LEGAL_ARRAY = {
    "lib": "torch", "dtype": "uint8", "shape": [2, 3], "device": "cpu", "strides": [3, 1],
    "grad": False, "writeable": True, "inference": False, "at": [0, 6],
}  # fmt: skip


def read(tagged: Any, payload: bytes = PAYLOAD) -> Value:
    return decode(tagged, ReplyPayload(memoryview(payload)))


def claim(**changes: Any) -> list[Any]:
    """A legal array with some of its claims replaced."""
    return ["array", LEGAL_ARRAY | changes]


def nested(depth: int, tag: str = "list") -> Any:
    """So many lists inside each other."""
    tagged: Any = ["none"]
    for _ in range(depth):
        tagged = [tag, 1, [tagged]]
    return tagged


@pytest.mark.parametrize(
    ("tagged", "value"),
    [
        (["none"], None),
        (["bool", False], False),
        (["int", "-12"], -12),
        (["int", "9" * 60], int("9" * 60)),
        (["float", "0x1.999999999999ap-4"], 0.1),
        (["float", "-inf"], -math.inf),
        (["str", "a\ud800"], "a\ud800"),
        (["tuple", 0, []], ()),
        (["list", 2, [["none"], ["tuple", 1, [["int", "1"]]]]], [None, (1,)]),
        (["dict", 1, [[["str", "a"], ["none"]]]], {"a": None}),
        (["dict", 1, [[["tuple", 1, [["int", "1"]]], ["none"]]]], {(1,): None}),
    ],
)
def test_legal_replies_are_read(tagged: Any, value: Value) -> None:
    """An exact tag is the value it says, of exactly that type."""
    found = read(tagged)
    assert type(found) is type(value)
    assert found == exactly(value)


@pytest.mark.parametrize(
    ("tagged", "shown"),
    [
        (["npscalar", "float16", "0x1.8000000000000p+1"], "numpy.float16(3.0)"),
        (["npscalar", "bool", "1"], "numpy.bool(True)"),
        (["npscalar", "int64", "-1"], "numpy.int64(-1)"),
        (["other", "Point", ""], "Point"),
        (["other", "A\x1b[31m\n\u202eB", "x\ud800"], "A B (x)"),
        (["list", 10**9, []], "list of 1000000000 items"),
        (["dict", 3, []], "dict of 3 items"),
        (claim(), "torch uint8 [[0, 1, 2], [3, 4, 5]]"),
        (claim(at=[10, 6]), "torch uint8 [[10, 11, 12], [13, 14, 15]]"),
        (claim(lib="numpy", dtype="bool", shape=[2], strides=[-1], at=[0, 2]),
         "numpy bool [False, True]"),
        (claim(shape=[0, 2**24], at=[3, 0]), "torch uint8 []"),
        (claim(device="sim:0", shape=[], strides=[], at=[7, 1]), "torch uint8, device=sim:0 7"),
    ],
)  # fmt: skip
def test_records_are_read(tagged: Any, shown: str) -> None:
    """What is no plain value is a record that keeps what was claimed, in clean text."""
    assert repr(read(tagged)) == shown


@pytest.mark.parametrize(
    "pairs",
    [
        [[["bool", True], ["none"]], [["int", "1"], ["none"]]],
        [[["str", "a"], ["int", "1"]], [["str", "a"], ["int", "2"]]],
    ],
)
def test_a_key_twice_is_no_dict_of_that_length(pairs: Any) -> None:
    """Keys that fall together make a record, never a smaller dict that could be the right one."""
    assert isinstance(read(["dict", 2, pairs]), Cut)


def test_a_record_as_a_key_is_no_expected_key() -> None:
    """A key that is a NumPy scalar or an array is kept as something that equals nothing."""
    found = read(["dict", 1, [[["npscalar", "int64", "1"], ["none"]]]])
    assert [type(key) for key in found] == [Other]
    assert found != exactly({1: None})


BAD_REPLIES = [
    # no tag at all
    None, True, 3, 0.5, "none", {}, {"tag": "none"}, [], [[]], [None], [3], ["None"], [["none"]],
    ["object", "x"], ["generator", 1, False], ["tensor", {}], ["bytes", "x"], ["\x1b[31m"],
    # wrong number or type of parts
    ["none", None], ["bool"], ["bool", 1], ["bool", 0], ["bool", None], ["bool", "True"],
    ["bool", True, True], ["int"], ["int", 3], ["int", 3.0], ["int", True], ["int", None],
    ["float"], ["float", 0.5], ["float", None], ["str"], ["str", 3], ["str", None], ["str", ["a"]],
    # integers in another form than their own
    ["int", ""], ["int", "-"], ["int", "+1"], ["int", " 1"], ["int", "1 "], ["int", "1_0"],
    ["int", "01"], ["int", "-0"], ["int", "--1"], ["int", "0x1"], ["int", "1.0"], ["int", "1e3"],
    ["int", "²"], ["int", "١"], ["int", "9" * 61], ["int", "1\n"],
    # floats in another form than their own
    ["float", ""], ["float", "0.5"], ["float", "1"], ["float", "0x1"], ["float", "0x1p0"],
    ["float", "Inf"], ["float", "infinity"], ["float", "-nan"], ["float", "NaN"], ["float", "+inf"],
    ["float", "0x1.0p+99999"], ["float", " nan"], ["float", "0X1.0000000000000P+0"],
    ["float", "0x1.00000000000000p+0"], ["float", "0x1.0000000000000p+0\n"], ["float", "x" * 9999],
    # texts
    ["str", "x" * 4097],
    # containers
    ["tuple"], ["tuple", 1], ["tuple", [], 0], ["tuple", 1, [["none"], ["none"]]],
    ["list", 2, [["none"]]], ["list", -1, []], ["list", True, [["none"]]],
    ["list", 1.0, [["none"]]],
    ["list", "1", [["none"]]], ["list", 0, None], ["list", 0, {}], ["list", 2**62, []],
    ["list", 1, ["none"]], ["list", 1, [[]]], ["list", 1025, [["none"]] * 1025],
    ["set", 0, []], ["dict", 1, [["str", "a"]]], ["dict", 1, [[["str", "a"]]]], ["dict", 1, [[]]],
    ["dict", 1, [[["str", "a"], ["none"], ["none"]]]], ["dict", 1, {"a": 1}],
    ["dict", 1, [[["list", 0, []], ["none"], ["none"]]]],
    ["dict", 1, [[["tuple", 1, [["list", 0, []]]], ["none"]]]],
    nested(9), nested(9, "tuple"), nested(100),
    # NumPy scalars
    ["npscalar"], ["npscalar", "float64"], ["npscalar", "float64", 0.5],
    ["npscalar", "float64", "1"],
    ["npscalar", "int64", "0x1.0000000000000p+0"], ["npscalar", "bool", "2"],
    ["npscalar", "bool", "True"], ["npscalar", "complex64", "1"], ["npscalar", "bfloat16", "nan"],
    ["npscalar", "object", "1"], ["npscalar", 8, "1"],
    # others
    ["other"], ["other", "x"], ["other", "x", None], ["other", 1, ""], ["other", "x", "", ""],
    # arrays: keys
    ["array"], ["array", None], ["array", []], ["array", {}], ["array", LEGAL_ARRAY, 1],
    ["array", {k: v for k, v in LEGAL_ARRAY.items() if k != "at"}], claim(extra=1),
    ["array", LEGAL_ARRAY | {"data": "AAAA"}],
    # arrays: names
    claim(lib="jax"), claim(lib=None), claim(lib=["torch"]), claim(lib={}), claim(dtype="float128"),
    claim(dtype="object"), claim(dtype="|O"), claim(dtype="<f4"), claim(dtype=None),
    claim(dtype=["uint8"]), claim(device=None), claim(device=0), claim(device="x" * 81),
    # arrays: flags
    claim(grad=0), claim(grad=None), claim(writeable=1), claim(inference="false"),
    # arrays: shape and strides
    claim(shape=None), claim(shape="23"), claim(shape=[2]), claim(shape=[2, -3]),
    claim(shape=[-2, -3]), claim(shape=[2.0, 3]), claim(shape=[True, 6]), claim(shape=[6]),
    claim(shape=[1] * 9, strides=[1] * 9, at=[0, 1]), claim(shape=[2, 4]), claim(shape=[2**62, 3]),
    claim(shape=[2**63, 0], at=[0, 0]), claim(shape=[2**62, 0], at=[0, 0]),
    claim(shape=[0, 2**31, 2**31], strides=[1] * 3, at=[0, 0]),
    claim(shape=[10**400, 0], at=[0, 0]), claim(strides=[3]), claim(strides=[3, 1, 1]),
    claim(strides=None), claim(strides=[3, -1]), claim(strides=[3, 1.0]),
    claim(lib="numpy", strides=[3, 2**63]),
    # arrays: bytes
    claim(at=None), claim(at=[]), claim(at=[0]), claim(at=[0, 6, 0]), claim(at=["0", "6"]),
    claim(at=[0.0, 6]), claim(at=[False, 6]), claim(at=[-1, 6]), claim(at=[11, 6]),
    claim(at=[0, 5]),
    claim(at=[0, 7]), claim(at=[2**62, 6]), claim(at=[0, -6]), claim(dtype="float32"),
    claim(shape=[0], strides=[1], at=[17, 0]), claim(dtype="bool"),
]  # fmt: skip


@pytest.mark.parametrize("tagged", BAD_REPLIES, ids=[str(bad)[:40] for bad in BAD_REPLIES])
def test_a_false_claim_is_a_wire_error(tagged: Any) -> None:
    """Whatever breaks a rule is a WireError with a short, clean reason, alone or inside a list."""
    for claimed in (tagged, ["list", 1, [tagged]], ["dict", 1, [[["str", "a"], tagged]]]):
        with pytest.raises(WireError) as caught:
            read(claimed)
        assert len(str(caught.value)) < 100
        assert str(caught.value).isprintable()


def test_bytes_are_taken_once() -> None:
    """A reply of some kilobytes that names one array over and over does not become gigabytes."""
    twice = ["tuple", 2, [claim(), claim()]]
    assert len(read(twice)) == 2  # 12 of 16 bytes
    with pytest.raises(WireError):
        read(["tuple", 3, [claim(), claim(), claim()]])


def test_bytes_are_taken_once_in_all_values_of_a_reply() -> None:
    """The count goes on from one value of a reply to the next."""
    payload = ReplyPayload(memoryview(PAYLOAD))
    decode(["list", 2, [claim(), claim()]], payload)
    with pytest.raises(WireError):
        decode(claim(), payload)


# ---- whatever arrives

texts = st.sampled_from(
    "none bool int float str tuple list dict array npscalar other torch numpy uint8 bool float32 "
    "bfloat16 cpu nan inf 0 1 -1 0x1.0000000000000p+0 \ud800\x1b".split(" ")
)
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 20), st.sampled_from([2**24, 2**62, 2**63, 10**30]),
    st.floats(), texts, st.text(max_size=3),
)  # fmt: skip
arrays = st.fixed_dictionaries(
    {
        "lib": st.sampled_from(["torch", "numpy"]) | leaves,
        "dtype": st.sampled_from([*CARRIER]) | leaves,
        "shape": st.lists(st.integers(0, 3), max_size=3) | leaves,
        "device": st.just("cpu") | leaves,
        "strides": st.lists(st.integers(-1, 3), max_size=3) | leaves,
        "grad": st.booleans(),
        "writeable": st.booleans(),
        "inference": st.booleans() | leaves,
        "at": st.tuples(st.integers(-1, 9), st.integers(0, 9)).map(list) | leaves,
    }
)
tags = st.recursive(
    st.one_of(
        leaves,
        st.tuples(texts, leaves).map(list),
        st.tuples(st.just("npscalar"), st.sampled_from([*CARRIER]), texts).map(list),
        st.tuples(st.just("array"), arrays).map(list),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).flatmap(
            lambda items: st.sampled_from(
                [["tuple", len(items), items], ["list", len(items), items]]
            )
        ),
        st.lists(st.lists(inner, min_size=2, max_size=2), max_size=2).map(
            lambda pairs: ["dict", len(pairs), pairs]
        ),
        st.tuples(texts, st.integers(-1, 3), st.lists(inner, max_size=3)).map(list),
    ),
    max_leaves=6,
)


def is_legal(value: Value) -> bool:
    """Whether a decoded value is one of the closed list of types, through and through."""
    if type(value) in (tuple, list):
        return all(map(is_legal, value))
    if type(value) is dict:
        return all(is_legal(key) and is_legal(item) for key, item in value.items())
    if type(value) is Array:
        return value.numbers().shape == value.shape
    return value is None or type(value) in (bool, int, float, str, NumpyScalar, Other, Cut)


@settings(max_examples=250, deadline=None)
@given(tags)
def test_any_json_is_a_legal_value_or_a_wire_error(tagged: Any) -> None:
    """Whatever JSON arrives, decoding gives a value of the closed list or a WireError."""
    try:
        value = read(json.loads(json.dumps(tagged)))
    except WireError:
        return
    assert is_legal(value)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(LEGAL_ARRAY)), leaves | st.lists(leaves, max_size=3))
def test_any_claim_about_an_array_is_judged(key: str, claimed: Any) -> None:
    """Whatever one key of an array claims, the array is a legal value or a WireError."""
    try:
        value = read(claim(**{key: claimed}))
    except WireError:
        return
    assert is_legal(value)


# ---- through a real worker

SOURCE = b"""
import collections, enum, fractions, types
import numpy as np
import torch

Point = collections.namedtuple("Point", "x y")
Colour = enum.IntEnum("Colour", "RED")
class Text(str): pass
class Whole(int): pass
class Real(float): pass
class Row(list): pass
class Table(dict): pass
class Tensor(torch.Tensor): pass
class Masked(np.ndarray): pass
class Silent:
    def __repr__(self): raise RuntimeError
    def __eq__(self, other): return True
    __hash__ = None
class Liar:
    __class__ = float
    def hex(self): return "0x1.0000000000000p-1"
class \xc3\x84\xc3\xb6: pass
Long = type("x" * 5000, (), {})
Coded = type("\\x1b[31mred\\u202e", (), {})
Misnamed = type("Misnamed", (), {"__module__": 3})

def chain(depth, kind=list):
    value = None
    for _ in range(depth):
        value = kind([value])
    return value

def knot():
    value = []
    value.append(value)
    return value

def wide(width, depth):
    value = 0
    for _ in range(depth):
        value = [value] * width
    return value

def identity(x):
    return x

def make(x):
    return eval(x)

def draw(x):
    return torch.rand(3, generator=x)

def write(x):
    x[...] = 1 - x
    return x
"""


@pytest.fixture(name="load", scope="module")
def _load() -> Iterator[Callable[..., Submission]]:
    """Loads the source above, and what is added to it, in a worker of its own."""
    # At a level where tensors in shared memory can be made as well, which takes a file.
    workers = launcher("auto", level="process")
    limits = Limits(load=60, call=20, submission=300, memory=1024)
    loaded: list[Submission] = []

    def load(*entries: str, added: str = "") -> Submission:
        source = SOURCE + added.encode()
        loaded.append(Submission(workers, source, entries, ["x"], limits))
        return loaded[-1]

    yield load
    for submission in loaded:
        submission.close()
    workers.close()


@pytest.fixture(name="submission", scope="module")
def _submission(load: Callable[..., Submission]) -> Submission:
    """One worker for all round trips."""
    return load("identity", "make", "write", "draw")


def made(submission: Submission, expression: str) -> Value:
    """What arrives when a submission returns the value of an expression."""
    (outcome,) = submission.outcomes([Case((expression,), exactly(None))], entry="make")
    assert outcome.failure is None, outcome.failure
    return outcome.value


PLAIN = [
    None, True, False, 0, -1, 2**63, -(10**50), 0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308,
    math.inf, -math.inf, "", "abc", "é\x00\u202e\U0001f600", "\ud800", "x" * 4096,
    (), [], {}, (1,), [1, (2.0, [None])], {"a": {1: (True, "x")}, None: 0, 1.5: 1, (1, "b"): 2},
    [0] * 1024, {i: i for i in range(1024)}, ((((((1,),),),),),),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=[repr(value)[:30] for value in PLAIN])
def test_plain_values_come_back(submission: Submission, value: Value) -> None:
    """A Python value that a function returns as it got it is the same value, bit for bit."""
    found = submission(value)
    assert found == exactly(value)
    assert repr(found) == repr(value)


def test_nan_comes_back(submission: Submission) -> None:
    """nan is nan on both ways, alone, in an array and as a NumPy scalar."""
    assert math.isnan(submission(math.nan))
    assert np.isnan(submission(array([math.nan])).numbers()).all()
    assert math.isnan(made(submission, "np.float16('nan')").value)


def shaped(dtype: str, library: Any, layout: Any, shape: tuple[int, ...]) -> Array:
    """Different numbers along every axis, or along all but the last where that is expanded."""
    count = math.prod(shape[:-1] if layout == "expanded" else shape)
    numbers = (np.arange(count) % 100) * (0.25 if dtype in FLOATING["torch"] else 1) + 1
    if dtype == "bool":
        numbers = numbers % 2
    if layout == "expanded":
        numbers = np.repeat(numbers, shape[-1])
    return array(numbers.reshape(shape), dtype, library, "cpu", layout)


SHAPES = [(), (1,), (5,), (0,), (2, 3), (3, 1), (1, 3), (0, 3), (3, 0), (2, 3, 4), (2, 0, 3)]
KINDS = [*(("torch", d) for d in CARRIER), *(("numpy", d) for d in CARRIER if d != "bfloat16")]


def observed(submission: Submission, given: list[Array], entry: str) -> list[Outcome]:
    return submission.outcomes([Case((a,), exactly(a)) for a in given], ("args",), entry)


@pytest.mark.parametrize(("library", "dtype"), KINDS)
def test_arrays_come_back(submission: Submission, library: Any, dtype: str) -> None:
    """An array of any dtype, shape and layout is built as described and read back as it was."""
    given = [
        shaped(dtype, library, layout, shape)
        for layout, shape in itertools.product(LAYOUTS, SHAPES)
        if shape or layout in ("contiguous", "read_only")
    ]
    outcomes = observed(submission, given, "identity")
    for sent, outcome in zip(given, outcomes, strict=True):
        assert outcome.failure is None
        assert outcome.value == exactly(sent)
        assert strides_of(outcome.value) == strides_of(sent), (sent.layout, sent.shape)
        assert changed(sent, outcome.args_after[0], "x") is None
        assert outcome.value.writeable == (library == "torch" or sent.layout != "read_only")
        assert outcome.value.inference == (library == "torch" and sent.layout == "read_only")


@pytest.mark.parametrize("library", ["torch", "numpy"])
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "read_only"])
def test_writing_into_an_argument_is_seen(
    submission: Submission, library: Any, layout: Any
) -> None:
    """Whatever the layout, an argument can be written to and the change arrives."""
    sent = array([[0.25, 0.25], [0.5, 0.5]], "float32", library, "cpu", layout)
    (outcome,) = observed(submission, [sent], "write")
    if library == "torch" and layout == "expanded":
        # PyTorch does not write to a tensor whose entries are one.
        assert outcome.failure is not None
        return
    assert changed(sent, outcome.args_after[0], "x") == "x[0, 0] was changed from 0.25 to 0.75"


def test_every_bit_pattern_of_a_half_comes_back(submission: Submission) -> None:
    """All 2^16 numbers of float16 and bfloat16 arrive bit for bit, nan payloads included."""
    bits = np.arange(2**16, dtype="<u2").tobytes()
    for dtype in ("float16", "bfloat16"):
        assert submission(Array("torch", dtype, "cpu", (2**16,), bits)).data == bits


@pytest.mark.parametrize("dtype", FLOATING["torch"])
def test_numbers_are_the_workers_numbers(submission: Submission, dtype: str) -> None:
    """A number that is rounded here is the number that PyTorch rounds it to there."""
    numbers = [1 / 3, 0.1, 1e-7, 65519.0, 2.0**-133, 3.3895313892515355e38]
    theirs = made(submission, f"torch.tensor({numbers}, dtype=torch.float64).to(torch.{dtype})")
    assert theirs == exactly(array(numbers, dtype))


def test_a_shared_generator_streams_on(submission: Submission) -> None:
    """Calls of one message share the generator of a seed only where they ask to."""
    asks = [seeded(3, shared=True), seeded(3), seeded(3, shared=True), seeded(3)]
    outcomes = submission.outcomes([Case((g,), exactly(None)) for g in asks], (), "draw")
    first, own, second, again = (outcome.value for outcome in outcomes)
    six = made(submission, "torch.rand(6, generator=torch.Generator().manual_seed(3))").numbers()
    assert all(found == exactly(like(found, six[:3])) for found in (first, own, again))
    assert second == exactly(like(first, six[3:]))


ARRIVES = [
    # subclasses are not what they derive from
    ("Point(1, 2)", "Point"), ("Colour.RED", "Colour"), ("Text('a')", "Text"),
    ("Whole(1)", "Whole"),
    ("Real(0.5)", "Real"), ("Row([1])", "Row"), ("Table(a=1)", "Table"),
    ("collections.OrderedDict(a=1)", "collections.OrderedDict"),
    ("collections.defaultdict(int)", "collections.defaultdict"),
    ("torch.ones(2).as_subclass(Tensor)", "Tensor"), ("np.ones(2).view(Masked)", "Masked"),
    ("torch.nn.Parameter(torch.ones(2))", "torch.nn.parameter.Parameter"),
    ("torch.nn.Buffer(torch.ones(2)).as_subclass(torch.Tensor)", "torch float32 [1, 1]"),
    ("np.ma.array([1.0])", "numpy.ma.MaskedArray"), ("np.matrix([1.0])", "numpy.matrix"),
    ("torch.Size([1])", "torch.Size"),
    # numbers that are no Python numbers
    ("np.float64(0.5)", "numpy.float64(0.5)"),
    ("np.float32(0.1)", "numpy.float32(0.10000000149011612)"),
    ("np.float16(1)", "numpy.float16(1.0)"), ("np.int64(-3)", "numpy.int64(-3)"),
    ("np.uint8(255)", "numpy.uint8(255)"), ("np.bool_(True)", "numpy.bool(True)"),
    ("np.float64('inf')", "numpy.float64(inf)"), ("np.longdouble(1)", "numpy.longdouble"),
    ("np.complex128(1)", "numpy.complex128"), ("np.uint64(1)", "numpy.uint64"),
    ("np.str_('a')", "numpy.str_"), ("np.datetime64('2020')", "numpy.datetime64"),
    ("1j", "complex"), ("fractions.Fraction(1, 2)", "fractions.Fraction"),
    ("True", "True"), ("10**60", f"int (an integer of {(10**60).bit_length()} bits)"),
    ("1 << 10**6", "int (an integer of 1000001 bits)"),
    # texts
    ("b'a'", "bytes"), ("bytearray(b'a')", "bytearray"), ("'x' * 4097", "str (4097 characters)"),
    ("'x' * 10**7", "str (10000000 characters)"),
    # containers
    ("[0] * 1025", "list of 1025 items"), ("[0] * 10**7", "list of 10000000 items"),
    ("(None,) * 10**6", "tuple of 1000000 items"),
    ("dict.fromkeys(range(2000))", "dict of 2000 items"),
    ("chain(6)", "[[[[[[None]]]]]]"), ("chain(7)", "[[[[[[list of 1 items]]]]]]"),
    ("chain(900, tuple)", "((((((tuple of 1 items,),),),),),)"),
    ("knot()", "[[[[[[list of 1 items]]]]]]"), ("{1, 2}", "set"), ("frozenset()", "frozenset"),
    ("range(3)", "range"), ("iter([])", "list_iterator"), ("(x for x in [])", "generator"),
    ("{'a': 1}.items()", "dict_items"), ("types.MappingProxyType({})", "mappingproxy"),
    ("{(): 1}", "{(): 1}"), ("{Text('a'): 1}", "{Text key: 1}"),
    ("{np.int64(1): 1}", "{numpy.int64 key: 1}"),
    ("{torch.ones(1): 1}", "{torch.Tensor key: 1}"), ("{frozenset(): 1}", "{frozenset key: 1}"),
    # tensors that are no plain tensors
    ("torch.ones(2, dtype=torch.complex64)", "torch.Tensor (torch.complex64, torch.strided, cpu)"),
    ("torch.ones(2).to_sparse()", "torch.Tensor (torch.float32, torch.sparse_coo, cpu)"),
    ("torch.ones(2, 2).to_sparse_csr()", "torch.Tensor (torch.float32, torch.sparse_csr, cpu)"),
    ("torch.ones(2, device='meta')", "torch.Tensor (torch.float32, torch.strided, meta)"),
    ("torch.ones(2, dtype=torch.uint16)", "torch.Tensor (torch.uint16, torch.strided, cpu)"),
    ("torch.ones(2).to(torch.float8_e5m2)", "torch.Tensor (torch.float8_e5m2, torch.strided, cpu)"),
    ("torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8)",
     "torch.Tensor (torch.quint8, torch.strided, cpu)"),
    ("torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])", "torch.Tensor (nested)"),
    ("torch.ones([1] * 9)", "torch.Tensor (shape (1, 1, 1, 1, 1, 1, 1, 1, 1), too large to read)"),
    ("torch.ones(2**25, dtype=torch.uint8)", "torch.Tensor (shape (33554432,), too large to read)"),
    ("torch.ones(1).expand(2**40)", "torch.Tensor (shape (1099511627776,), too large to read)"),
    ("torch.empty(2**62, 0)", "torch.Tensor (shape (4611686018427387904, 0), too large to read)"),
    # plain tensors, however they lie
    ("torch.empty(0, 3)", "torch float32 []"), ("torch.tensor(3)", "torch int64 3"),
    ("torch.ones(2, 3).T[1:, :1]", "torch float32 [[1], [1]]"),
    ("torch.ones(2, dtype=torch.complex64).conj().imag", "torch float32 [-0, -0]"),
    ("torch.arange(3.0).flip(0)", "torch float32 [2, 1, 0]"),
    ("torch.ones(2).share_memory_()", "torch float32 [1, 1]"),
    # NumPy arrays that are no plain numbers
    ("np.array([None])", "numpy.ndarray (dtype object)"),
    ("np.array(['a'])", "numpy.ndarray (dtype <U1)"),
    ("np.ones(2, '>f4')", "numpy.ndarray (dtype >f4)"),
    ("np.ones(2, 'c8')", "numpy.ndarray (dtype complex64)"),
    ("np.zeros(2, 'f4,i8')", "numpy.ndarray (dtype [('f0', '<f4'), ('f1', '<i8')])"),
    ("np.ones([1] * 9)", "numpy.ndarray (shape (1, 1, 1, 1, 1, 1, 1, 1, 1), too large to read)"),
    ("np.broadcast_to(1.0, 2**40)", "numpy.ndarray (shape (1099511627776,), too large to read)"),
    ("np.array(0.5)", "numpy float64 0.5"), ("np.arange(4)[::-2]", "numpy int64 [3, 1]"),
    ("np.zeros(2, 'f4,i8')['f0']", "numpy float32 [0, 0]"),
    # anything else
    ("Silent()", "Silent"), ("Liar()", "Liar"), ("identity", "function"), ("torch", "module"),
    ("torch.float32", "torch.dtype"), ("torch.Generator()", "torch._C.Generator"),
    ("float", "type"),
    ("ValueError('x')", "ValueError"), ("...", "ellipsis"),
    ("NotImplemented", "NotImplementedType"),
    ("\u00c4\u00f6()", "\u00c4\u00f6"), ("Long()", "x" * 80), ("Coded()", "red"),
    ("Misnamed()", "?.Misnamed"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "shown"), ARRIVES, ids=[e[:40] for e, _ in ARRIVES])
def test_everything_arrives_as_what_it_is(
    submission: Submission, expression: str, shown: str
) -> None:
    """An answer that is no plain value arrives as the name of its type, never as a look-alike."""
    assert repr(made(submission, expression)) == shown


@pytest.mark.parametrize(
    ("expression", "strides", "flags"),
    [
        ("torch.ones(2, requires_grad=True)", (1,), (True, True, False)),
        ("torch.ones(2, requires_grad=True) * 2", (1,), (True, True, False)),
        ("torch.ones(2, 3).T", (1, 3), (False, True, False)),
        ("torch.ones(1).expand(4)", (0,), (False, True, False)),
        ("torch.inference_mode()(torch.ones)(2)", (1,), (False, True, True)),
        ("np.arange(4)[::-2]", (-2,), (False, True, False)),
        ("np.broadcast_to(1.0, 3)", (0,), (False, False, False)),
    ],
)
def test_flags_and_strides_arrive(
    submission: Submission, expression: str, strides: tuple, flags: tuple
) -> None:
    """requires_grad, writeable, the inference flag and the strides are told as they are."""
    found = made(submission, expression)
    assert strides_of(found) == strides
    assert (found.requires_grad, found.writeable, found.inference) == flags


@pytest.mark.parametrize("expression", ["wide(1000, 2)", "wide(20, 6)"])
def test_containers_in_containers_are_cut(submission: Submission, expression: str) -> None:
    """Where an answer has too many items in all, inner containers arrive without theirs."""
    assert isinstance(made(submission, f"{expression}[-1]"), list)
    assert isinstance(made(submission, expression)[-1], Cut)


@pytest.mark.parametrize("expression", ["['x' * 4096] * 1024", "['\\x00' * 4000] * 200"])
def test_an_answer_too_large_for_a_frame_is_told(submission: Submission, expression: str) -> None:
    """An answer that no frame holds is told as such; the worker lives and answers the next call."""
    first, second = submission.outcomes(
        [Case((e,), exactly(None)) for e in (expression, "3")], entry="make"
    )
    assert first.failure is not None
    assert first.failure.kind == "too_large"
    assert second.value == exactly(3)


LOOK_ALIKES = (
    "[1, True, 1.0, '1', None, (1,), [1], (True,), (1.0,), ((1,),), 0.0, -0.0, Whole(1), Row([1]),"
    " np.int64(1), np.ones(1), torch.tensor(1), torch.tensor([1]), torch.tensor(1.0),"
    " torch.tensor([[1]]), torch.tensor([1], dtype=torch.int32), torch.tensor([True]),"
    " torch.tensor([1], dtype=torch.bfloat16), torch.ones(1), -torch.zeros(1), torch.zeros(1),"
    " torch.ones(1, requires_grad=True), torch.nn.Parameter(torch.ones(1))]"
)


def test_look_alikes_are_told_apart_where_a_call_is_repeated(
    submission: Submission, load: Callable[..., Submission]
) -> None:
    """Each answer of a repeated call stands for itself: none is taken for one that equals it."""
    wanted = [repr(value) for value in made(submission, LOOK_ALIKES)]
    cycle = f"answers = {LOOK_ALIKES} * 2\ndef turn(x):\n    return answers.pop(0)\n"
    tally = load("turn", added=cycle).repeat(2 * len(wanted), None)
    assert [repr(tally.values[i]) for i in tally.order] == wanted * 2


@pytest.mark.parametrize("expression", ["knot()", "chain(900)", "wide(1000, 2)"])
def test_odd_answers_can_be_repeated(
    submission: Submission, load: Callable[..., Submission], expression: str
) -> None:
    """A repeated call may return what has no end or too much in it, as a single call may."""
    tally = load("odd", added=f"def odd(x):\n    return {expression}\n").repeat(2, None)
    assert repr(tally.values[0]) == repr(made(submission, expression))
    assert sum(tally.counts) == 2


def test_the_arrays_of_an_answer_are_bounded(submission: Submission) -> None:
    """Arrays of one mebibyte in all are sent, further ones are named; the next call starts anew."""
    half = "torch.ones(1 << 19, dtype=torch.uint8)"
    expressions = [f"[{half}, {half}, np.ones(1)]", f"[{half}] * 2", "torch.ones(131073).double()"]
    cases = [Case((e,), exactly(None)) for e in expressions]
    three, two, wide = (o.value for o in submission.outcomes(cases, entry="make"))
    assert [type(item) for item in three] == [Array, Array, Other]
    assert [type(item) for item in two] == [Array, Array]
    assert repr(wide) == "torch.Tensor (shape (131073,), too large to read)"


def test_arguments_come_back_beside_a_large_answer(submission: Submission) -> None:
    """The bound is for answers: what a large answer takes is no room that an argument lacks."""
    sent = array(np.zeros(1 << 18), "float64")
    (outcome,) = observed(submission, [sent], "identity")
    assert repr(outcome.value) == "torch.Tensor (shape (262144,), too large to read)"
    assert changed(sent, outcome.args_after[0], "x") is None


def test_an_answer_is_compared_with_tolerance_after_the_trip(submission: Submission) -> None:
    """A tolerance is measured on the numbers that the worker holds."""
    third = made(submission, "torch.tensor([1.0]) / 3")
    assert third == nearly(array([1 / 3]), atol=2.0**-25)
    assert third != exactly(array([0.33333]))


def test_the_wire_rules_agree_on_both_sides() -> None:
    """The dtypes that are written are those that can be read."""
    assert wire.ITEM_SIZE == {name: np.dtype(kind).itemsize for name, kind in CARRIER.items()}
