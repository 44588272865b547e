"""Announces a reply and never finishes it.

problem: next
earns: less
hears: took longer than
"""

import struct
import sys
import time

TARGETS = {}


def plus_one(number):
    if number == 13:
        caller = sys._getframe(1).f_locals
        caller["sock"].sendall(struct.pack("<II16s", 1000, 0, caller["nonce"]) + b'{"i":0')
        time.sleep(15)
    return number + 1
