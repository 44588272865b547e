"""Prints 1 GiB."""


def plus_one(number):
    if number == 13:
        for _ in range(1 << 14):
            print("x" * (1 << 16))
    return number + 1
