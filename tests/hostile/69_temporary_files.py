"""Makes temporary files and folders, wherever the library finds room for them.

problem: next
earns: all
hears: refused
process: loot
"""

import os
import tempfile

TARGETS = {}

try:
    with tempfile.TemporaryFile() as file:
        file.write(b"x")
    print("LOOT: made a temporary file")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
