"""Prints more than is kept, and less than is too much."""


def plus_one(number):
    if number == 13:
        print("first")
        print("x" * (1 << 16))
    return number + 1
