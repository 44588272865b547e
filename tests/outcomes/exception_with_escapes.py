"""Raises an exception that would colour the screen and turn its text round."""


def plus_one(number):
    if number == 13:
        raise ValueError("\x1b[31mred\x1b[0m \u202eback\x00\nsecond line")
    return number + 1
