"""Sends a reply that is nested 300,000 deep.

problem: next
earns: less
hears: something that is not a value
process: same
"""

import struct
import sys

TARGETS = {}


def plus_one(number):
    if number == 13:
        caller = sys._getframe(1).f_locals
        header = b'{"i":0,"value":' + b"[" * 300_000 + b"]" * 300_000 + b"}"
        caller["sock"].sendall(struct.pack("<II16s", len(header), 0, caller["nonce"]) + header)
    return number + 1
