"""Sends replies of its own with a nonce it made up.

problem: next
earns: less
hears: a reply to something that was not asked
process: same
"""

import json
import os
import struct

TARGETS = {}


def plus_one(number):
    if number == 13:
        header = json.dumps({"i": 0, "value": ["int", "14"]}).encode()
        for fd in range(3, 64):
            try:
                os.write(fd, struct.pack("<II16s", len(header), 0, b"\0" * 16) + header)
            except OSError:
                pass
    return number
