"""Waits for others to connect to it.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import socket

TARGETS = {}

try:
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen()
    print("LOOT: listens")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
