"""Reads one file in every way that Python has: io, os, mmap, linecache, tokenize, sources.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import importlib.machinery
import linecache
import os
import pathlib
import tokenize

TARGETS = {}

path = TARGETS["secret"]
for read in (
    lambda: open(path, "rb").read(),
    lambda: os.read(os.open(path, os.O_RDONLY), 100),
    lambda: pathlib.Path(path).read_text(),
    lambda: tokenize.open(path).read(),
    lambda: importlib.machinery.SourceFileLoader("secret", path).get_data(path),
    lambda: linecache.getlines(path)[0],
):
    try:
        print("LOOT:", read())
    except (OSError, IndexError, SyntaxError) as error:
        print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
