"""What values are: arrays as dtype and bytes, their rounding, and how they are shown."""

from __future__ import annotations

import math
from fractions import Fraction

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from grader.values import (
    CARRIER,
    EPS,
    FLOATING,
    SHOWN_LIMIT,
    Array,
    Cut,
    Generator,
    NumpyScalar,
    Other,
    array,
    seeded,
    show,
    show_apart,
    strides_of,
    type_name,
)

# Ties to even on both sides, the edges of the normal and the subnormal range, and what overflows.
ROUNDED = [
    0.0, -0.0, 1.0, -1.0, 1 / 3, 0.1, -0.7, math.pi, 1e-3, 12345.678, 1e30, 3e38, -3e38,
    1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-24, 1 + 3 * 2.0**-24,
    2.0**-14, 2.0**-24, 2.0**-25, 3 * 2.0**-25, 2.0**-126, 2.0**-133, 2.0**-134, 3 * 2.0**-134,
    2.0**-149, 2.0**-150, 65504.0, 65519.0, 65520.0, 3.3895313892515355e38, 3.4e38,
    math.inf, -math.inf,
]  # fmt: skip


def torch_bytes(values: list[float], dtype: str) -> bytes:
    """The bytes PyTorch rounds float64 values to."""
    tensor = torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype))
    return tensor.view(torch.uint8).numpy().tobytes()


@pytest.mark.parametrize("dtype", FLOATING["torch"])
def test_rounding_is_pytorchs(dtype: str) -> None:
    """A float64 is rounded to a dtype exactly as PyTorch rounds it."""
    assert array(ROUNDED, dtype).data == torch_bytes(ROUNDED, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@settings(max_examples=150, deadline=None)
@given(arrays.arrays(np.float32, 16))
def test_rounding_of_any_float32_is_pytorchs(dtype: str, values: np.ndarray) -> None:
    """Any float32 is rounded to a half precision as PyTorch rounds it; nan stays nan."""
    wide = values.astype("f8")
    theirs = torch.from_numpy(wide).to(getattr(torch, dtype)).double().numpy()
    np.testing.assert_array_equal(array(wide, dtype).numbers(), theirs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_widening_is_exact(dtype: str) -> None:
    """Every bit pattern of a half precision is read as the number PyTorch reads."""
    every = np.arange(2**16, dtype="<u2")
    read = Array("torch", dtype, "cpu", (2**16,), every.tobytes()).numbers()
    theirs = torch.from_numpy(every.view("i2")).view(getattr(torch, dtype)).double().numpy()
    np.testing.assert_array_equal(read, theirs)


@pytest.mark.parametrize("dtype", CARRIER)
def test_zeros_and_ones_survive_every_dtype(dtype: str) -> None:
    """0 and 1 are held exactly by every dtype, and read back with their shape."""
    held = array([[0, 1], [1, 0]], dtype)
    assert held.numbers().tolist() == [[0, 1], [1, 0]]
    assert len(held.data) == 4 * np.dtype(CARRIER[dtype]).itemsize


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3), (1,), (2, 3), (2, 1, 2)])
@pytest.mark.parametrize("dtype", CARRIER)
def test_any_shape_is_kept(dtype: str, shape: tuple[int, ...]) -> None:
    """An array has the shape of what it was made of, empty axes and none at all included."""
    held = array(np.zeros(shape), dtype)
    assert held.shape == held.numbers().shape == shape


def test_numbers_cannot_be_written() -> None:
    """The numbers of an array are shared by all who ask, so nobody may write to them."""
    with pytest.raises(ValueError, match="read-only"):
        array([1.0]).numbers()[0] = 2


def test_fractions_are_exact() -> None:
    """Fractions are the stored numbers, not the ones that were rounded."""
    tenth = Fraction(13421773, 2**27)
    assert array([0.1, 0.5]).fractions() == [tenth, Fraction(1, 2)]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_nan_and_inf_are_no_fractions(odd: float) -> None:
    """Asking for the fractions of nan or inf is a ValueError, as the docstring promises."""
    with pytest.raises(ValueError, match="no fractions"):
        array([0.5, odd]).fractions()


@pytest.mark.parametrize(
    ("dtype", "bits", "carrier"),
    [("float32", 0x7F800001, "<u4"), ("float16", 0x7C01, "<u2"), ("bfloat16", 0x7F81, "<u2")],
)
def test_signalling_nan_is_read_silently(dtype: str, bits: int, carrier: str) -> None:
    """A signalling nan, which uninitialised memory may hold, is nan and raises no warning."""
    held = Array("torch", dtype, "cpu", (1,), np.array([bits], carrier).tobytes())
    assert math.isnan(held.numbers()[0])


def test_fractions_are_rounded_to_the_dtype() -> None:
    """An array of Fractions holds the nearest numbers."""
    assert array([Fraction(1, 3)], "float64").numbers()[0] == 1 / 3


def test_to_changes_what_it_says_and_keeps_the_rest() -> None:
    """`to` rounds to another dtype and leaves library, device and layout unless told."""
    held = array([1 / 3], "float64", device="sim:0", layout="every_second")
    half = held.to(dtype="bfloat16")
    assert (half.device, half.layout, half.dtype) == ("sim:0", "every_second", "bfloat16")
    assert half.numbers()[0] == 0.333984375
    assert held.to(library="numpy", device="cpu", layout="column").data == held.data


def test_eps_is_the_gap_above_one() -> None:
    """EPS is the distance from 1 to the next number, as PyTorch states it."""
    assert {name: torch.finfo(getattr(torch, name)).eps for name in EPS} == EPS
    assert array([1.0], "bfloat16").eps == 2.0**-7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], "complex64"), "unknown dtype"),
        (([1.0], "float32", "torch", "cpu", "diagonal"), "unknown layout"),
        ((1.0, "float32", "torch", "cpu", "every_second"), "at least one axis"),
        (([1.0, 2.0], "float32", "torch", "cpu", "expanded"), "equal entries"),
        (([0.0, -0.0], "float32", "torch", "cpu", "expanded"), "equal entries"),
    ],
)
def test_impossible_arrays_are_refused(arguments: tuple, message: str) -> None:
    """An array that no worker could build as described is a ValueError where it is described."""
    with pytest.raises(ValueError, match=message):
        array(*arguments)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_outside_32_bits_are_refused(seed: int) -> None:
    """A seed that would repeat the stream of another is refused."""
    with pytest.raises(ValueError, match="outside"):
        seeded(seed)


@pytest.mark.parametrize(
    ("layout", "shape", "strides"),
    [
        ("contiguous", (2, 3), (3, 1)),
        ("contiguous", (1, 3), (0, 1)),
        ("contiguous", (), ()),
        ("contiguous", (2, 0, 3), (0, 0, 0)),
        ("column", (4,), (3,)),
        ("column", (2, 3), (1, 2)),
        ("every_second", (4,), (2,)),
        ("every_second", (2, 3), (6, 2)),
        ("expanded", (4,), (0,)),
        ("expanded", (2, 3), (1, 0)),
        ("read_only", (2, 3), (3, 1)),
    ],
)
def test_strides_of_a_layout(layout: str, shape: tuple, strides: tuple) -> None:
    """The strides of a layout count elements, and are 0 where they mean nothing."""
    assert strides_of(array(np.zeros(shape), layout=layout)) == strides


# ---- how values are shown

SHOWN = [
    (None, "None"),
    (True, "True"),
    (3, "3"),
    (0.1 + 0.2, "0.3"),
    (1.0, "1"),
    (-0.0, "-0"),
    (math.nan, "nan"),
    ("a\nb", "'a\\nb'"),
    ("\ud800\u202e", "'\\ud800\\u202e'"),
    ((), "()"),
    ((1,), "(1,)"),
    ([1, 2], "[1, 2]"),
    ({}, "{}"),
    ({"a": 0.5, 1: (2,)}, "{'a': 0.5, 1: (2,)}"),
    (list(range(10)), "[0, 1, 2, 3, 4, 5, 6, 7, … 2 more]"),
    (dict.fromkeys(range(9), 0), "{0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, … 1 more}"),
    (array([0.25, 1 / 3]), "[0.25, 0.333333]"),
    (array(0.5), "0.5"),
    (array([]), "[]"),
    (array([[1, 2], [3, 4]], "int64"), "[[1, 2], [3, 4]]"),
    (array([True, False], "bool"), "[True, False]"),
    (array(range(11), "int8"), "[0, 1, 2, 3, 4, 5, 6, 7, … 3 more]"),
    (Generator(7), "torch.Generator().manual_seed(7)"),
    (Generator(7, device="sim:0"), "torch.Generator('sim:0').manual_seed(7)"),
    (NumpyScalar("float64", 0.5), "numpy.float64(0.5)"),
    (NumpyScalar("bool", True), "numpy.bool(True)"),
    (Other("torch.Size"), "torch.Size"),
    (Other("torch.Tensor", "torch.complex64"), "torch.Tensor (torch.complex64)"),
    (Cut("list", 5000), "list of 5000 items"),
    ("x" * 100, f"'{'x' * 80}'… 20 more characters"),
]


@pytest.mark.parametrize(("value", "line"), SHOWN, ids=[line[:20] for _, line in SHOWN])
def test_show(value: object, line: str) -> None:
    """A value is shown on one line, as a learner would write it, with long parts cut."""
    assert show(value) == line


HUGE = {
    "array of 16 million": array(np.zeros((8,) * 8), "int8"),
    "axes of length one": array(np.zeros((1,) * 8), "int8"),
    "lists in lists": [[[[[0] * 8] * 8] * 8] * 8] * 8,
    "long texts": ["x" * 4096] * 1024,
    "long keys": {"x" * 4000 + str(i): i for i in range(1000)},
    "arrays in lists": [[array(np.zeros((8,) * 6), "int8")] * 1000] * 1000,
    "rows of no entries": array(np.zeros((10**6, 0))),
}


@pytest.mark.parametrize("value", HUGE.values(), ids=HUGE)
def test_show_is_bounded(value: object) -> None:
    """However large a value is, its line is short; what is not shown is not even formatted."""
    assert len(show(value)) <= SHOWN_LIMIT + 2
    assert "\n" not in show(value)


@pytest.mark.parametrize(
    ("x", "y", "shown"),
    [
        (0.5, 0.25, ("0.5", "0.25")),
        (1.0, 1.0 + 2.0**-52, ("1.0", "1.0000000000000002")),
        (0.3, 0.1 + 0.2, ("0.3", "0.30000000000000004")),
        (1 / 3, 0.3333333, ("0.33333333", "0.3333333")),
        (3, 4, ("3", "4")),
        (0.0, -0.0, ("0", "-0")),
        (1.0, math.nan, ("1", "nan")),
    ],
)
def test_numbers_that_differ_are_shown_apart(x: float, y: float, shown: tuple) -> None:
    """Two numbers get as many digits as it takes to see that they differ."""
    assert show_apart(x, y) == shown


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "None"),
        (True, "bool"),
        (1.0, "float"),
        ((), "tuple"),
        (array([1.0]), "torch.Tensor"),
        (array([1.0], library="numpy"), "numpy.ndarray"),
        (NumpyScalar("int64", 1), "numpy.int64"),
        (Other("Point"), "Point"),
        (Cut("dict", 2000), "dict"),
    ],
)
def test_type_names(value: object, name: str) -> None:
    """A type is named as a learner would name it."""
    assert type_name(value) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (array([1.0]), array([1.0])),
        (NumpyScalar("int64", 1), NumpyScalar("int64", 1)),
        (Other("Point"), Other("Point")),
        (Cut("list", 2000), Cut("list", 2000)),
    ],
)
def test_records_equal_nothing_by_themselves(one: object, other: object) -> None:
    """`==` between two records is False: only an expectation may find them equal."""
    assert one != other
