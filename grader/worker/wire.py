"""The frames that cross between the grader and a worker, and nothing about what they mean.

A frame is
    u32  length of the header, little-endian
    u32  length of the payload
    16   bytes of nonce: a request's is fresh and random, each of its replies repeats it
    ...  header: one strict JSON object in UTF-8
    ...  payload: raw bytes, which the header refers to by [offset, length]

Requests (the grader's), by the header's "do":
    versions  nothing more. One reply with the versions of what is loaded.
    lock      {"memory" in MiB, "accelerator"}. One reply, before anything of a submission is read:
            "locked", or why the accelerator is "unavailable". Who cannot lock itself ends.
    load      payload = the source text; {"entries", "parameters", "seed"}. One reply: "loaded", or
            "failed".
    calls   {"calls": [...], "observe": [...], "reuse"}. One reply for every call, in order; if
            "private" is observed, one more with the answers read again and the arguments after
            overwriting them.
    repeat  {"call", "times", "every"}: one call over and over. One reply for every `every`
            calls, which names each distinct answer once.

Values are tagged JSON lists: ["none"], ["bool", b], ["int", "decimal"], ["float", "hex"],
["str", s], ["tuple" | "list", length, items], ["dict", length, [[key, value], ...]],
["array", {...}]; requests may hold ["generator", seed, shared]; replies may hold
["npscalar", dtype, text] and ["other", type name, detail]. There is no other way to say a value, so
a reply can claim values but never run anything.

This module is used on both sides: `grader.worker.wire` to the grader, plain `wire` in a worker. It
imports nothing of the project.
"""

from __future__ import annotations

import json
import math
import struct
import time
from collections.abc import Sequence
from typing import Any, Protocol

HEADER_LIMIT = 1 << 20
PAYLOAD_LIMIT = 16 << 20
NONCE_BYTES = 16

# Limits on one value. A value that does not fit arrives as what it is, never as another value.
DEPTH_LIMIT = 6
ITEMS_LIMIT = 1024
ANSWER_LIMIT = 1 << 20  # bytes of all arrays of one answer together: 131072 float64
VALUE_LIMIT = 16384  # items of all containers of one answer together
STRING_LIMIT = 4096
DIGITS_LIMIT = 60
RANK_LIMIT = 8
NAME_LIMIT = 80
DETAIL_LIMIT = 200
MESSAGE_LIMIT = 2000
TRACEBACK_LIMIT = 4000

ITEM_SIZE = {
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint8": 1,
    "bool": 1,
}

_PREFIX = struct.Struct("<II16s")


class WireError(Exception):
    """A frame or a value that breaks the rules; the message says which rule."""


class Closed(WireError):
    """The other end is gone."""


class Late(WireError):
    """Nothing (or not all) arrived before the deadline."""


class Socket(Protocol):
    """What is needed of a stream socket."""

    def settimeout(self, value: float | None, /) -> None: ...
    def recv_into(self, buffer: memoryview, /) -> int: ...
    def sendall(self, data: bytes, /) -> None: ...


def pack(nonce: bytes, header: dict[str, Any], payload: bytes = b"") -> bytes:
    """One frame; raises WireError where it would be too large to be accepted."""
    return frame(nonce, encode(header), payload)


def encode(header: Any) -> bytes:
    """A header, or a part of one, as it crosses."""
    return _encode(header).encode()


def frame(nonce: bytes, text: bytes, payload: bytes = b"") -> bytes:
    """One frame with a header that is encoded already; WireError as for `pack`."""
    if len(text) > HEADER_LIMIT or len(payload) > PAYLOAD_LIMIT:
        raise WireError(f"frame of {len(text)} + {len(payload)} bytes is over the limit")
    return _PREFIX.pack(len(text), len(payload), nonce) + text + payload


def receive(
    sock: Socket, deadline: float | None = None
) -> tuple[bytes, dict[str, Any], memoryview]:
    """The next frame as (nonce, header, payload), by `deadline` on the monotonic clock.

    Raises Closed at the end of the stream, Late past the deadline, WireError for a frame that
    breaks the rules. Lengths are judged before any memory is taken, and the header once all of the
    frame is there.
    """
    nonce, text, payload = receive_frame(sock, deadline)
    return nonce, parse(text), payload


def receive_frame(sock: Socket, deadline: float | None = None) -> tuple[bytes, bytes, memoryview]:
    """As `receive`, with the header as its bytes, whatever they are."""
    header_size, payload_size, nonce = _PREFIX.unpack(_exactly(sock, _PREFIX.size, deadline))
    if header_size > HEADER_LIMIT or payload_size > PAYLOAD_LIMIT:
        raise WireError(f"frame of {header_size} + {payload_size} bytes is over the limit")
    text = bytes(_exactly(sock, header_size, deadline))
    return nonce, text, _exactly(sock, payload_size, deadline)


def first_frame(data: memoryview) -> tuple[bytes, bytes, memoryview, int] | None:
    """As `receive_frame`, from what has been read already, with the bytes it takes; None where it
    is not there as a whole."""
    if len(data) < _PREFIX.size:
        return None
    header_size, payload_size, nonce = _PREFIX.unpack_from(data)
    header_end = _PREFIX.size + header_size
    end = header_end + payload_size
    if len(data) < end:
        return None
    return (
        nonce,
        bytes(data[_PREFIX.size : header_end]),
        memoryview(bytes(data[header_end:end])),
        end,
    )


def parse(text: bytes) -> dict[str, Any]:
    """A header from its bytes: one JSON object, no key twice, finite numbers; else a WireError."""
    try:
        header = _decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"header is not strict JSON ({type(error).__name__})") from None
    if type(header) is not dict:
        raise WireError("header is not a JSON object")
    return header


def too_wide(shape: Sequence[int]) -> bool:
    """Whether axes are longer than any payload fills: an empty array may claim axes of 2**62."""
    return math.prod(size or 1 for size in shape) > PAYLOAD_LIMIT


def _exactly(sock: Socket, size: int, deadline: float | None) -> memoryview:
    buffer = memoryview(bytearray(size))
    have = 0
    while have < size:
        if deadline is None:
            sock.settimeout(None)
        else:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late("no answer in time")
            sock.settimeout(left)
        try:
            got = sock.recv_into(buffer[have:])
        except TimeoutError:
            raise Late("no answer in time") from None
        except OSError as error:
            raise Closed(f"connection lost ({error.strerror})") from None
        if got == 0:
            raise Closed("connection closed")
        have += got
    return buffer


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise WireError("header has a key twice")
    return result


def _no_constant(name: str) -> Any:
    raise WireError(f"header holds {name}, which is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):  # 1e999 is good JSON, and nothing that could be sent back
        raise WireError("header holds a number beyond every float")
    return number


# Made once: json.dumps and json.loads make a new one for every call that has options.
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder(
    object_pairs_hook=_no_duplicates, parse_constant=_no_constant, parse_float=_finite
).decode
