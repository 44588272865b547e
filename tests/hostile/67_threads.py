"""Starts threads that go on after the answer.

problem: next
earns: all
hears: refused: RuntimeError
process: loot as root
"""

import threading
import time

TARGETS = {}

for _ in range(3):
    try:
        threading.Thread(target=time.sleep, args=(10,), daemon=True).start()
        print("LOOT: started a thread")
    except RuntimeError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
