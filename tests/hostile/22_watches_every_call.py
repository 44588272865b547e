"""Watches all calls, by profiling, tracing and auditing, for values it should not see.

problem: next
earns: all
process: same
"""

import sys
import threading

TARGETS = {}

TELLING = ("solutions", "hidden", "expects", "checks.py")


def audit(event, arguments):
    if event == "open" and any(word in str(arguments[0]) for word in TELLING):
        print("LOOT: saw a file opened")


def watch(frame, event, argument):
    if any(word in frame.f_locals for word in TELLING):
        print("LOOT: saw a local")


sys.addaudithook(audit)
sys.setprofile(watch)
sys.settrace(watch)
threading.setprofile(watch)


def plus_one(number):
    return number + 1
