"""Connects to a server on this machine.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import socket
import urllib.request

TARGETS = {}

try:
    socket.create_connection(("127.0.0.1", TARGETS["tcp"]), 2).sendall(b"hello")
    print("LOOT: connected")
except OSError as error:
    print("refused:", type(error).__name__, error)
try:
    urllib.request.urlopen(f"http://127.0.0.1:{TARGETS['tcp']}/", timeout=0.1)
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
