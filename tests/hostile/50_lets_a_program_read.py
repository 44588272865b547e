"""Lets another program read the file.

problem: next
earns: all
hears: refused
process: loot as root
"""

import os
import subprocess

TARGETS = {}

for ask in (
    lambda: subprocess.run(["/bin/cat", TARGETS["secret"]], capture_output=True).stdout,
    lambda: os.popen("cat " + TARGETS["secret"]).read(),
):
    try:
        print("LOOT:", ask())
    except (OSError, RuntimeError) as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
