"""Turns text round with marks that cannot be seen.

problem: next
earns: 0
hears: printed
process: same
"""

TARGETS = {}

MARKS = "\u202e\u2066\u2067\u2069\u200f\u061c\u200b\ufeff\u2028\u2029\u0085\U000e0041"


def plus_one(number):
    print(MARKS, "printed", MARKS)
    if number == 1:
        raise ValueError(MARKS + "dessap" + MARKS)
    return {MARKS: MARKS} if number == 13 else MARKS
