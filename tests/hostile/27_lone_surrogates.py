"""Answers with text that no encoding can carry.

problem: next
earns: 0
hears: expected int 2, got str
process: same
"""

TARGETS = {}


def plus_one(number):
    print("\ud800 printed \udfff")
    return "\ud800" if number == 1 else ["\udfff", {"\ud800": number}]
