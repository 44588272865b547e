"""Sends a reply with a key twice, NaN, and a number of a million digits.

problem: next
earns: 0
hears: something that is not a value
process: same
"""

import struct
import sys

TARGETS = {}

HEADERS = {
    1: b'{"i":0,"i":0,"value":["int","2"]}',
    13: b'{"i":0,"value":["int","14"],"x":NaN}',
    2: b'{"i":' + b"9" * 1_000_000 + b"}",
}


def plus_one(number):
    caller = sys._getframe(1).f_locals
    header = HEADERS[number]
    caller["sock"].sendall(struct.pack("<II16s", len(header), 0, caller["nonce"]) + header)
    return number + 1
