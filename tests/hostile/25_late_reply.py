"""Starts a thread that sends one more reply while the next question is on its way.

problem: next
earns: all
hears: refused: RuntimeError
process: may loot | earns any
"""

import json
import struct
import sys
import threading
import time

TARGETS = {}


def later(sock, nonce):
    header = json.dumps({"i": 0, "value": ["int", "14"]}).encode()
    for _ in range(50):
        time.sleep(0.002)
        sock.sendall(struct.pack("<II16s", len(header), 0, nonce) + header)


def plus_one(number):
    caller = sys._getframe(1).f_locals
    try:
        threading.Thread(target=later, args=(caller["sock"], caller["nonce"]), daemon=True).start()
    except RuntimeError as error:
        print("refused:", type(error).__name__)
    time.sleep(0.01)
    return number + 1
