"""Frames: what is sent arrives as it was, and whatever breaks a rule is one WireError."""

from __future__ import annotations

import json
import math
import socket
import struct
import threading
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.worker import wire

NONCE = bytes(range(16))


@pytest.fixture(name="ends")
def _ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a stream socket, as a worker and the grader hold them."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def frame(header: bytes, payload: bytes = b"") -> bytes:
    """A frame around any bytes, legal or not."""
    return struct.pack("<II16s", len(header), len(payload), NONCE) + header + payload


def soon() -> float:
    return time.monotonic() + 5.0


# ---- what is legal


@pytest.mark.parametrize(
    ("header", "payload"),
    [
        ({}, b""),
        ({"do": "calls", "calls": [["int", "3"]]}, b"\x00\xff" * 100),
        ({"text": "Größe \u202e \U0001f600 \ud800 \x00"}, b"x"),
        ({"deep": [[[[[[[{"a": [None, True, 1, 0.5]}]]]]]]]}, b""),
        ({"a": 2**64}, b""),
    ],
)
def test_a_frame_arrives_as_it_was_sent(ends: Any, header: dict, payload: bytes) -> None:
    """Nonce, header and payload of a frame arrive unchanged."""
    ends[1].sendall(wire.pack(NONCE, header, payload))
    nonce, received, data = wire.receive(ends[0], soon())
    assert (nonce, received, bytes(data)) == (NONCE, header, payload)


def test_frames_in_a_row_are_kept_apart(ends: Any) -> None:
    """Several frames that arrive at once are read one by one."""
    ends[1].sendall(b"".join(wire.pack(NONCE, {"i": i}, bytes([i])) for i in range(3)))
    received = [wire.receive(ends[0], soon()) for _ in range(3)]
    assert [(header["i"], bytes(data)) for _, header, data in received] == [
        (0, b"\x00"),
        (1, b"\x01"),
        (2, b"\x02"),
    ]


def test_a_frame_in_pieces_is_put_together(ends: Any) -> None:
    """A frame may arrive byte by byte, as long as all of it arrives in time."""
    data = wire.pack(NONCE, {"i": 7}, b"abc")

    def dribble() -> None:
        for i in range(len(data)):
            ends[1].sendall(data[i : i + 1])

    sender = threading.Thread(target=dribble)
    sender.start()
    _, header, payload = wire.receive(ends[0], soon())
    sender.join()
    assert (header, bytes(payload)) == ({"i": 7}, b"abc")


def test_the_largest_frame_is_accepted(ends: Any) -> None:
    """A frame of exactly the largest sizes is sent and received."""
    header = {"a": "x" * (wire.HEADER_LIMIT - len('{"a":""}'))}
    data = wire.pack(NONCE, header, bytes(wire.PAYLOAD_LIMIT))
    sender = threading.Thread(target=ends[1].sendall, args=(data,))
    sender.start()
    _, received, payload = wire.receive(ends[0], soon())
    sender.join()
    assert received == header
    assert len(payload) == wire.PAYLOAD_LIMIT


@pytest.mark.parametrize(
    ("header", "payload"),
    [({"a": "x" * wire.HEADER_LIMIT}, b""), ({}, bytes(wire.PAYLOAD_LIMIT + 1))],
    ids=["header", "payload"],
)
def test_too_large_a_frame_is_not_packed(header: dict, payload: bytes) -> None:
    """What the other side would refuse is refused where it is made."""
    with pytest.raises(wire.WireError, match="over the limit"):
        wire.pack(NONCE, header, payload)


def test_nan_is_not_packed() -> None:
    """A header never holds a float that JSON has no form for."""
    with pytest.raises(ValueError, match="JSON"):
        wire.pack(NONCE, {"a": math.nan})


# ---- what is not

BAD_HEADERS = {
    "empty": b"",
    "no JSON": b"hello",
    "cut JSON": b'{"a": [1, 2',
    "two values": b"{}{}",
    "trailing byte": b"{}\x00",
    "pickle": b"\x80\x04K\x01.",
    "a list": b"[]",
    "null": b"null",
    "a string": b'"loaded"',
    "duplicate key": b'{"i": 1, "i": 2}',
    "duplicate key inside": b'{"a": [{"tag": 1, "tag": 1}]}',
    "duplicate key in escapes": b'{"i": 1, "\\u0069": 2}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": Infinity}',
    "-Infinity": b'{"a": [-Infinity]}',
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"a": 1}',
    "surrogate in UTF-8": b'{"a": "\xed\xa0\x80"}',
    "overlong UTF-8": b'{"a": "\xc0\xaf"}',
    "depth of lists": b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "depth of objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a very long integer": b'{"a": ' + b"9" * 100_000 + b"}",
    "a control character": b'{"a": "\x01"}',
    "a comment": b"{} // fine",
    "single quotes": b"{'a': 1}",
    "trailing comma": b'{"a": 1,}',
}


@pytest.mark.parametrize("header", BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_a_bad_header_is_a_wire_error(ends: Any, header: bytes) -> None:
    """A header that is not one strict JSON object is a WireError, never another exception."""
    sender = threading.Thread(target=ends[1].sendall, args=(frame(header),))
    sender.start()
    with pytest.raises(wire.WireError, match="header") as caught:
        wire.receive(ends[0], soon())
    sender.join()
    assert type(caught.value) is wire.WireError
    assert len(str(caught.value)) < 100


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_are_a_header_or_a_wire_error(text: bytes) -> None:
    """Whatever bytes are parsed, the answer is a dict or a WireError."""
    try:
        assert type(wire.parse(text)) is dict
    except wire.WireError:
        pass


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_any_object_is_parsed_as_it_is(header: dict) -> None:
    """Every JSON object that is written is read as the same object."""
    assert wire.parse(json.dumps(header).encode()) == json.loads(json.dumps(header))


@pytest.mark.parametrize(
    ("header_size", "payload_size"),
    [
        (wire.HEADER_LIMIT + 1, 0),
        (2**32 - 1, 0),
        (2, wire.PAYLOAD_LIMIT + 1),
        (2**32 - 1, 2**32 - 1),
    ],
)
def test_lying_lengths_take_no_memory(ends: Any, header_size: int, payload_size: int) -> None:
    """A frame that claims to be too large is refused before memory is taken for it."""
    ends[1].sendall(struct.pack("<II16s", header_size, payload_size, NONCE))
    tracemalloc.start()
    with pytest.raises(wire.WireError, match="over the limit"):
        wire.receive(ends[0], soon())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 20


@pytest.mark.parametrize("kept", [0, 1, 23, 24, 30, 32], ids=lambda n: f"{n} bytes")
def test_a_frame_that_ends_early_is_closed(ends: Any, kept: int) -> None:
    """A connection that ends inside a frame, wherever, is told as closed."""
    ends[1].sendall(wire.pack(NONCE, {"a": 1}, b"payload")[:kept])
    ends[1].close()
    with pytest.raises(wire.Closed):
        wire.receive(ends[0], soon())


@pytest.mark.parametrize("kept", [0, 10, 24, 30, 32], ids=lambda n: f"{n} bytes")
def test_a_frame_that_stops_is_late(ends: Any, kept: int) -> None:
    """A frame that is not there in full by the deadline is late, and the wait ends then."""
    ends[1].sendall(wire.pack(NONCE, {"a": 1}, b"payload")[:kept])
    began = time.monotonic()
    with pytest.raises(wire.Late):
        wire.receive(ends[0], began + 0.1)
    assert 0.09 < time.monotonic() - began < 2.0


def test_dribbling_does_not_extend_the_deadline(ends: Any) -> None:
    """The deadline is for the whole frame: a byte now and then gains no time."""
    stop = threading.Event()

    def dribble() -> None:
        for byte in frame(b"{" + b" " * 1000):
            if stop.wait(0.02):
                return
            ends[1].sendall(bytes([byte]))

    sender = threading.Thread(target=dribble)
    sender.start()
    began = time.monotonic()
    with pytest.raises(wire.Late):
        wire.receive(ends[0], began + 0.3)
    stop.set()
    sender.join()
    assert time.monotonic() - began < 2.0


def test_a_deadline_in_the_past_is_late(ends: Any) -> None:
    """A deadline that has passed is late even where a frame waits."""
    ends[1].sendall(wire.pack(NONCE, {}))
    with pytest.raises(wire.Late):
        wire.receive(ends[0], time.monotonic() - 1)


@pytest.mark.parametrize("error", [wire.Closed, wire.Late])
def test_every_fault_is_a_wire_error(error: type) -> None:
    """Who does not care what went wrong catches WireError."""
    assert issubclass(error, wire.WireError)


@pytest.mark.parametrize(
    ("shape", "wide"),
    [
        ((), False),
        ((0,), False),
        ((2**24,), False),
        ((0, 2**24), False),
        ((2**24 + 1,), True),
        ((2**62, 0), True),
        ((2**31, 0, 2**30), True),
    ],
)
def test_axes_are_bounded_even_where_an_array_is_empty(shape: tuple, wide: bool) -> None:
    """An axis that no payload could fill is too wide, whatever the other axes are."""
    assert wire.too_wide(shape) == wide
