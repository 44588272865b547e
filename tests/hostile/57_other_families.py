"""Makes sockets of the families nobody thinks of: netlink, packet, vsock, crypto, raw.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import socket

TARGETS = {}

for family, kind in ((16, 3), (17, 3), (40, 1), (38, 5), (2, 3), (10, 1), (29, 3), (1, 2)):
    try:
        socket.socket(family, kind)
        print("LOOT: made a socket of family", family)
    except OSError as error:
        print("refused:", type(error).__name__, error.errno)


def plus_one(number):
    return number + 1
