"""Connects to a socket that has a name and no file.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import socket

TARGETS = {}

try:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.connect("\0" + TARGETS["abstract"])
    made.sendall(b"hello")
    print("LOOT: connected")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
