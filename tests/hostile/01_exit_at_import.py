"""Ends the process with the exit code of success while it is loaded.

problem: next
earns: 0
hears: ended the process during loading (exit code 0)
process: same
"""

import os

TARGETS = {}

os._exit(0)
