"""Says everything in codes that move cursors, set titles, hide text and ring bells.

problem: next
earns: 0
hears: Evil
process: same
"""

TARGETS = {}

CODES = "\x1b[2J\x1b[H\x1b]0;owned\x07\x1b]8;;http://x\x1b\\\x9b31m\x90q\x9c\x08\x08\r\x0b\x0c\x1bc"


class Evil(Exception):
    pass


Evil.__name__ = Evil.__qualname__ = "Evil" + CODES


def plus_one(number):
    print(CODES, "printed", CODES)
    if number == 1:
        raise Evil(CODES)
    return Evil(CODES) if number == 13 else CODES
