"""Runs code of its own out of a file: as a library, as a module, as a program.

problem: next
earns: all
hears: refused
process: loot
"""

import ctypes
import os
import runpy

TARGETS = {}

for run in (
    lambda: ctypes.CDLL(TARGETS["secret"]),
    lambda: runpy.run_path(TARGETS["reference"]),
    lambda: exec(compile(open(TARGETS["reference"]).read(), "reference", "exec"), {}),
):
    try:
        print("LOOT: ran", type(run()))
    except (OSError, ImportError) as error:
        print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
