"""Values on the grader's side of the wire: requests are written, replies are rebuilt strictly.

A reply is a claim that nobody vouches for. Every tag, key, type, length and byte is judged before
it becomes a value; whatever breaks a rule is a `WireError`, and nothing is ever guessed. The tags
are listed in `grader.worker.wire`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from grader.clean import clean_line
from grader.values import (
    LAYOUTS,
    Array,
    Cut,
    Generator,
    Library,
    NumpyScalar,
    Other,
    Value,
    type_name,
)
from grader.worker import wire
from grader.worker.wire import WireError

_ARRAY_KEYS = {
    "lib", "dtype", "shape", "device", "strides", "grad", "writeable", "inference", "at",
}  # fmt: skip
_LIBRARIES: dict[str, Library] = {"torch": "torch", "numpy": "numpy"}
_CONTAINERS: dict[str, type] = {"tuple": tuple, "list": list, "dict": dict}
# What stands behind each tag, by type.
_PARTS: dict[str, list[type]] = {
    "none": [], "bool": [bool], "int": [str], "float": [str], "str": [str], "array": [dict],
    "npscalar": [str, str], "other": [str, str], "tuple": [int, list],
    "list": [int, list], "dict": [int, list],
}  # fmt: skip
_ALIGNED = 8  # where an array may begin in a payload: it is read in place


class RequestWriter:
    """Arguments of one message as tagged values, their bytes gathered into one payload."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def payload(self) -> bytes:
        """All array bytes so far, in the order the headers refer to them."""
        return b"".join(self._parts)

    def value(self, value: Value) -> list[Any]:
        """The tagged form of an argument; TypeError for a type that cannot be passed."""
        kind = type(value)
        if value is None:
            return ["none"]
        if kind is bool or kind is str:
            return [kind.__name__, value]
        if kind is int:
            return ["int", str(value)]
        if kind is float:
            return ["float", value.hex()]
        if kind is tuple or kind is list:
            return [kind.__name__, len(value), [self.value(item) for item in value]]
        if kind is dict:
            pairs = [[self.value(k), self.value(v)] for k, v in value.items()]
            return ["dict", len(value), pairs]
        if isinstance(value, Generator):
            return ["generator", value.seed, value.shared, value.device]
        if isinstance(value, Array):
            return ["array", self._array(value)]
        raise TypeError(f"a {kind.__name__} cannot be passed to a submission")

    def _array(self, a: Array) -> dict[str, Any]:
        if a.layout not in LAYOUTS:
            raise ValueError(f"unknown layout {a.layout!r}; one of {', '.join(LAYOUTS)}")
        at = [self._size, len(a.data)]
        padding = bytes(-len(a.data) % _ALIGNED)
        self._parts += (a.data, padding)
        self._size += len(a.data) + len(padding)
        return {
            "lib": a.library,
            "dtype": a.dtype,
            "shape": list(a.shape),
            "device": a.device,
            "layout": a.layout,
            "at": at,
        }


class ReplyPayload:
    """The bytes of one reply, each taken once: a small reply cannot become gigabytes of arrays."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._left = len(data)
        self.items = 0  # of all containers of the value that is being read

    def take(self, start: int, length: int) -> bytes:
        """A copy of some bytes; WireError where they are not there or more than all were taken."""
        self._left -= length
        if start + length > len(self._data) or self._left < 0:
            raise WireError("array outside the payload")
        return bytes(self._data[start : start + length])


def decode(tagged: Any, payload: ReplyPayload, depth: int = 0) -> Value:
    """The value a reply claims; raises WireError for anything but an exact, legal tag."""
    if depth > wire.DEPTH_LIMIT:
        raise WireError("value is nested too deeply")
    if depth == 0:
        payload.items = 0
    if type(tagged) is not list or not tagged or type(tagged[0]) is not str:
        raise WireError("value without a tag")
    tag, *parts = tagged
    if [*map(type, parts)] == _PARTS.get(tag):
        if tag in _CONTAINERS:
            return _container(tag, parts[0], parts[1], payload, depth)
        if tag == "array":
            return _array(parts[0], payload)
        if tag == "none":
            return None
        if tag == "bool":
            return parts[0]
        if tag == "int":
            return _integer(parts[0])
        if tag == "float":
            return _float(parts[0])
        if tag == "str" and len(parts[0]) <= wire.STRING_LIMIT:
            return parts[0]
        if tag == "npscalar":
            return _scalar(parts[0], parts[1])
        if tag == "other" and _is_short(*parts):
            return Other(clean_line(parts[0], wire.NAME_LIMIT), clean_line(parts[1]))
    raise WireError(f"illegal value of tag {clean_line(tag, 20)!r}")


def _is_short(name: str, detail: str) -> bool:
    return len(name) <= wire.NAME_LIMIT and len(detail) <= wire.DETAIL_LIMIT


def _integer(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= wire.DIGITS_LIMIT):
        raise WireError("illegal integer")
    value = int(text)
    if str(value) != text:
        raise WireError("integer in another form than its own")
    return value


def _float(text: str) -> float:
    if text in ("nan", "inf", "-inf"):
        return float(text)
    try:
        value = float.fromhex(text)
    except (ValueError, OverflowError):
        raise WireError("illegal float") from None
    if value.hex() != text:
        raise WireError("float in another form than its own")
    return value


def _scalar(dtype: str, text: str) -> NumpyScalar:
    if dtype not in wire.ITEM_SIZE or dtype == "bfloat16":
        raise WireError("NumPy scalar of an unknown dtype")
    if dtype == "bool":
        if text not in ("0", "1"):
            raise WireError("illegal bool")
        return NumpyScalar(dtype, text == "1")
    value = _float(text) if dtype.startswith("float") else _integer(text)
    if not _fits(dtype, value):
        raise WireError(f"a number that is no {dtype}")
    return NumpyScalar(dtype, value)


def _fits(dtype: str, value: float | int) -> bool:
    """Whether a NumPy scalar of this dtype can hold exactly this number."""
    if isinstance(value, int):
        limits = np.iinfo(dtype)
        return int(limits.min) <= value <= int(limits.max)
    with np.errstate(over="ignore"):
        return math.isnan(value) or float(np.dtype(dtype).type(value)) == value


def _container(tag: str, length: int, items: list[Any], payload: ReplyPayload, depth: int) -> Value:
    payload.items += len(items)
    if not 0 <= length < 2**62 or len(items) > wire.ITEMS_LIMIT or payload.items > wire.VALUE_LIMIT:
        raise WireError(f"illegal length of a {tag}")
    if len(items) != length:
        if items:
            raise WireError(f"{tag} with another length than it says")
        return Cut(tag, length)
    if tag != "dict":
        return _CONTAINERS[tag](decode(item, payload, depth + 1) for item in items)
    result: dict[Any, Value] = {}
    for pair in items:
        if type(pair) is not list or len(pair) != 2:
            raise WireError("dict item without key and value")
        key = decode(pair[0], payload, depth + 1)
        if not _can_be_key(key):
            raise WireError("dict key that cannot be one")
        if type(key) not in (str, int, float, bool, type(None), tuple):
            # Records compare by identity: such a key is no expected one, and is kept as such.
            key = Other(f"{type_name(key)} key")
        result[key] = decode(pair[1], payload, depth + 1)
    if len(result) != length:
        # True and 1, or nan twice, are no keys of a legal answer; the length tells them apart.
        return Cut("dict", length)
    return result


def _can_be_key(key: Value) -> bool:
    """Whether what a worker says is a key can have been one."""
    if type(key) is tuple:
        return all(map(_can_be_key, key))
    if isinstance(key, Cut):
        return key.type_name == "tuple"
    if isinstance(key, Array):
        return key.library == "torch"
    return type(key) not in (list, dict)


def _array(spec: dict[str, Any], payload: ReplyPayload) -> Array:
    if spec.keys() != _ARRAY_KEYS:
        raise WireError("array without its exact keys")
    library: Library | None = _LIBRARIES.get(spec["lib"]) if type(spec["lib"]) is str else None
    if library is None:
        raise WireError("array of an unknown library")
    if type(spec["dtype"]) is not str or spec["dtype"] not in wire.ITEM_SIZE:
        raise WireError("array of an unknown dtype")
    if library == "numpy" and spec["dtype"] == "bfloat16":
        raise WireError("NumPy array of a dtype that NumPy does not have")
    if type(spec["device"]) is not str or len(spec["device"]) > wire.NAME_LIMIT:
        raise WireError("array with an illegal device")
    flags = spec["grad"], spec["writeable"], spec["inference"]
    if [*map(type, flags)] != [bool, bool, bool]:
        raise WireError("array with illegal flags")
    shape = _integers(spec["shape"], wire.RANK_LIMIT)
    strides = _integers(spec["strides"], wire.RANK_LIMIT, negative=spec["lib"] == "numpy")
    start, length = _integers(spec["at"], 2, exact=True)
    if len(shape) != len(strides):
        raise WireError("array with strides of another rank")
    if math.prod(shape) * wire.ITEM_SIZE[spec["dtype"]] != length:
        raise WireError("array with another number of bytes than its shape takes")
    if wire.too_wide(shape):
        raise WireError("array with axes that are too long")
    data = payload.take(start, length)
    if spec["dtype"] == "bool" and data.strip(b"\x00\x01"):
        raise WireError("bool array with other bytes than 0 and 1")
    return Array(
        library=library,
        dtype=spec["dtype"],
        device=_device(spec["device"]),
        shape=shape,
        data=data,
        strides=strides,
        requires_grad=flags[0],
        writeable=flags[1],
        inference=flags[2],
    )


def _integers(
    items: Any, most: int, *, exact: bool = False, negative: bool = False
) -> tuple[int, ...]:
    if type(items) is not list or len(items) > most or (exact and len(items) != most):
        raise WireError("illegal list of integers")
    least = -(2**62) if negative else 0
    for item in items:
        if type(item) is not int or not least <= item <= 2**62:
            raise WireError("illegal integer in a list")
    return tuple(items)


@lru_cache(maxsize=64)
def _device(name: str) -> str:
    return clean_line(name, wire.NAME_LIMIT)
