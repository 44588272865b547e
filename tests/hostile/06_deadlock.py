"""Waits for a lock that it holds itself.

problem: next
earns: less
hears: took longer than
"""

import threading

TARGETS = {}
LOCK = threading.Lock()


def plus_one(number):
    if number == 13:
        LOCK.acquire()
        LOCK.acquire()
    return number + 1
