"""Claims an array of more axes and bytes than it sends."""

import json
import sys

CLAIM = {
    "lib": "torch", "dtype": "float32", "shape": [2**40, 2**40, 0], "device": "cpu",
    "strides": [1, 1, 1], "grad": False, "writeable": True, "inference": False, "at": [0, 0],
}  # fmt: skip


def plus_one(number):
    if number == 13:
        encoder = sys._getframe(1).f_globals["Encoder"]
        encoder.value = lambda self, value, depth=0: json.dumps(["array", CLAIM])
    return number + 1
