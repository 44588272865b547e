"""What a statistical check costs: 20,000 calls in a worker ÷ the same calls in one process.

    python tests/bench/repeat.py [--times 20000] [--runs 5]

`submission.repeat` sends one message, and a worker makes every call with fresh copies of the
arguments and reports which of the distinct answers it gave. Compared with it is a process that
calls the same function with the same arguments, copies nothing and counts the answers. Both use one
thread, and neither starting nor loading is counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measuring import (
    PYTHON,
    ROOT,
    CannotRun,
    Cost,
    Goal,
    in_turn,
    measured,
    ratio,
    run_bench,
    solution,
    surroundings,
    table,
)

GOAL = Goal(must=3.0, aim=1.5)
SLUG = "step"


def in_a_worker(started: Any, source: bytes, times: int) -> Cost:
    """The calls through `submission.repeat`, with a submission that is loaded already."""
    from grader import kit, problem
    from grader.problem import Limits
    from grader.submission import Submission
    from problems.step import cases

    exercise = problem.load(kit.find(ROOT), SLUG)
    limits = Limits(load=60, call=60, submission=600, memory=exercise.limits.memory)
    submission = Submission(started, source, [exercise.entry], exercise.parameters, limits)
    rows, _ = cases.fixture()
    submission.repeat(250, *rows, cases.FIXTURE_GENERATOR)
    with measured() as found:
        tally = submission.repeat(times, *rows, cases.FIXTURE_GENERATOR)
    submission.close()
    if sum(tally.counts) != times:
        raise CannotRun(f"{sum(tally.counts)} of {times} answers came")
    return found[0]


def in_one_process(file: Path) -> None:
    """Serves the calls from a process of its own: a line with a number in, a line of costs out."""
    import torch

    from problems.step import cases

    torch.set_num_threads(1)
    spec = importlib.util.spec_from_file_location("submission", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = module.speculative_decode_step
    rows, _ = cases.fixture()
    inputs = [torch.tensor(a.numbers().tolist(), dtype=getattr(torch, a.dtype)) for a in rows]
    for line in sys.stdin:
        generator = torch.Generator().manual_seed(cases.FIXTURE_GENERATOR.seed)
        counts: Counter[Any] = Counter()
        began, cpu = time.perf_counter(), time.process_time()
        for _ in range(int(line)):
            tokens, n = function(*inputs, generator)
            counts[tuple(tokens.tolist()), n] += 1
        print(time.perf_counter() - began, time.process_time() - cpu, flush=True)


def main() -> None:
    """Measures both in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=20_000, metavar="N", help="calls")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="rounds (default: 5)")
    parser.add_argument("--file", type=Path, help="a submission (default: the reference)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    file = options.file.resolve() if options.file else solution(SLUG)
    if options.inside:
        in_one_process(file)
        return

    from grader.workers import launcher

    command = [PYTHON, __file__, "--inside", "--file", str(file)]
    started = launcher("auto")
    with (
        surroundings() as environment,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        ) as other,
    ):
        assert other.stdin is not None
        assert other.stdout is not None
        asked, answers = other.stdin, other.stdout

        def inside() -> Cost:
            print(options.times, file=asked, flush=True)
            line = answers.readline().split()
            if len(line) != 2:
                raise CannotRun("the process that makes the calls itself ended")
            return Cost(*map(float, line))

        worker = partial(in_a_worker, started, file.read_bytes(), options.times)
        costs = in_turn(options.runs, {"one process": inside, "submission.repeat": worker})
        asked.close()
    started.close()
    print(f"{options.times} calls of {SLUG}, {options.runs} runs")
    table(costs)
    ratio(
        "submission.repeat ÷ one process",
        costs["submission.repeat"],
        costs["one process"],
        GOAL,
    )


if __name__ == "__main__":
    run_bench(main)
