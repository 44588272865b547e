"""Changes mode, owner, times and attributes of a file: Landlock alone stops none of these.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os

TARGETS = {}

path = os.path.join(TARGETS["folder"], "kept.txt")
for change in (
    lambda: os.chmod(path, 0o777),
    lambda: os.chown(path, os.getuid(), os.getgid()),
    lambda: os.utime(path, (1, 1)),
    lambda: os.setxattr(path, "user.mark", b"here"),
):
    try:
        change()
        print("LOOT: changed a file's status")
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
