"""Leaves with SystemExit while it is loaded, as a test runner does after its last test.

problem: next
earns: 0
hears: ended the program itself (SystemExit: 0)
process: same
"""

TARGETS = {}

raise SystemExit(0)
