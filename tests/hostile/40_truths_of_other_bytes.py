"""Describes an array of truths whose bytes are neither 0 nor 1.

problem: next
earns: 0
hears: something that is not a value
process: same
"""

import json
import struct
import sys

TARGETS = {}


def plus_one(number):
    caller = sys._getframe(1).f_locals
    spec = {"lib": "torch", "dtype": "bool", "shape": [1], "device": "cpu", "strides": [1]}
    spec |= {"grad": False, "writeable": True, "inference": False, "at": [0, 1]}
    header = json.dumps({"i": 0, "value": ["array", spec]}).encode()
    caller["sock"].sendall(struct.pack("<II16s", len(header), 1, caller["nonce"]) + header + b"\2")
    return number + 1
