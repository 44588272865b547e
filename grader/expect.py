"""Comparison that is strict about types and says the first difference in one sentence.

An `Expectation` stands on the right of `==`, so a learner's value never speaks first:
`assert submission(q, p, 0) == nearly({"accept_prob": 0.5, "residual": like(q, [0, 1])}, atol=…)`.
Types are exact: a float is not an int, a NumPy scalar is not a float, a dict has exactly the
expected keys. What a difference names first is type, then dtype, shape, device, then the first
differing entry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grader.values import (
    EPS,
    Array,
    Cut,
    NumpyScalar,
    Other,
    Value,
    array,
    show,
    show_apart,
    show_number,
    strides_of,
    type_name,
)

Likeness = Literal["same", "different", "unlike"]
About = Literal["form", "values", "side effect", "no answer"]


class Mismatch(AssertionError):
    """A check that is not earned, told to the learner in the message.

    wrong: the answer had the right form and wrong values, which is evidence about the output law
    of a sampled problem. first: the first case that failed, by its note. failure: the
    `grader.report.Failure` behind it, where the submission gave no value. kind: what may be told
    of a hidden check. about: whether the answer's form (types, keys, shape), its values or a side
    effect is at fault, or that there was no answer.
    """

    def __init__(
        self,
        message: str,
        *,
        wrong: bool = False,
        first: str | None = None,
        failure: Any = None,
        kind: str | None = None,
        about: About = "values",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.wrong = wrong
        self.first = first
        self.failure = failure
        self.kind = kind
        self.about = about

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Difference:
    """The first difference found. `text` tells all; `place` and `kind` give no value away.

    kind: type, keys, length, dtype, shape, device, flag, value, zeros, changed.
    """

    place: str
    kind: str
    text: str

    @property
    def about(self) -> About:
        """Whether the form of the answer is at fault, or its values."""
        return "values" if self.kind in ("value", "zeros") else "form"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Like:
    """An expected array: everything but the values from a given one.

    The values need not be representable in the dtype: they are what the comparison measures from.
    """

    library: str
    dtype: str
    device: str
    numbers: npt.NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numbers.shape


def like(a: Array, numbers: Any) -> Like:
    """An expected array of `a`'s library, dtype and device with these numbers and their shape."""
    kind = "f8" if a.dtype in EPS else "i8"  # float64 would take 2**53 + 1 for 2**53
    return Like(a.library, a.dtype, a.device, np.asarray(numbers, dtype=kind))


class Expectation:
    """What an answer has to be. `difference(got)` is None, or the sentence that says why not."""

    def difference(self, got: Value) -> Difference | None:
        raise NotImplementedError

    def likeness(self, got: Value) -> Likeness:
        """Whether the numbers agree once types are forgiven; `unlike` where none can be read."""
        raise NotImplementedError

    def show(self) -> str:
        """The expected answer as one line."""
        raise NotImplementedError

    def __eq__(self, got: object) -> bool:
        return self.difference(got) is None

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.show()


class _Structure(Expectation):
    """One expected value, compared part by part."""

    def __init__(self, value: Value, atol: float, zeros: Literal["exact", "near"]) -> None:
        _refuse_nested(value)
        self.value = value
        self.atol = atol
        self.zeros = zeros

    def difference(self, got: Value) -> Difference | None:
        return _difference(got, self.value, "answer", self.atol, self.zeros == "exact")

    def likeness(self, got: Value) -> Likeness:
        parts, expected = _leaves(got), self._numbers
        if parts is None or expected is None:
            return "unlike"
        if sum(map(_size, parts)) != len(expected):
            return "different"
        close = _close(_all_floats(parts), expected, self.atol)
        return "same" if bool(np.all(close)) else "different"

    @cached_property
    def _numbers(self) -> npt.NDArray[np.float64] | None:
        """All that are expected, in order; None where that is not numbers."""
        parts = _leaves(self.value)
        return None if parts is None else _all_floats(parts)

    def show(self) -> str:
        return show(_shown(self.value))


class _OneOf(Expectation):
    def __init__(self, choices: Sequence[Expectation]) -> None:
        self.choices = choices

    def difference(self, got: Value) -> Difference | None:
        differences = [choice.difference(got) for choice in self.choices]
        if None in differences:
            return None
        for choice, difference in zip(self.choices, differences, strict=True):
            if choice.likeness(got) == "same":
                return difference  # the numbers are one of the choices; their form is not
        # Every choice has the same form, so a fault of form is told once, by the first.
        if len(set(differences)) == 1:
            return differences[0]
        return Difference("answer", "value", f"expected {self.show()}; got {show(got)}")

    def likeness(self, got: Value) -> Likeness:
        found = {choice.likeness(got) for choice in self.choices}
        return "same" if "same" in found else "different" if "different" in found else "unlike"

    def show(self) -> str:
        return " or ".join(choice.show() for choice in self.choices)


def _refuse_nested(value: Value) -> None:
    """Raises TypeError for an expectation inside another: it would be compared as a value."""
    if isinstance(value, Expectation):
        raise TypeError(
            "an expectation cannot stand inside another; one `nearly` around the whole answer "
            "compares floats alone with its tolerance"
        )
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            _refuse_nested(item)


def exactly(value: Value) -> Expectation:
    """Equal in type and value; arrays also in library, dtype, shape and device. 0.0 is -0.0."""
    return _Structure(value, 0.0, "near")


def nearly(value: Value, *, atol: float, zeros: Literal["exact", "near"] = "near") -> Expectation:
    """As `exactly`, but floats and floating array entries may differ by up to `atol`, absolutely.

    zeros="exact": array entries are 0 exactly where the expected ones are, and never negative.
    """
    return _Structure(value, atol, zeros)


def one_of(*choices: Expectation) -> Expectation:
    """Any one of several answers."""
    return _OneOf(choices)


def changed(before: Value, after: Value, name: str) -> str | None:
    """How an argument differs from what was passed: values, shape, strides, flags; or None."""
    if not isinstance(before, Array):
        return None
    if not isinstance(after, Array):
        return f"{name}: it is now {_described(after)}"
    for what, was, now in (
        ("dtype", before.dtype, after.dtype),
        ("shape", before.shape, after.shape),
        ("device", before.device, after.device),
    ):
        if was != now:
            return f"{name}: its {what} was changed from {was} to {now}"
    if before.data != after.data:
        # By bytes: nan is another number than itself, and -0.0 the same as 0.0.
        was_bytes, now_bytes = (np.frombuffer(a.data, "u1") for a in (before, after))
        entries = (was_bytes != now_bytes).reshape(*before.shape, -1).any(axis=-1)
        index = _first(entries) or ()
        was, now = show_apart(before.numbers()[index].item(), after.numbers()[index].item())
        return f"{name}{_subscript(index)} was changed from {was} to {now}"
    if strides_of(before) != strides_of(after):
        return f"{name}: its strides were changed from {strides_of(before)} to {strides_of(after)}"
    if before.requires_grad != after.requires_grad:
        return f"{name}: its requires_grad flag was changed to {after.requires_grad}"
    if before.library == "numpy" and after.writeable != (before.layout != "read_only"):
        return f"{name}: its writeable flag was changed to {after.writeable}"
    return None


def _difference(
    got: Value, expected: Value, where: str, atol: float, zeros: bool
) -> Difference | None:
    """The first difference between a decoded answer and the expected one."""
    if isinstance(expected, Array | Like):
        return _array_difference(got, expected, where, atol, zeros)

    def found(kind: str, text: str) -> Difference:
        return Difference(where, kind, f"{where}: {text}")

    if type(got) is not type(expected):
        return found("type", f"expected {_wanted(expected)}, got {_described(got)}")
    if type(expected) is dict:
        wanted_keys, got_keys = set(map(_key, expected)), set(map(_key, got))
        missing = [k for k in expected if _key(k) not in got_keys]
        added = [k for k in got if _key(k) not in wanted_keys]
        if missing:
            instead = f", there is {_named(added[0])}" if added else ""
            return found("keys", f"the key {_named(missing[0])} is missing{instead}")
        if added:
            return found("keys", f"unexpected key {_named(added[0])}")
        parts = [(got[k], v, f"{where}[{k!r}]") for k, v in expected.items()]
    elif type(expected) in (tuple, list):
        if len(got) != len(expected):
            return found("length", f"expected {len(expected)} items, got {len(got)}")
        parts = [
            (g, e, f"{where}[{i}]") for i, (g, e) in enumerate(zip(got, expected, strict=True))
        ]
    elif type(expected) is float:
        if abs(got - expected) <= atol or got == expected:
            return None
        wanted, have = show_apart(expected, got)
        return found("value", f"expected {wanted}, got {have}")
    elif got == expected:
        return None
    else:
        return found("value", f"expected {expected!r}, got {show(got)}")
    for g, e, part in parts:
        difference = _difference(g, e, part, atol, zeros)
        if difference is not None:
            return difference
    return None


def _array_difference(
    got: Value, expected: Array | Like, where: str, atol: float, zeros: bool
) -> Difference | None:
    name = "torch.Tensor" if expected.library == "torch" else "numpy.ndarray"
    if not isinstance(got, Array) or got.library != expected.library:
        return Difference(where, "type", f"{where}: expected {name}, got {_described(got)}")
    for what in ("dtype", "shape", "device"):
        wanted, found = getattr(expected, what), getattr(got, what)
        if wanted != found:
            text = f"{where}: expected {what} {wanted}, got {what} {found}"
            if what == "shape" and len(wanted) == len(found) == 1 and expected.dtype not in EPS:
                # A list of another length is another list: its entries are what went wrong.
                text = f"{where}: expected length {wanted[0]}, got {found[0]}{_both(expected, got)}"
                return Difference(where, "value", text)
            return Difference(where, what, text)
    if got.requires_grad:
        return Difference(where, "flag", f"{where}: the tensor must not require grad")
    if isinstance(expected, Array) and expected.dtype not in EPS and got.data == expected.data:
        return None  # most answers of integers are right
    have = got.numbers()
    want = expected.numbers() if isinstance(expected, Array) else expected.numbers
    if have.dtype.kind != "f":
        index = _first(have != want)
    else:
        bad = ~_close(have, want, atol)
        if zeros:
            with np.errstate(invalid="ignore"):
                bad |= (have == 0) != (want == 0)
                bad |= have < 0
        index = _first(bad)
    if index is None:
        return None
    at = f"{where}{_subscript(index)}"
    wanted_number, got_number = want[index].item(), have[index].item()
    zeros = zeros and have.dtype.kind == "f"
    if zeros and wanted_number == 0 and got_number != 0:
        text = f"{at}: expected exactly 0, got {show_number(got_number)}"
        return Difference(where, "zeros", text)
    if zeros and got_number == 0:
        text = f"{at}: expected {show_number(wanted_number)}, which is not 0, got 0"
        return Difference(where, "zeros", text)
    wanted_text, got_text = show_apart(wanted_number, got_number)
    text = f"{at}: expected {wanted_text}, got {got_text}"
    if 1 < have.size <= 16:
        text += _both(expected, got)
    return Difference(where, "value", text)


def _both(expected: Array | Like, got: Array) -> str:
    """The expected and the returned array, a line each."""
    return f"\n  expected {show(_shown(expected))}\n  got      {show(got)}"


def _close(
    have: npt.NDArray[np.float64], want: npt.NDArray[np.float64], atol: float
) -> npt.NDArray[np.bool_]:
    """Where two numbers are at most `atol` apart. nan is never close, inf only to itself."""
    with np.errstate(invalid="ignore", over="ignore"):
        close: npt.NDArray[np.bool_] = (np.abs(have - want) <= atol) | (have == want)
    return close


def _key(key: Value) -> Value:
    """A dict's key with the types in it: to a dict, 1 and True and 1.0 are one key."""
    return (tuple, *map(_key, key)) if type(key) is tuple else (type(key), key)


def _named(key: Value) -> str:
    return repr(key) if type(key) is float else show(key)  # 1.0, which is shown as 1, is not 1


def _first(bad: npt.NDArray[np.bool_] | np.bool_) -> tuple[int, ...] | None:
    """The index of the first true entry in row-major order."""
    flat = np.flatnonzero(bad)
    if flat.size == 0:
        return None
    return tuple(int(i) for i in np.unravel_index(flat[0], np.shape(bad)))


def _subscript(index: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, index)) + "]" if index else ""


def _wanted(expected: Value) -> str:
    if expected is None:
        return "None"
    if type(expected) in (bool, int, str):
        return f"{type_name(expected)} {expected!r}"
    if type(expected) is float:
        return f"a Python float ({expected!r})"
    return f"a {type_name(expected)}"


def _described(got: Value) -> str:
    """What was returned instead, with its value where that is short."""
    if got is None:
        return "None"
    if isinstance(got, Array):
        return f"{type_name(got)} of dtype {got.dtype}, shape {got.shape}"
    if isinstance(got, Other | Cut | NumpyScalar):
        return repr(got)
    if type(got) in (bool, int, float):
        return f"{type_name(got)} {show(got)}"
    return type_name(got)


def _shown(value: Value) -> Value:
    """The expected value with `Like` records as arrays of plain numbers, for printing."""
    if isinstance(value, Like):
        dtype = "float64" if value.numbers.dtype.kind == "f" else "int64"
        return array(value.numbers, dtype)
    if type(value) is dict:
        return {k: _shown(v) for k, v in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_shown(v) for v in value)
    return value


def _leaves(value: Value) -> list[Value] | None:
    """The numbers and arrays in a value, in order; None where there is none or something else."""
    if isinstance(value, Array | Like | NumpyScalar) or type(value) in (bool, int, float):
        return [value]
    if type(value) is dict:
        # Sorted by name, so that the order of keys does not matter.
        value = [value[k] for k in sorted(value, key=repr)]
    if type(value) not in (tuple, list):
        return None
    parts = [_leaves(item) for item in value]
    if not parts or any(part is None for part in parts):
        return None
    return [leaf for part in parts if part is not None for leaf in part]


def _size(leaf: Value) -> int:
    return math.prod(leaf.shape) if isinstance(leaf, Array | Like) else 1


def _all_floats(leaves: Sequence[Value]) -> npt.NDArray[np.float64]:
    return np.concatenate([_floats(leaf) for leaf in leaves])


def _floats(leaf: Value) -> npt.NDArray[np.float64]:
    """The numbers of one leaf, whatever carries them."""
    if isinstance(leaf, Array):
        return leaf.numbers().astype("f8").ravel()
    if isinstance(leaf, Like):
        return leaf.numbers.astype("f8").ravel()
    number = leaf.value if isinstance(leaf, NumpyScalar) else leaf
    try:
        return np.array([float(number)])
    except OverflowError:
        return np.array([math.inf])
