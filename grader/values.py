"""What an answer is made of, on the side that never imports torch.

A value is None, bool, int, float, str, tuple, list, dict, or one of the records below. `Array`
stands for a PyTorch tensor or a NumPy array: its library, dtype, device, shape and raw bytes, in
row-major order. Nothing of a learner's is ever rebuilt here: a subclass or an unknown object
arrives as `Other`, which equals nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Library = Literal["torch", "numpy"]
Layout = Literal["contiguous", "column", "every_second", "expanded", "read_only"]

LAYOUTS: tuple[Layout, ...] = ("contiguous", "column", "every_second", "expanded", "read_only")

# bfloat16 travels as its bits; every other dtype is NumPy's own.
CARRIER: dict[str, str] = {
    "float16": "<f2",
    "bfloat16": "<u2",
    "float32": "<f4",
    "float64": "<f8",
    "int8": "<i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "<u1",
    "bool": "|b1",
}
FLOATING: dict[Library, tuple[str, ...]] = {
    "torch": ("float16", "bfloat16", "float32", "float64"),
    "numpy": ("float16", "float32", "float64"),
}
EPS: dict[str, float] = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
}

# How much of a value is shown: items of a container or an axis, characters of a text and in all.
SHOWN_ITEMS = 8
SHOWN_TEXT = 80
SHOWN_LIMIT = 2000


_LOOKS = ("library", "dtype", "device", "layout")  # what `Array.to` can change


@dataclass(frozen=True, eq=False)
class Array:
    """An array of a library: what it holds and how it lies in memory.

    `layout` is a recipe for arguments (how the worker builds the array), `strides` counts elements
    and is what was seen for an array that came back. Compare with `grader.expect`, not `==`.
    """

    library: Library
    dtype: str
    device: str
    shape: tuple[int, ...]
    data: bytes
    layout: Layout = "contiguous"
    strides: tuple[int, ...] | None = None
    requires_grad: bool = False
    writeable: bool = True
    inference: bool = False

    def __post_init__(self) -> None:
        if self.dtype not in CARRIER:
            raise ValueError(f"unknown dtype {self.dtype!r}; one of {', '.join(CARRIER)}")
        if self.layout not in LAYOUTS:
            raise ValueError(f"unknown layout {self.layout!r}; one of {', '.join(LAYOUTS)}")
        if self.layout in ("column", "every_second", "expanded") and not self.shape:
            raise ValueError(f"layout {self.layout!r} needs at least one axis")
        if self.layout == "expanded":
            entries = np.frombuffer(self.data, f"V{np.dtype(CARRIER[self.dtype]).itemsize}")
            entries = entries.reshape(self.shape)
            if not np.all(entries == entries[..., :1]):
                raise ValueError("layout 'expanded' needs equal entries along the last axis")

    @cached_property
    def _numbers(self) -> npt.NDArray[Any]:
        flat = np.frombuffer(self.data, dtype=CARRIER[self.dtype])
        if self.dtype == "bfloat16":
            flat = (flat.astype("<u4") << 16).view("<f4")
        wide = "f8" if self.dtype in EPS else ("?" if self.dtype == "bool" else "i8")
        with np.errstate(invalid="ignore"):  # a signalling nan, as uninitialised memory may hold
            numbers = flat.astype(wide, copy=False).reshape(self.shape)
        numbers.flags.writeable = False
        return numbers

    def numbers(self) -> npt.NDArray[Any]:
        """The exact values, shaped: float64 for floating dtypes, else int64 or bool (read-only)."""
        return self._numbers

    def fractions(self) -> list[Fraction]:
        """The exact values in row-major order; raises ValueError for nan and inf."""
        if not np.all(np.isfinite(self._numbers)):
            raise ValueError("nan and inf are no fractions")
        return [Fraction(x) for x in self._numbers.ravel().tolist()]

    @property
    def eps(self) -> float:
        """Distance from 1 to the next number of the dtype (floating dtypes only)."""
        return EPS[self.dtype]

    def to(
        self,
        library: Library | None = None,
        dtype: str | None = None,
        device: str | None = None,
        layout: Layout | None = None,
    ) -> Array:
        """The same values as another library, dtype (rounded), device or memory layout has them."""
        asked = zip((library, dtype, device, layout), _LOOKS, strict=True)
        if self.strides is None and all(a in (None, getattr(self, name)) for a, name in asked):
            return self
        changed = replace(
            self,
            library=library or self.library,
            device=device or self.device,
            layout=layout or self.layout,
            strides=None,
        )
        if dtype is None or dtype == self.dtype:
            return changed
        return replace(changed, dtype=dtype, data=_encode(self._numbers, dtype))

    def __repr__(self) -> str:
        where = "" if self.device == "cpu" else f", device={self.device}"
        return f"{self.library} {self.dtype}{where} {show_numbers(self._numbers)}"


@dataclass(frozen=True)
class Generator:
    """A `torch.Generator` to be made in the worker, seeded before the call.

    shared: every call of one message that asks for the same seed gets the same object, so its
    stream goes on from call to call. device: where it lives, and what it draws as well.
    """

    seed: int
    shared: bool = False
    device: str = "cpu"


@dataclass(frozen=True, eq=False)
class NumpyScalar:
    """A NumPy scalar such as `numpy.float64(0.5)`, which is not a Python number."""

    dtype: str
    value: float | int | bool

    def __repr__(self) -> str:
        return f"numpy.{self.dtype}({self.value})"


@dataclass(frozen=True, eq=False)
class Other:
    """Anything that is not a plain value: only the name of its type crossed over."""

    type_name: str
    detail: str = ""

    def __repr__(self) -> str:
        return f"{self.type_name}{f' ({self.detail})' if self.detail else ''}"


@dataclass(frozen=True, eq=False)
class Cut:
    """A container with more items than cross over: its type and true length are known, no more."""

    type_name: str
    length: int
    kept: tuple[Any, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return f"{self.type_name} of {self.length} items"


Value = Any  # None | bool | int | float | str | tuple | list | dict | the records above


def array(
    values: Any,
    dtype: str = "float32",
    library: Library = "torch",
    device: str = "cpu",
    layout: Layout = "contiguous",
) -> Array:
    """An array of the given values (nested lists, NumPy, Fractions), rounded to nearest even.

    Fractions are rounded once, to float64, before the dtype's own rounding.
    """
    if dtype not in CARRIER:
        raise ValueError(f"unknown dtype {dtype!r}; one of {', '.join(CARRIER)}")
    raw = np.asarray(values)
    if raw.dtype == object:
        raw = raw.astype("f8")
    if raw.size == 0:
        raw = raw.astype("f8" if dtype in EPS else "i8")
    return Array(library, dtype, device, raw.shape, _encode(raw, dtype), layout)


def seeded(seed: int, *, shared: bool = False, device: str = "cpu") -> Generator:
    """A generator seeded with `seed`; 0 <= seed < 2**32, as larger seeds repeat streams."""
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed {seed} is outside 0 … 2**32 - 1")
    return Generator(seed, shared, device)


def strides_of(a: Array) -> tuple[int, ...]:
    """The strides, in elements, that the worker gives an argument of this layout.

    Entries of axes of length 1 mean nothing and are 0, and so are all of an empty array.
    """
    if a.strides is not None:
        strides = list(a.strides)
    else:
        strides, step = [], 1
        for size in reversed(a.shape):
            strides.insert(0, step)
            step *= max(size, 1)
        if a.layout == "column" and len(a.shape) == 1:
            strides = [3]
        elif a.layout == "column":
            strides, step = [], 1
            for size in a.shape:
                strides.append(step)
                step *= max(size, 1)
        elif a.layout == "every_second":
            strides = [2 * s for s in strides]
        elif a.layout == "expanded" and strides:
            strides = [s // max(a.shape[-1], 1) for s in strides[:-1]] + [0]
    empty = 0 in a.shape
    return tuple(0 if size == 1 or empty else s for size, s in zip(a.shape, strides, strict=True))


def show_number(x: float | int | bool) -> str:
    """A number to six significant digits, as in `0.333333`; integers in full."""
    return str(x) if isinstance(x, bool | int) else f"{x:.6g}"


def show_apart(x: float | int | bool, y: float | int | bool) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to see that they differ (at least six)."""
    if isinstance(x, int) or isinstance(y, int):
        return str(x), str(y)
    for digits in range(6, 17):
        shown = f"{x:.{digits}g}", f"{y:.{digits}g}"
        if shown[0] != shown[1]:
            return shown
    return repr(x), repr(y)


def show_numbers(numbers: npt.NDArray[Any]) -> str:
    """An array's numbers in brackets; of a long axis the first entries."""
    return _line(_number_pieces(numbers))


def show(value: Value) -> str:
    """Any value as one line; arrays show their numbers, long containers and texts are cut."""
    return _line(_pieces(value))


def _line(pieces: Iterator[str]) -> str:
    """The pieces up to SHOWN_LIMIT characters. What comes after them is never even made."""
    line = ""
    for piece in pieces:
        line += piece
        if len(line) > SHOWN_LIMIT:
            return f"{line[:SHOWN_LIMIT]} …"
    return line


def _number_pieces(numbers: npt.NDArray[Any]) -> Iterator[str]:
    if numbers.ndim == 0:
        yield show_number(numbers.item())
        return
    yield "["
    for index, item in enumerate(numbers[:SHOWN_ITEMS]):
        yield ", " if index else ""
        yield from _number_pieces(np.asarray(item))
    if len(numbers) > SHOWN_ITEMS:
        yield f", … {len(numbers) - SHOWN_ITEMS} more"
    yield "]"


_BRACKETS: dict[type, tuple[str, str]] = {dict: ("{", "}"), tuple: ("(", ")"), list: ("[", "]")}


def _pieces(value: Value) -> Iterator[str]:
    kind = type(value)
    if isinstance(value, Array):
        yield from _number_pieces(value.numbers())
    elif kind in _BRACKETS:
        opening, closing = _BRACKETS[kind]
        yield opening
        for index, item in enumerate(islice(value, SHOWN_ITEMS)):
            yield ", " if index else ""
            yield from _pieces(item)
            if kind is dict:
                yield ": "
                yield from _pieces(value[item])
        if len(value) > SHOWN_ITEMS:
            yield f", … {len(value) - SHOWN_ITEMS} more"
        elif kind is tuple and len(value) == 1:
            yield ","
        yield closing
    elif kind is float:
        yield show_number(value)
    elif kind is str and len(value) > SHOWN_TEXT:
        yield f"{value[:SHOWN_TEXT]!r}… {len(value) - SHOWN_TEXT} more characters"
    elif isinstance(value, Generator):
        device = "" if value.device == "cpu" else repr(value.device)
        yield f"torch.Generator({device}).manual_seed({value.seed})"
    else:
        yield repr(value)


def type_name(value: Value) -> str:
    """The name of a value's type as a learner knows it."""
    if isinstance(value, Array):
        return "torch.Tensor" if value.library == "torch" else "numpy.ndarray"
    if isinstance(value, NumpyScalar):
        return f"numpy.{value.dtype}"
    if isinstance(value, Other | Cut):
        return value.type_name
    return "None" if value is None else type(value).__name__


def _encode(numbers: npt.NDArray[Any], dtype: str) -> bytes:
    """The bytes of `numbers` in `dtype`, rounded to nearest even."""
    if dtype == "bfloat16":
        # 8 significant bits; below 2**-126 the spacing stays 2**-133.
        wide = numbers.astype("f8")
        _, exponent = np.frexp(wide)
        quantum = np.ldexp(1.0, np.maximum(exponent - 8, -133))
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.where(np.isfinite(wide), np.rint(wide / quantum) * quantum, wide)
            bits = rounded.astype("<f4").view("<u4") >> 16
        return bits.astype("<u2").tobytes()
    with np.errstate(over="ignore"):
        return numbers.astype(CARRIER[dtype]).tobytes()
