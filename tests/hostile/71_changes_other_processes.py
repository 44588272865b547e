"""Changes limits, priority and processors of another process.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

import os
import resource

TARGETS = {}

pid = TARGETS["pid"]
for change in (
    lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, 64)),
    lambda: os.setpriority(os.PRIO_PROCESS, pid, 5),
    lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0)),
    lambda: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)),
):
    try:
        change()
        print("LOOT: changed it")
    except OSError as error:
        print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
