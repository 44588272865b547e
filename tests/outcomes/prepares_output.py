"""Prepares its output for printing, as files for a console do."""

import sys

sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)
sys.stderr.reconfigure(errors="replace")


def plus_one(number):
    print("α", number, flush=True)
    return number + 1
