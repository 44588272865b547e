"""Ends the process, while it is loaded, with the code of a worker that could not lock itself.

problem: next
earns: 0
hears: ended the process during loading (exit code 73)
process: same
"""

import os

TARGETS = {}

os._exit(73)
