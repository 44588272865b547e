"""Pretends that somebody pressed Ctrl-C."""


def plus_one(number):
    if number == 13:
        raise KeyboardInterrupt
    return number + 1
