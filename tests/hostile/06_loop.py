"""Never returns from one call.

problem: next
earns: less
hears: took longer than
"""

TARGETS = {}


def plus_one(number):
    while number == 13:
        pass
    return number + 1
