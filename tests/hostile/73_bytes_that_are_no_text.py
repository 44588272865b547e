"""Prints bytes that are no text: NUL, broken UTF-8, halves of characters.

problem: next
earns: all
hears: printed
process: same
"""

import os

TARGETS = {}

os.write(1, b"\x00\x00printed\xff\xfe\xc3\x28\xe2\x82\xf0\x9f\xed\xa0\x80\x00\x1b")


def plus_one(number):
    return number + 1
