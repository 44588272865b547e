"""Prints 50 MB in one go."""


def plus_one(number):
    if number == 13:
        print("x" * 50_000_000)
    return number + 1
