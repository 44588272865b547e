"""Makes another process the owner of its socket by the calls that are not F_SETOWN.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import fcntl
import struct
import sys

TARGETS = {}

frame = sys._getframe(1)
while "sock" not in frame.f_locals:
    frame = frame.f_back
fd = frame.f_locals["sock"].fileno()
pid = TARGETS["pid"]
for own in (
    lambda: fcntl.fcntl(fd, 15, struct.pack("ii", 1, pid)),
    lambda: fcntl.ioctl(fd, 0x8901, struct.pack("i", pid)),
    lambda: fcntl.ioctl(fd, 0x8902, struct.pack("i", pid)),
    lambda: fcntl.ioctl(fd, 0x5452, struct.pack("i", 0)),
    lambda: fcntl.fcntl(1, 1024, 1),
    lambda: fcntl.fcntl(1, 1026, 2),
):
    try:
        own()
        print("LOOT: owned")
    except OSError as error:
        print("refused:", type(error).__name__, error.errno)


def plus_one(number):
    return number + 1
