"""Describes arrays that cannot be: negative axes, a product that overflows, rank 1000.

problem: next
earns: 0
hears: something that is not a value
process: same
"""

import json
import struct
import sys

TARGETS = {}

SHAPES = {1: [-1], 13: [2**32, 2**32, 0], 2: [1] * 1000}


def plus_one(number):
    caller = sys._getframe(1).f_locals
    spec = {"lib": "torch", "dtype": "float32", "shape": SHAPES[number], "device": "cpu"}
    spec |= {"strides": SHAPES[number], "grad": False, "writeable": True, "inference": False}
    header = json.dumps({"i": 0, "value": ["array", spec | {"at": [0, 8]}]}).encode()
    caller["sock"].sendall(
        struct.pack("<II16s", len(header), 8, caller["nonce"]) + header + b"\0" * 8
    )
    return number + 1
