"""What the life of one worker costs, stage by stage, in milliseconds and page faults.

    python tests/bench/life.py [--lives 30] [--slug verify] [--fresh-lives 3]

A worker is started, loads a submission, is called and is killed. A row is one kind of worker:
forked, forked with the simulated accelerator, and a fresh interpreter. Columns: start and load
together; the first call; a later call, one message each; a call of a message of 200; the kill, up
to the end of the process; then CPU time and page faults (minor) of a whole life, of the worker and
of what forked it. Medians, except for the last two, which are means.

The last column is the whole life ÷ a process that runs `python -c pass`: milliseconds depend on the
machine, this hardly does. The call is the first example of the problem.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections import defaultdict
from typing import Any

from measuring import (
    PYTHON,
    ROOT,
    process,
    progress,
    run_bench,
    slugs,
    solution,
    surroundings,
    tree_cpu,
    tree_faults,
)

LATER, BATCH = 20, 200
STAGES = ("start+load", "first call", "later call", "in a batch", "kill")


def life(started: Any, slug: str, accelerator: str) -> dict[str, float]:
    """One life: the seconds of every stage, of one call where there are several."""
    from grader import kit, problem
    from grader.expect import exactly
    from grader.submission import Case, Submission

    exercise = problem.load(kit.find(ROOT), slug)
    source = solution(slug).read_bytes()
    arguments = exercise.decoded_examples("torch")[0].args
    cases = [Case(arguments, exactly(None))] * BATCH
    submission = Submission(
        started,
        source,
        [exercise.entry],
        exercise.parameters,
        exercise.limits,
        accelerator=accelerator,
    )
    times = [time.perf_counter()]
    submission.load_or_raise()
    times.append(time.perf_counter())
    submission(*arguments)
    times.append(time.perf_counter())
    for _ in range(LATER):
        submission(*arguments)
    times.append(time.perf_counter())
    submission.outcomes(cases)
    times.append(time.perf_counter())
    submission.close()
    times.append(time.perf_counter())
    spans = [b - a for a, b in itertools.pairwise(times)]
    stages = dict(zip(STAGES, spans, strict=True))
    stages["later call"] /= LATER
    stages["in a batch"] /= BATCH
    stages["whole"] = sum(spans)
    return stages


def lives(started: Any, slug: str, accelerator: str, count: int) -> dict[str, float]:
    """The median of every stage over several lives, and the mean CPU time and page faults."""
    found = defaultdict(list)
    life(started, slug, accelerator)
    cpu, faults = tree_cpu(), tree_faults()
    for number in range(count):
        progress(f"life {number + 1} of {count}")
        for stage, seconds in life(started, slug, accelerator).items():
            found[stage].append(seconds * 1e3)
    result = {stage: statistics.median(each) for stage, each in found.items()}
    result["least"] = min(found["whole"])
    result["CPU"] = (tree_cpu() - cpu) * 1e3 / count
    result["faults"] = (tree_faults() - faults) / count
    return result


def main() -> None:
    """Measures every kind of worker."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lives", type=int, default=30, metavar="N", help="of forked workers")
    parser.add_argument("--fresh-lives", type=int, default=3, metavar="N", help="of fresh ones")
    parser.add_argument("--slug", help="measure this problem only")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))

    from grader.submission import NotRun
    from grader.workers import launcher

    with surroundings() as environment:
        bare = [process((PYTHON, "-c", "pass"), environment).wall * 1e3 for _ in range(10)]
    yardstick = statistics.median(bare)
    forked, fresh = launcher("fork"), launcher("fresh")
    kinds = [
        ("forked", forked, "", options.lives),
        ("forked, simulated accelerator", forked, "sim", options.lives),
        ("fresh interpreter", fresh, "", options.fresh_lives),
    ]
    columns = (*STAGES, "whole", "least", "CPU", "faults")
    for slug in slugs(options.slug):
        print(f"\n{slug}, ms; python -c pass takes {yardstick:.1f}")
        print(f"{'':<30}" + "".join(f"{name:>11}" for name in (*columns, "÷ pass")))
        for name, started, accelerator, count in kinds:
            try:
                found = lives(started, slug, accelerator, count)
            except NotRun as error:
                print(f"{name:<30} not here: {error}")
                continue
            progress("")
            figures = [
                f"{found[c]:11.0f}" if c == "faults" else f"{found[c]:11.2f}" for c in columns
            ]
            print(f"{name:<30}" + "".join(figures) + f"{found['whole'] / yardstick:11.2f}")
    forked.close()
    fresh.close()


if __name__ == "__main__":
    run_bench(main)
