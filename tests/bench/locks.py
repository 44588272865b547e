"""What the locks cost: a worker with them ÷ a worker without, started in turn.

    python tests/bench/locks.py [--lives 200] [--slug verify]

A worker is ready once it is forked, has put its locks on, and has loaded the submission; a life
goes on to one call and the end of the process. `unlocked` has a process of its own and the memory
limit alone. A row is one set of locks, a figure the median of many lives in turn, in ms; the
ratio is to the row `unlocked`, of medians, and of minima in brackets.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import replace
from typing import Any

from measuring import ROOT, Goal, progress, run_bench, slugs, solution

READY = Goal(must=1.35, aim=1.15)


def life(launcher: Any, exercise: Any, source: bytes) -> tuple[float, float]:
    """The seconds until a worker is ready, and those of its whole life."""
    from grader.submission import Submission

    submission = Submission(
        launcher, source, [exercise.entry], exercise.parameters, exercise.limits
    )
    arguments = exercise.decoded_examples("torch")[0].args
    began = time.perf_counter()
    submission.load_or_raise()
    ready = time.perf_counter() - began
    submission(*arguments)
    submission.close()
    return ready, time.perf_counter() - began


def main() -> None:
    """Measures every set of locks this machine has."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lives", type=int, default=200, metavar="N", help="of each kind")
    parser.add_argument("--slug", help="measure this problem only")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))

    from grader import isolation, kit, problem
    from grader.worker.locks import Locks
    from grader.workers import Forked

    best = isolation.offered()
    bare = replace(best, landlock=False, seccomp=False, no_open=False)
    kinds = {
        "unlocked": Locks(limits=False, dumpable=True),
        "limits and privileges": bare,
        "+ Landlock": replace(bare, landlock=best.landlock),
        "+ seccomp": replace(bare, seccomp=best.seccomp),
        "everything": best,
    }
    launchers = {name: Forked(locks) for name, locks in kinds.items()}
    for slug in slugs(options.slug):
        exercise = problem.load(kit.find(ROOT), slug)
        source = solution(slug).read_bytes()
        found = defaultdict(list)
        for number in range(options.lives + 3):
            progress(f"life {number} of {options.lives}")
            for name, launcher in launchers.items():
                seconds = life(launcher, exercise, source)
                if number >= 3:
                    found[name].append(seconds)
        progress("")
        print(f"\n{slug}, ms{'':<22}ready   ÷ unlocked{'':>9}whole life   ÷ unlocked")
        for name, lives in found.items():
            cells = []
            for which in (0, 1):
                own = [each[which] for each in lives]
                base = [each[which] for each in found["unlocked"]]
                median = statistics.median(own) / statistics.median(base)
                least = min(own) / min(base)
                cells.append(f"{statistics.median(own) * 1e3:8.2f}   {median:.2f} ({least:.2f})")
                if which == 0 and name == "everything":
                    ready = median
            print(f"{name:<30}" + "      ".join(cells))
        print(f"everything, ready: {READY.verdict(ready)}")
    for launcher in launchers.values():
        launcher.close()


if __name__ == "__main__":
    run_bench(main)
