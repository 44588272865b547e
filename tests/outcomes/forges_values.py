"""Finds the code that writes answers in its own process and lets it write an illegal one."""

import sys


def plus_one(number):
    if number == 13:
        encoder = sys._getframe(1).f_globals["Encoder"]
        encoder.value = lambda self, value, depth=0: '["int", "0x0e"]'
    return number + 1
