"""Looks for what earlier work left behind: git, pytest's cache, shells, mail, keys.

problem: next
earns: all
hears: refused
process: may loot
"""

import os

TARGETS = {}

root = os.path.dirname(os.path.dirname(os.path.dirname(TARGETS["reference"])))
for path in (
    f"{root}/.git/HEAD",
    f"{root}/.git/config",
    f"{root}/.pytest_cache/README.md",
    "/root/.bash_history",
    "/etc/passwd",
    "/etc/shadow",
    "/var/log/dpkg.log",
):
    try:
        print("LOOT:", path, open(path, errors="replace").read(20))
    except OSError as error:
        print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
