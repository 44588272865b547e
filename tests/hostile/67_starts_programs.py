"""Starts other programs in every way that Python has.

problem: next
earns: all
hears: refused: PermissionError
process: loot as root
"""

import multiprocessing
import os
import pty
import subprocess

TARGETS = {}

for start in (
    lambda: os.posix_spawn("/bin/true", ["true"], {}),
    lambda: subprocess.run(["/bin/true"]),
    lambda: multiprocessing.get_context("fork").Process(target=int).start(),
    lambda: os.waitpid(pty.fork()[0] or os._exit(0), 0),
):
    try:
        start()
        print("LOOT: started a program")
    except (OSError, RuntimeError, ImportError) as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
