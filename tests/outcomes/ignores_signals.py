"""Waits for a minute, deaf to every signal that can be ignored."""

import signal
import time


def plus_one(number):
    if number == 13:
        for name in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(name, signal.SIG_IGN)
        time.sleep(60)
    return number + 1
