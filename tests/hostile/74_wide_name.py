"""Defines the function in letters that Python itself reads as the usual ones.

problem: next
earns: all
process: same
"""

TARGETS = {}


def ｐｌｕｓ_ｏｎｅ(number):
    return number + 1
