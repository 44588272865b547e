"""Prints letters of three bytes each, more than is kept."""


def plus_one(number):
    if number == 13:
        for _ in range(1000):
            print("…" * 33)
    return number + 1
