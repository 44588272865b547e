"""Takes memory a little at a time, up to 8 GiB."""


def plus_one(number):
    if number == 13:
        kept = []
        for _ in range(8 << 10):
            kept.append(bytes(1 << 20))
    return number + 1
