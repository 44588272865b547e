"""Whatever arrives is legal and accepted, or is not and refused; text from it forges nothing.

The rules of `grader.worker.wire`'s docstring are written here once more, by other means: a grammar
in place of Python's JSON, a list of rules in place of a decoder. Every input is judged by both, and
the verdicts have to agree. Bytes nobody could have meant are made by hypothesis; `bench/fuzz.py`
makes many more of them with the same judges.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import render, score
from grader.clean import TEXT_LIMIT, clean, clean_line
from grader.codec import ReplyPayload, decode
from grader.expect import Mismatch, exactly
from grader.problem import Limits
from grader.report import (
    Cause,
    Environment,
    Extra,
    Failure,
    Isolation,
    Kit,
    Output,
    Report,
    SubmissionFile,
    to_json,
)
from grader.submission import Case, Outcome, Submission
from grader.values import Array, Cut, NumpyScalar, Other, Value, array, seeded, show
from grader.worker import wire
from grader.workers import Ending, Worker
from tests import kits

NONCE = bytes(range(16))
LIMITS = Limits(load=5, call=5, submission=60, memory=64)
MANY = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


# ---- the rules once more: headers

_SPACE = re.compile(r"[ \t\n\r]*")
_TEXT = re.compile(r'"((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u(.{4})|(.))"
)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
DEEPEST_SURE = 300  # so deep a header is accepted for sure; nothing legal is deeper than 30
SHALLOWEST_BOMB = 5000  # so deep a one is refused for sure; Python decides on what is between
LONGEST_INT = 4300  # digits that Python reads unless it is told otherwise


class Illegal(Exception):
    """What the rules forbid."""


class Unsure(Exception):
    """What the rules leave to the interpreter: neither verdict is wrong."""


def strict_header(data: bytes) -> dict[str, Any]:
    """The object that bytes are by RFC 8259 and the wire's own rules; else Illegal or Unsure.

    One pass with a stack of its own: it cannot run out of Python's.
    """
    try:
        text = data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        raise Illegal from None
    unsure = False
    at, stack = 0, []
    done: list[Any] = []  # the value, once it is whole
    keys: list[str | None] = []  # the key that is waiting for its value, of every open object
    expect = "value"
    while True:
        found = _SPACE.match(text, at)
        assert found is not None
        at = found.end()
        if at == len(text):
            break
        sign = text[at]
        if expect == "end":
            raise Illegal
        if expect in ("value", "value or ]") and sign in "{[":
            stack.append({} if sign == "{" else [])
            keys.append(None)
            at += 1
            unsure |= len(stack) > DEEPEST_SURE
            if len(stack) > SHALLOWEST_BOMB:
                raise Illegal
            expect = "key or }" if sign == "{" else "value or ]"
            continue
        if (sign == "]" and expect in ("value or ]", ", or ]")) or (
            sign == "}" and expect in ("key or }", ", or }")
        ):
            at += 1
            keys.pop()
            value: Any = stack.pop()
        elif expect in ("key", "key or }"):
            found = _TEXT.match(text, at)
            if found is None:
                raise Illegal
            at = found.end()
            key = _unescaped(found[1])
            if key in stack[-1]:
                raise Illegal
            keys[-1] = key
            expect = ":"
            continue
        elif expect == ":":
            if sign != ":":
                raise Illegal
            at += 1
            expect = "value"
            continue
        elif expect in (", or ]", ", or }"):
            if sign != ",":
                raise Illegal
            at += 1
            expect = "value" if expect == ", or ]" else "key"
            continue
        else:
            value, at = _scalar(text, at)
        if not stack:
            done.append(value)
            expect = "end"
        elif type(stack[-1]) is dict:
            stack[-1][keys[-1]] = value
            expect = ", or }"
        else:
            stack[-1].append(value)
            expect = ", or ]"
    if expect != "end" or type(done[0]) is not dict:
        raise Illegal
    if unsure:
        raise Unsure
    return done[0]


def _scalar(text: str, at: int) -> tuple[Any, int]:
    for word, value in (("true", True), ("false", False), ("null", None)):
        if text.startswith(word, at):
            return value, at + len(word)
    if found := _TEXT.match(text, at):
        return _unescaped(found[1]), found.end()
    found = _NUMBER.match(text, at)
    if found is None:
        raise Illegal
    if found[1]:
        number = float(found[0])
        if not math.isfinite(number):
            raise Illegal
        return number, found.end()
    if len(found[0].lstrip("-")) > LONGEST_INT:
        raise Illegal
    return int(found[0]), found.end()


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        high, low, single, letter = found.groups()
        if high:
            return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
        return chr(int(single, 16)) if single else _ESCAPES.get(letter, letter)

    return _ESCAPE.sub(one, text) if "\\" in text else text


def judge_header(data: bytes) -> None:
    """Fails unless the wire reads these bytes as the rules say."""
    try:
        wanted: Any = strict_header(data)
    except (Illegal, Unsure) as error:
        wanted = error
    try:
        found: Any = wire.parse(data)
    except wire.WireError as error:
        found = error
    if isinstance(wanted, Unsure):
        assert type(found) is dict or isinstance(found, wire.WireError)
    elif isinstance(wanted, Illegal):
        assert isinstance(found, wire.WireError), f"accepted: {data[:200]!r}"
    else:
        assert not isinstance(found, wire.WireError), f"refused ({found}): {data[:200]!r}"
        # repr tells 1 from True and 1.0, and -0.0 from 0.0.
        assert repr(found) == repr(wanted)
        packed = wire.pack(NONCE, found)
        assert repr(wire.parse(packed[24:])) == repr(found)


# ---- the rules once more: frames


def strict_frames(stream: bytes) -> tuple[list[tuple[bytes, dict[str, Any], bytes]], str]:
    """The legal frames that a stream begins with, and what follows.

    That is "closed", "illegal" or "unsure".
    """
    frames: list[tuple[bytes, dict[str, Any], bytes]] = []
    at = 0
    while True:
        if len(stream) - at < 24:
            return frames, "closed"
        header, payload = struct.unpack_from("<II", stream, at)
        if header > 1024 * 1024 or payload > 16 * 1024 * 1024:
            return frames, "illegal"
        if len(stream) - at < 24 + header + payload:
            return frames, "closed"
        try:
            read = strict_header(stream[at + 24 : at + 24 + header])
        except Illegal:
            return frames, "illegal"
        except Unsure:
            return frames, "unsure"
        begin = at + 24 + header
        frames.append((stream[at + 8 : at + 24], read, stream[begin : begin + payload]))
        at = begin + payload


class Stream:
    """A socket in memory that gives its bytes in pieces and is then closed."""

    def __init__(self, data: bytes, piece: int = 1 << 20) -> None:
        self._data = memoryview(data)
        self._piece = piece

    def settimeout(self, value: float | None, /) -> None:
        """As a socket's."""

    def recv_into(self, buffer: memoryview, /) -> int:
        """As a socket's."""
        taken = min(len(buffer), len(self._data), self._piece)
        buffer[:taken] = self._data[:taken]
        self._data = self._data[taken:]
        return taken

    def sendall(self, data: bytes, /) -> None:
        """As a socket's."""


def read_frames(sock: Any) -> tuple[list[tuple[bytes, dict[str, Any], bytes]], wire.WireError]:
    """Every frame up to the error that ends the stream."""
    frames = []
    deadline = time.monotonic() + 5
    while True:
        try:
            nonce, header, payload = wire.receive(sock, deadline)
        except wire.WireError as error:
            return frames, error
        frames.append((nonce, header, bytes(payload)))


def judge_stream(stream: bytes, sock: Any = None) -> None:
    """Fails unless the wire cuts a stream into the frames that the rules say."""
    wanted, end = strict_frames(stream)
    found, error = read_frames(sock or Stream(stream))
    if end == "unsure":
        assert repr(found[: len(wanted)]) == repr(wanted)
        return
    assert repr(found) == repr(wanted)
    assert type(error) is (wire.Closed if end == "closed" else wire.WireError), error


# ---- the rules once more: values

_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]{13}p[+-](?:0|[1-9][0-9]{0,3})")
_INT = re.compile(r"0|-?[1-9][0-9]{0,59}")
_CAPACITY = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 255),
}
_FORMATS = {"float16": "<e", "float32": "<f", "float64": "<d"}
_SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "int16": 2,
          "int32": 4, "int64": 8, "uint8": 1, "bool": 1}  # fmt: skip
_ARRAY = {"lib": str, "dtype": str, "shape": list, "device": str, "strides": list, "grad": bool,
          "writeable": bool, "inference": bool, "at": list}  # fmt: skip


@dataclass
class Judge:
    """What is legal in one reply: the payload, what of it is left, and items of this value."""

    payload: bytes
    left: int = field(init=False)
    items: int = 0

    def __post_init__(self) -> None:
        self.left = len(self.payload)

    def value(self, tagged: Any) -> bool:
        """Whether this is a value by the rules."""
        self.items = 0
        return self._value(tagged, 0)

    def _value(self, tagged: Any, depth: int) -> bool:
        if type(tagged) is not list or not tagged or depth > 6:
            return False
        tag, parts = tagged[0], tagged[1:]
        kinds = tuple(type(part) for part in parts)
        if type(tag) is not str:
            return False
        if tag in ("tuple", "list", "dict") and kinds == (int, list):
            return self._container(tag, parts[0], parts[1], depth)
        if tag == "array" and kinds == (dict,):
            return self._array(parts[0])
        match tag, kinds, parts:
            case ("none", (), _):
                return True
            case ("bool", (x,), _) if x is bool:
                return True
            case ("int", (x,), [text]) if x is str:
                return bool(_INT.fullmatch(text))
            case ("float", (x,), [text]) if x is str:
                return _is_float(text)
            case ("str", (x,), [text]) if x is str:
                return len(text) <= 4096
            case ("npscalar", (x, y), [dtype, text]) if x is y is str:
                return _is_numpy_scalar(dtype, text)
            case ("other", (x, y), [name, detail]) if x is y is str:
                return len(name) <= 80 and len(detail) <= 200
        return False

    def _container(self, tag: str, length: int, items: list[Any], depth: int) -> bool:
        if not 0 <= length < 2**62 or len(items) > 1024:
            return False
        self.items += len(items)
        if self.items > 16384 or (items and len(items) != length):
            return False
        if tag != "dict":
            return all(self._value(item, depth + 1) for item in items)
        for pair in items:
            if type(pair) is not list or len(pair) != 2:
                return False
            if not self._value(pair[0], depth + 1) or not _is_key(pair[0]):
                return False
            if not self._value(pair[1], depth + 1):
                return False
        return True

    def _array(self, spec: dict[str, Any]) -> bool:
        if {key: type(part) for key, part in spec.items()} != _ARRAY:
            return False
        if spec["lib"] not in ("torch", "numpy") or spec["dtype"] not in _SIZES:
            return False
        if spec["lib"] == "numpy" and spec["dtype"] == "bfloat16":
            return False
        shape, strides, at = spec["shape"], spec["strides"], spec["at"]
        whole = [*shape, *strides, *at]
        if any(type(i) is not int or abs(i) > 2**62 for i in whole) or len(at) != 2:
            return False
        if len(shape) > 8 or len(strides) != len(shape) or len(spec["device"]) > 80:
            return False
        if min([0, *shape, *at]) < 0 or (spec["lib"] == "torch" and min([0, *strides]) < 0):
            return False
        start, length = at
        if math.prod(shape) * _SIZES[spec["dtype"]] != length:
            return False
        if math.prod(max(size, 1) for size in shape) > 16 * 1024 * 1024:
            return False
        self.left -= length
        if start + length > len(self.payload) or self.left < 0:
            return False
        return spec["dtype"] != "bool" or set(self.payload[start : start + length]) <= {0, 1}

    # of a whole reply

    def place(self, at: Any) -> bytes | None:
        """The bytes at [offset, length]; None where that is no such place."""
        if type(at) is not list or len(at) != 2 or any(type(i) is not int or i < 0 for i in at):
            return None
        self.left -= at[1]
        if at[0] + at[1] > len(self.payload) or self.left < 0:
            return None
        return self.payload[at[0] : at[0] + at[1]]

    def outcome(self, reply: dict[str, Any], index: int, observe: Sequence[str]) -> str:
        """ "value", the kind of the failure it tells, or "malformed"."""
        if type(reply.get("i")) is not int or reply["i"] != index:
            return "malformed"
        parts = {"args": "args", "globals": "moved", "generator": "generator"}
        asked = {parts[name] for name in observe if name in parts}
        if not set(reply) <= {"i", "value", "failed"} | asked:
            return "malformed"
        if ("value" in reply) is ("failed" in reply):
            return "malformed"
        if "failed" in reply:
            return failure(reply["failed"])
        fine = self.value(reply.get("value"))
        if fine and "args" in observe:
            args = reply.get("args")
            fine = type(args) is list and all(map(self.value, args))
            fine = fine and len(args) == len(ARGUMENTS)
        if fine and "globals" in observe:
            moved = reply.get("moved")
            fine = type(moved) is list and all(
                type(name) is str
                and name in ("torch", "numpy", "random")
                and moved.count(name) == 1
                for name in moved
            )
        if fine and "generator" in observe and reply.get("generator") is not None:
            fine = self.place(reply["generator"]) is not None
        return "value" if fine else "malformed"

    def private(self, reply: dict[str, Any], count: int) -> bool:
        """Whether this is a reply on what `count` calls share."""
        if set(reply) != {"i", "later", "shares", "twins", "filled"}:
            return False
        if type(reply["i"]) is not int or reply["i"] != count:
            return False
        for key in ("later", "shares", "twins", "filled"):
            if type(reply.get(key)) is not list or len(reply[key]) != count:
                return False
        for later, shares, twins, filled in zip(
            *(reply[key] for key in ("later", "shares", "twins", "filled")), strict=True
        ):
            if any(type(part) is not list for part in (shares, twins, filled)):
                return False
            if any(type(i) is not int or i < 0 for i in shares + twins):
                return False
            if len(filled) != len(ARGUMENTS):
                return False
            if not self.value(later) or not all(map(self.value, filled)):
                return False
        return True

    def tally(self, reply: dict[str, Any], start: int, expected: int, known: int) -> int | None:
        """How many answers are known after a reply of many calls; None where it is malformed."""
        order = self.place(reply.get("order"))
        values = reply.get("values")
        if reply.get("i") != start or order is None or type(values) is not list:
            return None
        if len(values) > expected:
            return None
        if not all(map(self.value, values)) or len(order) != 4 * expected:
            return None
        numbers = struct.unpack(f"<{expected}I", order)
        return None if max(numbers) >= known + len(values) else known + len(values)


def failure(spec: Any) -> str:
    """The kind of a failure that a reply tells, or "malformed"."""
    kinds = (
        "syntax_error import_error missing_entry not_callable wrong_arity exception exit memory "
        "flood too_large"
    ).split()
    if type(spec) is not dict or spec.get("kind") not in kinds:
        return "malformed"
    if type(spec.get("message")) is not str:
        return "malformed"
    return spec["kind"] if type(spec.get("traceback")) in (str, type(None)) else "malformed"


def _is_float(text: str) -> bool:
    if text in ("nan", "inf", "-inf"):
        return True
    if not _FLOAT.fullmatch(text):
        return text in ("0x0.0p+0", "-0x0.0p+0")
    mantissa, _, exponent = text.lstrip("-").partition("p")
    if mantissa.startswith("0x0"):
        return exponent == "-1022" and mantissa != "0x0.0000000000000"
    return -1022 <= int(exponent) <= 1023


def _is_numpy_scalar(dtype: str, text: str) -> bool:
    if dtype == "bool":
        return text in ("0", "1")
    if dtype in _CAPACITY:
        low, high = _CAPACITY[dtype]
        return bool(_INT.fullmatch(text)) and low <= int(text) <= high
    if dtype not in _FORMATS or not _is_float(text):
        return False
    number = float(text) if "0x" not in text else float.fromhex(text)
    try:
        (kept,) = struct.unpack(_FORMATS[dtype], struct.pack(_FORMATS[dtype], number))
    except OverflowError:
        return False
    return math.isnan(number) or kept == number


def _is_key(tagged: Any) -> bool:
    """Whether a legal value can have been the key of a dict in Python."""
    if tagged[0] == "tuple":
        return all(map(_is_key, tagged[2]))
    if tagged[0] == "array":
        return bool(tagged[1]["lib"] == "torch")
    return tagged[0] not in ("list", "dict")


def judge_value(tagged: Any, payload: bytes) -> Value:
    """Fails unless a claim is read as the rules say; the value, or None where it is refused."""
    legal = Judge(payload).value(tagged)
    value, refused = None, None
    try:
        value = decode(tagged, ReplyPayload(memoryview(payload)))
    except wire.WireError as error:
        refused = str(error)
    if refused is not None:
        assert not legal, f"refused ({refused}): {tagged!r:.300}"
        assert len(refused) < 100
        assert refused.isprintable()
        return None
    assert legal, f"accepted as {value!r:.100}: {tagged!r:.300}"
    assert is_value(value)
    text = show(value)
    assert len(text) <= 2100
    return value


def is_value(value: Value) -> bool:
    """Whether something is one of the closed list of types, through and through."""
    if type(value) in (tuple, list):
        return all(map(is_value, value))
    if type(value) is dict:
        return all(is_value(key) and is_value(item) for key, item in value.items())
    if type(value) is Array:
        return (
            value.numbers().shape == value.shape
            and len(value.data) == value.numbers().size * (_SIZES[value.dtype])
        )
    if type(value) is NumpyScalar:
        return type(value.value) in (bool, int, float)
    return value is None or type(value) in (bool, int, float, str, Other, Cut)


# ---- what is tried


class Dice:
    """Decisions taken from bytes, one after another; where they are used up, always the first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def below(self, most: int) -> int:
        """A number from 0 to `most` - 1."""
        taken = self._data[self._at : self._at + 1 + (most > 256)]
        self._at += 1 + (most > 256)
        return int.from_bytes(taken, "little") % most

    def once_in(self, times: int) -> bool:
        """True once in so many times, and never when the bytes are used up."""
        return self.below(times) == 1

    def pick(self, options: Sequence[Any]) -> Any:
        """One of some things."""
        return options[self.below(len(options))]

    def rest(self) -> bytes:
        """The bytes that are left."""
        rest, self._at = self._data[self._at :], len(self._data)
        return rest


PAYLOADS = (bytes(range(1, 65)), bytes([0, 1] * 32), b"", b"\x00\x7f\xff\x80" * 40)
TEXTS = ("", "a", "é\x00", "\ud800", "\x1b[31mred\u202e", "x" * 80, "y" * 81, "z" * 200, "z" * 201,
         "s" * 4096, "s" * 4097, "\r\n::error::x", "nan", "##[error]x")  # fmt: skip
INTS = ("0", "-1", "12", "9" * 60, "9" * 61, "-0", "01", "+1", "1_0", "٣", "", "127", "128", "-129",
        "255", "256", "9223372036854775807", "9223372036854775808", "1\n")  # fmt: skip
FLOATS = ("0x0.0p+0", "-0x0.0p+0", "0x1.8000000000000p+1", "nan", "inf", "-inf", "0x1p0", "Inf",
          "0x1.fffffffffffffp+1023", "0x1.0000000000000p+1024", "0x0.0000000000001p-1022", "-nan",
          "0x1.0000000000001p+0", "0x1.0000000000000p+16", "0x1.0000000000000p-1023", "1e999",
          "0x1.ffffffffffffffp+0", "0x0.0000000000000p-1022", "0x1.0000000000000P+0",
          "0.5")  # fmt: skip
DTYPES = tuple(_SIZES)
JUNK = (None, True, False, 0, 1, -1, 0.0, 0.5, 2**62, 2**62 + 1, 10**30, "", "none", "torch",
        [], {}, [[]], ["none"], ["int", "1"], ["list", 2**61, []], {"kind": "exception"}, [0, 0],
        [0, 1], ["object", "x"], "\ud800", [1] * 9, -(2**62), math.inf, math.nan)  # fmt: skip


def a_value(dice: Dice, size: int, depth: int = 0) -> Any:
    """A value that is legal more often than not, over a payload of `size` bytes."""
    kind = dice.below(16)
    if kind >= 9 and depth < 8:
        tag = dice.pick(["tuple", "list", "dict"])
        count = dice.below(5) if not dice.once_in(250) else dice.pick([1024, 1025])
        if count > 1000:
            return [tag, count, [["none"] if tag != "dict" else [["none"], ["none"]]] * count]
        if dice.once_in(12):
            return [tag, dice.pick([1, 1024, 10**9, 2**62 - 1, 2**62, -1, True, 0.0]), []]
        items = [a_value(dice, size, depth + 1) for _ in range(count)]
        if tag == "dict":
            items = [[a_value(dice, size, depth + 1), item] for item in items]
        return [tag, count, items]
    match kind:
        case 1:
            return ["bool", dice.pick([True, False])]
        case 2:
            return ["int", dice.pick(INTS) if dice.once_in(3) else str(dice.below(1000) - 500)]
        case 3:
            return ["float", dice.pick(FLOATS) if dice.once_in(3) else (dice.below(999) / 7).hex()]
        case 4:
            return ["str", dice.pick(TEXTS)]
        case 5:
            dtype = dice.pick(DTYPES)
            return ["npscalar", dtype, dice.pick(FLOATS if "float" in dtype else INTS)]
        case 6:
            return ["other", dice.pick(TEXTS), dice.pick(TEXTS)]
        case 7 | 8:
            return ["array", an_array(dice, size)]
    return ["none"]


def an_array(dice: Dice, size: int) -> dict[str, Any]:
    """The claims about an array, most of which fit together."""
    dtype = dice.pick(DTYPES)
    sizes = (0, 1, 2, 3, 7, 2**12, 2**24, 2**24 + 1, 2**62, 2**62 + 1, -1)
    shape = [dice.pick(sizes[: 5 if not dice.once_in(20) else 11]) for _ in range(dice.below(4))]
    length = math.prod(shape) * _SIZES[dtype]
    return {
        "lib": dice.pick(["torch", "numpy"]),
        "dtype": dtype,
        "shape": shape,
        "device": dice.pick(["cpu", "cpu", "sim:0", "x" * 80, "x" * 81, "\x1b[2J"]),
        "strides": [dice.pick([1, 1, 0, 3, -1, 2**62, 2**63]) for _ in shape],
        "grad": dice.pick([False, True]),
        "writeable": dice.pick([True, False]),
        "inference": dice.pick([False, True]),
        "at": [dice.below(max(size - length, 0) + 1 + dice.once_in(9)), length],
    }


def spoil(dice: Dice, tree: Any) -> None:
    """Changes one place somewhere in a tree of lists and dicts."""
    places = list(_places(tree))
    if not places:
        return
    holder, key = dice.pick(places[:4096])
    change = dice.below(5)
    if change == 0:
        holder[key] = deepcopy(dice.pick(JUNK))
    elif change == 1:
        del holder[key]
    elif change == 2 and type(holder) is list:
        holder.insert(key, deepcopy(dice.pick([*JUNK, holder[key]])))
    elif change == 2:
        holder[dice.pick(["extra", "kind", "i", "at"])] = deepcopy(dice.pick(JUNK))
    elif change == 3:
        other, its = dice.pick(places[:4096])
        holder[key], other[its] = deepcopy(other[its]), deepcopy(holder[key])
    else:
        nested: Any = holder[key]
        for _ in range(dice.pick([1, 6, 8, 40])):
            nested = dice.pick([[nested], ["list", 1, [nested]], ["tuple", 1, [nested]]])
        holder[key] = nested


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    inside = list(tree) if type(tree) is dict else range(len(tree) if type(tree) is list else 0)
    for key in inside:
        yield tree, key
        yield from _places(tree[key])


def try_value(data: bytes) -> None:
    """One claim about a value, made of these bytes and judged."""
    dice = Dice(data)
    payload = dice.pick(PAYLOADS)
    tagged = a_value(dice, len(payload))
    if dice.once_in(3):
        holder = [tagged]
        spoil(dice, holder)
        tagged = holder[0] if holder else None
    judge_value(tagged, payload)


# ---- a whole submission, in memory: what answers it is made of bytes


class Link:
    """The worker's end of a connection in memory: every request is answered by `answer`."""

    def __init__(self, answer: Callable[[bytes, dict[str, Any]], bytes]) -> None:
        self._answer = answer
        self._ready = memoryview(b"")

    def settimeout(self, value: float | None, /) -> None:
        """As a socket's."""

    def sendall(self, data: bytes, /) -> None:
        """As a socket's; the answer is there at once."""
        size = struct.unpack_from("<I", data)[0]
        answer = self._answer(data[8:24], json.loads(data[24 : 24 + size]))
        self._ready = memoryview(bytes(self._ready) + answer)

    def recv_into(self, buffer: memoryview, /) -> int:
        """As a socket's."""
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def close(self) -> None:
        """As a socket's."""


class Ended:
    """A process that has left by itself."""

    def kill(self) -> None:
        """Nothing is left to be killed."""

    def ended(self, seconds: float) -> bool:
        """It has."""
        return True

    def end(self) -> Ending:
        """With code 0."""
        return Ending(None, 0)


class Answers:
    """A launcher whose workers load what they are sent, and then answer with given bytes.

    The first worker's answers are those; every later one closes its connection at the first call.
    """

    def __init__(
        self, answer: Callable[[bytes], bytes], load: Callable[[bytes], bytes] | None = None
    ) -> None:
        self._answers = [answer]
        self._load = load
        self._output = os.open(os.devnull, os.O_RDONLY)

    def start(self) -> Worker:
        """A worker in memory."""

        def answer(nonce: bytes, request: dict[str, Any]) -> bytes:
            if request["do"] == "lock":
                return _locked(nonce)
            if request["do"] == "load":
                return (self._load or _loaded)(nonce)
            if request["do"] not in ("calls", "repeat") or not self._answers:
                return b""
            return self._answers.pop()(nonce)

        return Worker(Link(answer), os.dup(self._output), Ended())  # type: ignore[arg-type]

    def versions(self) -> dict[str, Any]:
        """None: nothing here runs."""
        return {}

    def close(self) -> None:
        """Gives the descriptor back."""
        os.close(self._output)


def _locked(nonce: bytes) -> bytes:
    return wire.pack(nonce, {"locked": True})


def _loaded(nonce: bytes) -> bytes:
    return wire.pack(nonce, {"loaded": True})


def answered(
    answer: Callable[[bytes], bytes],
    use: Callable[[Submission], Any],
    load: Callable[[bytes], bytes] | None = None,
) -> Any:
    """What `use` makes of a submission whose worker answers so."""
    started = Answers(answer, load)
    submission = Submission(started, b"", ["f"], ["rows", "generator"], LIMITS)
    try:
        return use(submission)
    finally:
        submission.close()
        started.close()


OBSERVED = ("args", "generator", "globals", "private")
ARGUMENTS = (array([0.5, 0.25]), seeded(7))


def some_replies(dice: Dice, count: int, observe: Sequence[str], size: int) -> list[Any]:
    """The replies to so many calls, most of them legal."""
    replies: list[Any] = []
    for index in range(count):
        reply: dict[str, Any] = {"i": index}
        if dice.once_in(8):
            reply["failed"] = {
                "kind": dice.pick(["exception", "exit", "too_large", "crash", "memory"]),
                "message": dice.pick(TEXTS[1:]),
                "traceback": dice.pick([None, *TEXTS]),
            }
        else:
            reply["value"] = a_value(dice, size // 8)
        if "args" in observe:
            reply["args"] = [a_value(dice, size // 8) for _ in range(dice.pick([2, 2, 2, 0, 3]))]
        if "generator" in observe:
            reply["generator"] = dice.pick([[0, 0], [0, 3], None, [size, 0], [size, 1], [-1, 2]])
        if "globals" in observe:
            reply["moved"] = dice.pick([[], ["torch"], ["numpy", "random"], ["jax"], [[]], [1]])
        replies.append(reply)
    if "private" in observe:
        places = [[], [0], [1], [5], [2**70], [-1], [True], [0.0]]
        replies.append(
            {
                "i": count,
                "later": [a_value(dice, size // 8) for _ in range(count)],
                "shares": [list(dice.pick(places)) for _ in range(count)],
                "twins": [list(dice.pick(places)) for _ in range(count)],
                "filled": [
                    [a_value(dice, size // 8) for _ in range(dice.pick([2, 2, 2, 1]))]
                    for _ in range(count)
                ],
            }
        )
    return replies


def sent(dice: Dice, replies: list[Any], payload: bytes) -> Callable[[bytes], bytes]:
    """The replies as bytes on the wire, with some of them out of order, cut or forged."""
    headers = [json.dumps(reply).encode() for reply in replies]  # NaN as well, which is not JSON
    disorder, at = dice.below(12), dice.below(len(headers)) if headers else 0
    if disorder == 1:
        headers[at:at] = headers[at : at + 1]
    elif disorder == 2:
        del headers[at : at + 1]
    elif disorder == 3:
        headers.reverse()
    elif disorder == 4:
        headers.insert(at, dice.pick([b"", b"{}", b"[]", b'{"i":0,"i":0}', b"null", b"[" * 9999]))
    forged = at if disorder == 5 else -1
    cut = dice.below(400) if disorder == 6 else None
    lie = dice.pick([0, 1, 2**20, 2**20 + 1, 2**24, 2**24 + 1, 2**32 - 1])

    def answer(nonce: bytes) -> bytes:
        stream = b""
        for index, header in enumerate(headers):
            own = bytes(16) if index == forged else nonce
            claimed = lie if disorder == 7 and index == at else len(header)
            filled = lie if disorder == 8 and index == at else len(payload)
            stream += struct.pack("<II16s", claimed, filled, own) + header + payload
        return stream if cut is None else stream[: -cut or None]

    return answer


def wanted_outcomes(stream: bytes, nonce: bytes, count: int, observe: Sequence[str]) -> list[str]:
    """What the first worker's outcomes must be, up to the first that ends it."""
    frames, end = strict_frames(stream)
    found: list[str] = []
    for index in range(count + ("private" in observe)):
        if index == len(frames):
            verdict = end
        elif frames[index][0] != nonce:
            verdict = "illegal"
        elif index < count:
            verdict = Judge(frames[index][2]).outcome(frames[index][1], index, observe)
        else:
            fine = Judge(frames[index][2]).private(frames[index][1], count)
            verdict = "value" if fine else "illegal"
        kind = _ENDS.get(verdict, verdict)
        if index < count:
            found.append(kind)
        elif kind != "value":
            found[-1] = kind
        if verdict in _ENDS:
            break
    return found


# What ends a worker, and the failure that tells it.
_ENDS = {"closed": "exit", "illegal": "malformed", "malformed": "malformed"}


def try_replies(data: bytes, told: Callable[[str], None] | None = None) -> None:
    """Some calls whose answers are made of these bytes: every outcome is the one judged here.

    told: what the message of a check that fails is given to, `judge_screen` unless said.
    """
    dice = Dice(data)
    count = 1 + dice.below(3)
    observe = [name for name in OBSERVED if dice.once_in(2)]
    payload = dice.pick(PAYLOADS)
    replies = some_replies(dice, count, observe, len(payload))
    for _ in range(dice.pick([0, 0, 1, 2])):
        spoil(dice, replies)
    answer = sent(dice, replies, payload)
    seen: list[bytes] = []

    def remembered(nonce: bytes) -> bytes:
        seen.append(nonce)
        return answer(nonce)

    cases = [Case(ARGUMENTS, exactly(None))] * count
    outcomes: list[Outcome] = answered(remembered, lambda s: s.outcomes(cases, observe))
    assert len(outcomes) == count
    wanted = wanted_outcomes(answer(seen[0]), seen[0], count, observe)
    found = ["value" if o.failure is None else o.failure.kind for o in outcomes]
    assert found[: len(wanted)] == wanted, (found, wanted, replies)
    # Whatever is left was asked of workers that close their connection.
    assert set(found[len(wanted) :]) <= {"exit", "malformed"}
    for outcome in outcomes:
        assert is_value(outcome.value)
        assert all(map(is_value, outcome.args_after))
        if outcome.failure is not None:
            assert_clean(outcome.failure.message)
            assert_clean(outcome.failure.traceback or "")
    # The same as a check: it passes, or one Mismatch tells why not.
    wanted_state = b"" if "generator" in observe else None
    cases = [Case(ARGUMENTS, exactly(None), state_after=wanted_state)] * count
    private, unchanged = "private" in observe, "args" in observe
    moved = "globals" in observe
    try:
        answered(
            answer,
            lambda s: s.check(cases, private=private, unchanged=unchanged, globals_untouched=moved),
        )
    except Mismatch as error:
        (told or judge_screen)(error.message)


def try_tally(data: bytes) -> None:
    """One call made many times, answered by these bytes: a tally that adds up, or a failure."""
    dice = Dice(data)
    times = dice.pick([1, 249, 250, 251, 500])
    payload = dice.pick(PAYLOADS)
    replies: list[Any] = []
    known = 0
    orders: list[bytes] = []
    for start in range(0, times, 250):
        expected = min(250, times - start)
        values = [a_value(dice, len(payload)) for _ in range(dice.below(3) + (start == 0))]
        known += len(values)
        top = known + dice.once_in(9)
        orders.append(struct.pack(f"<{expected}I", *(n % top for n in range(expected))))
        replies.append({"i": start, "values": values, "order": [len(payload), 4 * expected]})
        if dice.once_in(9):
            replies[-1]["failed"] = {"kind": "exception", "message": "no", "traceback": None}
    if dice.once_in(3):
        spoil(dice, replies)
    whole = payload + orders[0]
    answer = sent(dice, replies, whole if len(orders) == 1 else payload + max(orders, key=len))
    seen: list[bytes] = []

    def remembered(nonce: bytes) -> bytes:
        seen.append(nonce)
        return answer(nonce)

    try:
        tally = answered(remembered, lambda s: s.repeat(times, *ARGUMENTS))
    except Mismatch as error:
        found = error.failure.kind
    else:
        found = "value"
        assert sum(tally.counts) == len(tally.order) == times
        assert len(tally.counts) >= len(tally.values)
        assert all(map(is_value, tally.values))
    assert found == _wanted_tally(answer(seen[0]), seen[0], times)


def _wanted_tally(stream: bytes, nonce: bytes, times: int) -> str:
    frames, end = strict_frames(stream)
    known: int | None = 0
    for number, start in enumerate(range(0, times, 250)):
        if number == len(frames):
            return _ENDS[end]
        its, reply, payload = frames[number]
        if its != nonce or reply.get("i") != start or type(reply["i"]) is not int:
            return "malformed"
        if not set(reply) <= {"i", "values", "order", "failed"}:
            return "malformed"
        if "failed" in reply:
            return failure(reply["failed"])
        assert known is not None
        known = Judge(payload).tally(reply, start, min(250, times - start), known)
        if known is None:
            return "malformed"
    return "value"


# ---- text

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def assert_clean(text: str) -> None:
    """Fails where text could steer a terminal or break a file that it is written to."""
    assert not _FORBIDDEN.search(text), ascii(text[:200])
    text.encode("utf-8")


def assert_clean_once(text: str) -> None:
    """Fails unless cleaning makes text harmless: the quickest judge of a message."""
    assert_clean(clean(text))


def judge_clean(text: str) -> None:
    """Fails unless text is cleaned as it is promised to be."""
    for limit in (TEXT_LIMIT, 40) if len(text) < 10_000 else (TEXT_LIMIT,):
        cleaned = clean(text, limit)
        assert_clean(cleaned)
        assert len(cleaned) <= limit + 40
    line = clean_line(text)
    assert_clean(line)
    assert "\n" not in line
    assert line == line.strip()
    if len(text) <= TEXT_LIMIT and not _UNCLEAN.search(text) and "/" not in text:
        assert clean(text) == text
    if len(cleaned := clean(text)) <= TEXT_LIMIT and "/" not in text:
        assert clean(cleaned) == cleaned


# Everything that may be taken out or changed; "/" begins a path of this machine's.
_UNCLEAN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\uffff\ufdd0-\ufdef\ud800-\udfff\U000e0000-\U000e0fff]"
)
TOLD = ("::error::", "##[error]", "\r", "\n", "\x1b[2J", "\u202e", "\x85", "\u2028", " ", "\t", "|",
        "\x1b]0;t\x07", "[red]", "Score: 60 of 60", "#", "[", ":", "<b>", "\ud800", "a" * 50,
        "\ufeff", "\x00", "##\x00[x]", ":\x07:warning::")  # fmt: skip


def judge_screen(text: str) -> None:
    """Fails unless a report with this text everywhere is a legal document and a tame screen."""
    report = report_with(text)
    document = to_json(report)
    assert document.isascii()
    assert json.loads(document, parse_constant=_refuse) == json.loads(json.dumps(report.as_dict()))
    kits.validate(report)
    for full in (False, True):
        shown = render.plain(
            render.screen(report, again=text, marks=render.WORDS, hidden_points=1, full=full)
        )
        assert_clean(shown)
        for row in shown.splitlines():
            assert not row.strip().startswith("::"), ascii(row[:100])
            assert "##[" not in row, ascii(row[:100])
        # The one score that is told is the grader's.
        told = [row for row in shown.split("\n") if row.startswith("Score:")]
        assert [row.split() for row in told] == [["Score:", "0", "of", "5"]]


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def report_with(text: str) -> Report:
    """The report of a grading in which everything a learner controls is this text."""
    told = clean(text) or "nothing"
    facts = {"title": "A title.", "group": "values", "points": 2, "extra": False, "hint": None}
    result = {"message": text, "told": text, "first": text, "failure": None, "about": "values"}
    records = [
        {
            "facts": {**facts, "function": f"test_{name}", "hidden": hidden},
            "outcome": "failed",
            "result": {**result, "failure": kind},
            "evidence": {"passed": 0, "cases": 1},
            "nodeid": f"checks.py::test_{name}[{text}]",
            "seconds": 0.1,
        }
        for name, hidden, kind in (
            ("one", False, None), ("one", False, None), ("two", True, None),
            ("three", False, "exception"),
        )
    ]  # fmt: skip
    checks = score.checks(records)
    return Report(
        kit=Kit("toy", "1"),
        problem="double",
        title="Double",
        library="torch",
        device="cpu",
        submission=SubmissionFile("double.py", "0" * 64, 1),
        score=0,
        max_score=5,
        passed=False,
        verdict="incorrect",
        seed=None,
        extra=Extra(0, 0),
        checks=checks,
        load_error=None,
        likely_cause=Cause(told),
        output=Output(clean(text, 64 << 10), True),
        environment=Environment("3", "2", "2", "Linux"),
        isolation=Isolation("process", ("process",)),
        started_at="2026-01-01T00:00:00+00:00",
        seconds=1.0,
    )


# ---- headers and frames

HEADERS = [
    b'{"i":0,"value":["tuple",2,[["int","3"],["float","0x1.8000000000000p+1"]]]}',
    b'{"loaded":true}',
    b'{"a":{"b":[1,-2.5e3,null,"\\ud83d\\ude00 \\ud800\\u0041"]},"\\u0069":0}',
    '{"text":"Größe \U0001f600 é"}'.encode(),
    b' { "a" : [ ] , "b" : { } } \r\n\t',
]
PIECES = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u00e9", b"\\ud800", b"\\x41", b"0",
          b"-", b"1e999", b"-1e999", b"1e308", b"01", b"1.", b".5", b"NaN", b"Infinity", b"nan",
          b"-Infinity", b"true", b"null", b"True", b'"i":0', b'"\\u0069":1', b"\xff", b"\xc0\xaf",
          b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x00", b"\x0b", b" ", b"\n", b"\xc2\xa0",
          b"\xe2\x80\xa8", b"//", b"'", b"9" * 400, b"1_0", b"+1", b"\xd9\xa3",
          b'{"":', b"[[[["]  # fmt: skip

edits = st.lists(
    st.tuples(
        st.integers(0, 1 << 16), st.integers(0, 6), st.sampled_from(PIECES) | st.binary(max_size=4)
    ),
    max_size=4,
)


def edited(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """The bytes with some of them replaced by others."""
    for at, cut, new in changes:
        at %= len(data) + 1
        data = data[:at] + new + data[at + cut :]
    return data


@MANY
@given(st.sampled_from(HEADERS), edits)
def test_edited_headers(header: bytes, changes: list[tuple[int, int, bytes]]) -> None:
    """A header with a few bytes changed is read as a grammar reads it, or refused with it."""
    judge_header(edited(header, changes))


@MANY
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), st.booleans())
def test_headers_of_pieces(pieces: bytes, wrapped: bool) -> None:
    """Pieces of JSON, and of what only looks like it, in any order."""
    judge_header(b'{"a":' + pieces + b"}" if wrapped else pieces)


@MANY
@given(st.binary(max_size=60))
def test_headers_of_any_bytes(data: bytes) -> None:
    """Any bytes at all."""
    judge_header(data)


BOMBS = {
    "lists": b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "lists without an end": b'{"a":' + b"[" * 1_000_000,
    "objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "both": b'{"a":[' * 20_000 + b"]}" * 20_000,
    "an integer": b'{"a":' + b"9" * 500_000 + b"}",
    "the longest integer": b'{"a":' + b"9" * 4300 + b"}",
    "one digit more": b'{"a":-' + b"9" * 4301 + b"}",
    "a long fraction": b'{"a":0.' + b"9" * 500_000 + b"}",
    "a long exponent": b'{"a":1e' + b"9" * 500_000 + b"}",
    "a number that is 0": b'{"a":1e-' + b"9" * 500_000 + b"}",
    "beyond every float": b'{"a":[1e400]}',
    "a long text": b'{"a":"' + b"\\u0000" * 150_000 + b'"}',
    "a long key, twice": b'{"' + b"k" * 400_000 + b'":1,"' + b"k" * 400_000 + b'":1}',
    "many keys": b"{" + b",".join(b'"%d":0' % i for i in range(80_000)) + b"}",
    "one of them twice": b"{" + b",".join(b'"%d":0' % (i % 79_999) for i in range(80_000)) + b"}",
    "spaces": b" " * 1_000_000 + b"{}",
}


@pytest.mark.parametrize("header", BOMBS.values(), ids=BOMBS)
def test_headers_that_are_made_to_hurt(header: bytes) -> None:
    """Depth, digits and length: read or refused at once, as the rules say."""
    began = time.monotonic()
    judge_header(header)
    assert time.monotonic() - began < 30


frames = st.lists(
    st.tuples(st.sampled_from([*HEADERS, b"{}", b"[]", b"", b"{"]), st.binary(max_size=40)),
    max_size=4,
).map(
    lambda parts: b"".join(
        struct.pack("<II16s", len(header), len(payload), NONCE) + header + payload
        for header, payload in parts
    )
)


@MANY
@given(frames, edits, st.sampled_from([1, 7, 1 << 20]))
def test_streams(stream: bytes, changes: list[tuple[int, int, bytes]], piece: int) -> None:
    """Frames with bytes changed, lengths among them, in pieces of any size."""
    stream = edited(stream, changes)
    judge_stream(stream, Stream(stream, piece))


@MANY
@given(frames, st.integers(0, 50), st.sampled_from([0, 1, 24, 2**20, 2**24, 2**32 - 1]))
def test_lying_lengths(stream: bytes, at: int, length: int) -> None:
    """A length in the wrong place, or a wrong length in the right one."""
    at = 4 * at % (len(stream) + 1)
    judge_stream(stream[:at] + struct.pack("<I", length) + stream[at + 4 :])


@FEW
@given(frames, edits)
def test_streams_over_a_real_socket(stream: bytes, changes: list[tuple[int, int, bytes]]) -> None:
    """The same between two processes' ends of a socket, closed after the last byte."""
    stream = edited(stream, changes)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(stream)  # a few hundred bytes: the kernel keeps them
        theirs.shutdown(socket.SHUT_WR)
        judge_stream(stream, ours)


# ---- values and replies

# Bytes that are all drawn one by one tend to be few: most of these come from a seed.
some_bytes = st.binary(max_size=200) | st.integers(0, 2**32).map(
    lambda seed: random.Random(seed).randbytes(600)
)


@settings(MANY, max_examples=1500)
@given(some_bytes)
def test_claims_about_values(data: bytes) -> None:
    """Claims that are legal, nearly legal and not: the decoder and the rules agree on each."""
    try_value(data)


@pytest.mark.parametrize(
    ("attempt", "times"),
    [
        (try_value, 12_000),
        (lambda data: try_replies(data, assert_clean_once), 500),
        (try_tally, 1200),
    ],
    ids=["values", "replies", "tallies"],
)
def test_the_same_bytes_every_time(attempt: Callable[[bytes], None], times: int) -> None:
    """Many more of these claims and replies, and the same ones in every run."""
    for seed in range(times):
        attempt(random.Random(seed).randbytes(200 + seed % 600))


@MANY
@given(st.sampled_from([*FLOATS, *INTS]) | st.text("0123456789abcdefxp+-.naift \n", max_size=26))
def test_numbers_as_texts(text: str) -> None:
    """A number has one form of its own, and is refused in any other, by every type."""
    judge_value(["int", text], b"")
    judge_value(["float", text], b"")
    for dtype in DTYPES:
        judge_value(["npscalar", dtype, text], b"")


@MANY
@given(st.floats(), st.integers(-(10**70), 10**70))
def test_every_number_has_a_form(real: float, whole: int) -> None:
    """Whatever number a worker writes is read as the same one, if it is not too long."""
    found = judge_value(["float", real.hex()], b"")
    assert struct.pack("<d", found) == struct.pack("<d", real) or math.isnan(real)
    assert judge_value(["int", str(whole)], b"") in (whole, None)
    for dtype in ("float16", "float32"):
        with np.errstate(over="ignore"):
            kept = float(np.dtype(dtype).type(real))
        assert judge_value(["npscalar", dtype, kept.hex()], b"") is not None


@pytest.mark.parametrize("tag", ["tuple", "list", "dict"])
@pytest.mark.parametrize("depth", [1, 5, 6, 7, 8, 100])
def test_a_value_is_so_deep(tag: str, depth: int) -> None:
    """Six containers inside each other, and a seventh that is cut: no more."""
    for inmost in (["none"], ["list", 3, []], ["list", 0, []], ["array", {}]):
        tagged: Any = inmost
        for _ in range(depth):
            tagged = [tag, 1, [tagged if tag != "dict" else [["none"], tagged]]]
        judge_value(tagged, b"")


@pytest.mark.parametrize("shape", [[0], [0, 2**24], [0, 2**24 + 1], [2**62, 0], [0, 2**12, 2**13]])
def test_an_empty_array_is_no_wider_than_a_full_one(shape: list[int]) -> None:
    """Axes that no payload could fill are refused where they hold nothing as well."""
    claim = {"dtype": "uint8", "shape": shape, "strides": [1] * len(shape), "at": [0, 0]}
    judge_value(["array", an_array(Dice(b""), 0) | claim], b"")


@pytest.mark.parametrize("data", [b"\0\1\0", b"\0\2\0", b"\2\0\0", b"\1\1\xff", b"\0\0\0"])
def test_a_bool_is_one_of_two_bytes(data: bytes) -> None:
    """An array of bools holds 0 and 1, wherever else something may hide."""
    spec = an_array(Dice(b""), 0) | {"dtype": "bool", "shape": [3], "strides": [1], "at": [0, 3]}
    judge_value(["array", spec], data)


@pytest.mark.parametrize(("items", "kept"), [(15, True), (16, False)])
def test_a_value_has_so_many_items_in_all(items: int, kept: bool) -> None:
    """Containers of a legal length each may still be too many together."""
    row = ["list", 1024, [["none"]] * 1024]
    tagged = ["tuple", items, [row] * items]
    assert (judge_value(tagged, b"") is not None) is kept


@settings(MANY, max_examples=200)
@given(some_bytes)
def test_replies_to_calls(data: bytes) -> None:
    """Replies broken, reordered, cut or forged: each outcome is the value or failure it must be."""
    try_replies(data)


@MANY
@given(some_bytes)
def test_replies_to_one_call_made_often(data: bytes) -> None:
    """A tally adds up, or is a failure."""
    try_tally(data)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"loaded": 0}, None),
        ({"loaded": True, "more": 1}, "malformed"),
        ({"unavailable": "no"}, "malformed"),
        ({}, "malformed"),
        ({"failed": None}, "malformed"),
        ({"failed": {"kind": "timeout", "message": "x"}}, "malformed"),
        ({"failed": {"kind": ["exit"], "message": "x"}}, "malformed"),
        ({"failed": {"kind": "exit", "message": 3}}, "malformed"),
        ({"failed": {"kind": "exit", "message": "x", "traceback": []}}, "malformed"),
        ({"failed": {"kind": "exit", "message": "x"}}, "exit"),
    ],
)
def test_replies_to_a_load(reply: dict[str, Any], kind: str | None) -> None:
    """Loaded, or a failure of a kind that there is."""

    def use(submission: Submission) -> str | None:
        submission.prepare()
        try:
            submission.load_or_raise()
        except Exception:
            assert submission.load_failure is not None
        return submission.load_failure.kind if submission.load_failure else None

    assert answered(lambda nonce: b"", use, lambda nonce: wire.pack(nonce, reply)) == kind


GOOD = {
    "i": 1, "value": ["none"], "args": [["none"]] * 2, "moved": ["torch"], "generator": [0, 2],
}  # fmt: skip
NEARLY = [
    {"more": 0}, {"args": [["none"]]}, {"args": [["none"]] * 3}, {"order": [0, 0]},
    {"i": True}, {"i": 1.0}, {"i": "1"}, {"i": None}, {"i": 0}, {"i": 2}, {"value": None},
    {"value": [["none"]]}, {"args": None}, {"args": {}}, {"args": [["none"], ["object"]]},
    {"moved": None}, {"moved": ["torch", "torch"]}, {"moved": ["torch", ["numpy"]]},
    {"moved": ["torch", "numpy", "random", "torch"]}, {"moved": "torch"}, {"moved": ["jax"]},
    {"moved": [["torch"]]},
    {"generator": []}, {"generator": [0]}, {"generator": [0, 2, 0]}, {"generator": [0.0, 2]},
    {"generator": [False, 2]}, {"generator": [-1, 2]}, {"generator": [0, 5]}, {"generator": [4, 1]},
    {"generator": [2**70, 0]}, {"generator": "02"}, {"failed": None}, {"failed": {}},
    {"failed": {"kind": "timeout", "message": "x", "traceback": None}},
    {"failed": {"kind": "exit", "message": None, "traceback": None}},
    {"failed": {"kind": "exit", "message": "x", "traceback": 3}},
]  # fmt: skip


@pytest.mark.parametrize("change", NEARLY, ids=str)
def test_replies_that_are_nearly_right(change: dict[str, Any]) -> None:
    """One thing is wrong with the second of two replies: that call is the malformed one."""

    def kinds(*replies: dict[str, Any]) -> list[str]:
        def answer(nonce: bytes) -> bytes:
            return b"".join(wire.pack(nonce, reply, b"abcd") for reply in replies)

        cases = [Case(ARGUMENTS, exactly(None))] * 2
        observe = ("args", "globals", "generator")
        outcomes = answered(answer, lambda s: s.outcomes(cases, observe))
        return [o.failure.kind if o.failure else "value" for o in outcomes]

    assert kinds(GOOD | {"i": 0}, GOOD) == ["value", "value"]
    assert kinds(GOOD | {"i": 0}, GOOD | change) == ["value", "malformed"]


def test_replies_over_a_real_socket() -> None:
    """A worker that sends noise for its answers, through the kernel, costs its calls alone."""
    luck = random.Random(4)

    class Noise(Answers):
        def start(self) -> Worker:
            ours, theirs = socket.socketpair()

            def run() -> None:
                with theirs:
                    nonce, request, _ = wire.receive(theirs)
                    while request["do"] != "calls":
                        answer = _locked if request["do"] == "lock" else _loaded
                        theirs.sendall(answer(nonce))
                        nonce, request, _ = wire.receive(theirs)
                    good = wire.pack(nonce, {"i": 0, "value": ["none"]})
                    noise = luck.randbytes(luck.randrange(60))
                    theirs.sendall(luck.choice([noise, good[:-1] + noise, good + noise, good]))

            threading.Thread(target=run, daemon=True).start()
            return Worker(ours, os.dup(self._output), Ended())

    for _ in range(60):
        started = Noise(lambda nonce: b"")
        submission = Submission(started, b"", ["f"], [], LIMITS)
        outcomes = submission.outcomes([Case((), exactly(None))])
        submission.close()
        started.close()
        assert outcomes[0].failure is None or outcomes[0].failure.kind in ("malformed", "exit")
        assert outcomes[0].value is None


# ---- text

texts = st.one_of(
    st.text(st.characters(codec=None), max_size=200),
    st.lists(
        st.sampled_from(TOLD) | st.text(st.characters(codec=None), max_size=6), max_size=20
    ).map("".join),
)


@MANY
@given(texts)
def test_text_is_cleaned(text: str) -> None:
    """Nothing is left that steers anything; what was clean before is kept to the letter."""
    judge_clean(text)


@FEW
@given(texts)
def test_text_in_a_report(text: str) -> None:
    """A report with any text in it is a legal document, and its screen has the grader's lines."""
    judge_screen(text)


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[" * 2_500_000,
        "::error::x\n" * 450_000,
        "\ud800" * 1_000_000,
        "a\r\n" * 1_700_000,
        "\u202e\n" * 500_000,
    ],
    ids=["openings", "commands", "surrogates", "returns", "turns"],
)
def test_megabytes_of_text(text: str) -> None:
    """Long text is cleaned and shown in a moment."""
    began = time.monotonic()
    judge_clean(text)
    judge_screen(text)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("message", ["", "\x1b[0m", "\u202e\n", "  \n"])
def test_a_failure_always_has_a_message(message: str) -> None:
    """A load error whose message is nothing once it is cleaned is still a legal document."""

    def use(submission: Submission) -> Failure | None:
        submission.unavailable()
        return submission.load_failure

    failed = {"failed": {"kind": "exception", "message": message, "traceback": None}}
    told = answered(lambda nonce: b"", use, lambda nonce: wire.pack(nonce, failed))
    kits.validate(replace(report_with("x"), load_error=told))
    assert told.message.strip()
