"""Queues answers while it is loaded, for questions that are yet to come.

problem: next
earns: 0
hears: a reply to something that was not asked
process: same
"""

import json
import struct
import sys

TARGETS = {}

frame = sys._getframe(1)
while "nonce" not in frame.f_locals:
    frame = frame.f_back
for reply in ({"loaded": True}, {"i": 0, "value": ["int", "2"]}, {"i": 0, "value": ["int", "14"]}):
    header = json.dumps(reply).encode()
    packed = struct.pack("<II16s", len(header), 0, frame.f_locals["nonce"]) + header
    frame.f_locals["sock"].sendall(packed)


def plus_one(number):
    return 0
