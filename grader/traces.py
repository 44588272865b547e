"""A trace: what one call did, as plain JSON, so that two answers can be told apart or alike later.

    {"value": ["dict", [["accept_prob", ["float", 0.5]], …]]}      a value, with its types
    {"raised": "RuntimeError: …"}                                  or none
    "args": [0]        arguments that were changed          "moved": ["torch"]   global generators
    "state": "9f…"     the generator afterwards, if asked   "shares", "filled": [0]
    "later": true      another call changed the answer      "twins": true        shares its memory

Types must agree exactly, numbers within a tolerance. Nothing here decides what is right.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.expect import changed
from grader.submission import Case, Outcome
from grader.values import EPS, Array, Cut, NumpyScalar, Other, Value

Trace = dict[str, Any]

TOLERANCE_IN_EPS = 16
LONG = 24  # an array of more entries is told by some of them and by its sums
_MESSAGE = 160


def trace(case: Case, outcome: Outcome) -> Trace:
    """What a call did, without what is as it should be (arguments unchanged, nothing drawn)."""
    if outcome.failure is not None:
        return {"raised": f"{outcome.failure.kind}: {outcome.failure.message[:_MESSAGE]}"}
    given = (*case.args, *case.kwargs.values())
    found: Trace = {"value": _value(outcome.value)}
    if changed := _changed(given, outcome.args_after):
        found["args"] = changed
    if outcome.moved:
        found["moved"] = sorted(outcome.moved)
    if outcome.generator is not None and case.state_after is not None:
        found["state"] = hashlib.sha256(outcome.generator).hexdigest()[:12]
    if outcome.reread:
        if outcome.shares:
            found["shares"] = sorted(outcome.shares)
        if filled := _changed(outcome.args_after, outcome.filled):
            found["filled"] = filled
        if outcome.twins:
            found["twins"] = True
        if not _alike(_value(outcome.later), found["value"], 0.0):
            found["later"] = True
    return found


def alike(first: Trace, second: Trace, eps: float) -> bool:
    """Whether two calls did the same: types exactly, numbers to 16 eps of the inputs' dtype."""
    if first.keys() != second.keys():
        return False
    same = all(first[key] == second[key] for key in first if key != "value")
    return same and ("value" not in first or _alike(first["value"], second["value"], eps))


def same_numbers(first: Trace, second: Trace, eps: float) -> bool:
    """Whether two answers hold the same numbers in the same order, whatever carries them."""
    if "value" not in first or "value" not in second:
        return False
    if (first["value"][0] == "dict") != (second["value"][0] == "dict"):
        return False  # the entries of a dict have no order that could be compared with another
    one, other = list(_numbers(first["value"])), list(_numbers(second["value"]))
    return len(one) == len(other) and all(map(_close, one, other, [eps] * len(one)))


def has_nan(found: Trace) -> bool:
    """Whether an answer holds a number that is none."""
    return "value" in found and any(math.isnan(number) for number in _numbers(found["value"]))


def eps_of(case: Case) -> float:
    """The machine epsilon of a call: that of its first array of floating dtype."""
    arrays = (value for value in case.args if isinstance(value, Array))
    return next((EPS[array.dtype] for array in arrays if array.dtype in EPS), EPS["float64"])


def _changed(given: tuple[Value, ...], after: tuple[Value, ...]) -> list[int]:
    """The places of the arguments that are not what was passed."""
    return [i for i, pair in enumerate(zip(given, after, strict=False)) if changed(*pair, "")]


def _value(value: Value) -> list[Any]:
    kind = type(value)
    if value is None:
        return ["none"]
    if kind is bool or kind is int or kind is str:
        return [kind.__name__, value]
    if kind is float:
        return ["float", _number(value)]
    if kind in (tuple, list):
        if len(value) > LONG and all(type(item) is float for item in value):
            numbers = np.array(value, "f8")
            return [kind.__name__, f"of {len(value)}", [_number(x) for x in _told(numbers)]]
        return [kind.__name__, [_value(item) for item in value]]
    if kind is dict:
        entries = [[str(key), _value(item)] for key, item in value.items()]
        return ["dict", sorted(entries, key=lambda entry: entry[0])]
    if isinstance(value, NumpyScalar):
        return [f"numpy.{value.dtype}", _number(value.value)]
    if isinstance(value, Array):
        # The simulated accelerator and a real one are answered alike.
        device = "cpu" if value.device == "cpu" else "device"
        words = [value.library, value.dtype, device, str(value.shape)]
        digits = _DIGITS.get(value.dtype, 17)
        words += ["requires_grad"] * value.requires_grad
        return ["array", " ".join(words), [_number(x, digits) for x in _told(value.numbers())]]
    if isinstance(value, Other | Cut):
        return ["other", value.type_name]
    raise TypeError(f"no trace of {kind.__name__}")


def _told(numbers: npt.NDArray[Any]) -> list[float]:
    """The entries of an array; of a long one the first, the last, and four sums of them all."""
    flat = numbers.ravel()
    if flat.size <= LONG:
        return flat.tolist()
    wide = flat.astype("f8")
    places = np.arange(wide.size) % np.array([[1], [7], [11], [13]])
    with np.errstate(all="ignore"):  # what a submission answered may hold anything
        sums = ((places + 1.0) * wide).sum(axis=1)
    return [*flat[:4].tolist(), *flat[-4:].tolist(), *sums.tolist()]


def _number(x: float | int | bool, digits: int = 17) -> Any:
    """A number that JSON can hold: nan and inf by name, others to so many digits."""
    if isinstance(x, int):
        return x
    return float(f"{x:.{digits}g}") if math.isfinite(x) else str(float(x))


# Digits enough to tell apart what the tolerance does.
_DIGITS = {"float16": 5, "bfloat16": 5, "float32": 9}


def _numbers(value: Any) -> Iterator[float]:
    """Every number of an encoded value, in order."""
    match value:
        case [("tuple" | "list"), items]:
            for item in items:
                yield from _numbers(item)
        case ["dict", entries]:
            for _, item in entries:
                yield from _numbers(item)
        case [("array" | "tuple" | "list"), _, numbers]:
            yield from map(_float, numbers)
        case [("none" | "other" | "str"), *_]:
            yield math.inf  # stands for something that is no number, and equal to its like
        case [_, number]:
            yield _float(number)


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _alike(first: Any, second: Any, eps: float) -> bool:
    if first[0] != second[0]:
        return False
    match first, second:
        case [_, list() as one], [_, list() as other]:
            if len(one) != len(other):
                return False
            if first[0] == "dict":
                return [k for k, _ in one] == [k for k, _ in other] and all(
                    _alike(a, b, eps) for (_, a), (_, b) in zip(one, other, strict=True)
                )
            return all(_alike(a, b, eps) for a, b in zip(one, other, strict=True))
        case [_, words, one], [_, other_words, other]:
            return words == other_words and all(
                _close(_float(a), _float(b), eps) for a, b in zip(one, other, strict=True)
            )
        case ["float", one], ["float", other]:
            return _close(_float(one), _float(other), eps)
    return bool(first == second)


def _close(one: float, other: float, eps: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= TOLERANCE_IN_EPS * eps * max(1.0, abs(one), abs(other))
