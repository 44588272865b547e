"""Catches whatever could end its loop, and goes on.

problem: next
earns: less
hears: took longer than
"""

TARGETS = {}


def plus_one(number):
    while number == 13:
        try:
            while True:
                pass
        except BaseException:
            continue
    return number + 1
