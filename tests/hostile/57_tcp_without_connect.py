"""Sends its first bytes without asking for a connection, by TCP's fast open and by MPTCP.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import socket

TARGETS = {}

for protocol in (0, 262):
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as made:
            made.settimeout(2)
            made.sendto(b"hello", 0x20000000, ("127.0.0.1", TARGETS["tcp"]))
            print("LOOT: sent")
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
