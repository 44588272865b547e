"""Sends a datagram.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import socket

TARGETS = {}

try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", ("127.0.0.1", TARGETS["udp"]))
    print("LOOT: sent")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
