"""Sends bytes out of band between its answers, which a reader of the stream does not see.

problem: next
earns: any
process: same
"""

import socket
import sys

TARGETS = {}


def plus_one(number):
    caller = sys._getframe(1).f_locals
    for _ in range(3):
        try:
            caller["sock"].send(b"x", socket.MSG_OOB)
        except OSError as error:
            print("refused:", type(error).__name__)
    return number + 1
