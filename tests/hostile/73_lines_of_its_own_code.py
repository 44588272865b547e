"""Has code of its own shown where it fails, with everything that text can do.

problem: next
earns: 0
process: same
"""

import linecache

TARGETS = {}

linecache.cache["submission.py"] = (
    1,
    None,
    ["\x1b[2J::error::owned\u202e \r\n"] * 100,
    "submission.py",
)


def plus_one(number):
    raise ValueError("see above")
