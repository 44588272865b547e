"""How often the statistical check of `step` fails what is right, and how often it sees what is not.

    python tests/bench/statistical.py [--quick] [--calls 1000] [--json OUT]

A run is so many calls, judged once; the check promises that a right submission fails fewer than one
run in a billion. That is too rare to count, so the same judgement is repeated with looser promises
as well, where failures do come and can be compared with the bound:

- simulated runs: how often every answer came is drawn from the exact law, by NumPy;
- real runs: the reference in a worker, a new seed each;
- the proved bound, and the exact probability that any one of the events fails, added up.

Then every file of solutions/step/wrong is run 20 times: the share of its runs that the check, as it
stands, calls biased. A file that is never called biased changes nothing that this sample could
show, and is left to the other checks.

Leaves with 1 if right runs fail, under any of the promises, so often that the exact probability
would let it happen less than once in a million times.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from measuring import ROOT, CannotRun, progress, run_bench, solution

sys.path.insert(0, str(ROOT))

from grader import kit, problem
from grader.expect import Mismatch
from grader.problem import Limits
from grader.submission import Submission, Tally
from grader.values import array, seeded
from grader.workers import Launcher, launcher
from problems.step import cases

SLUG = "step"
PROMISES = (1e-1, 1e-2, 1e-3, 1e-6, cases.ALPHA)
CHANCE = 1e-6  # that this bench calls a right check wrong

Counts = npt.NDArray[np.int64]


class Judgement:
    """The statistical check as tables: how surprising each number of times is, for each event."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.arrays, self.events = cases.fixture()
        answers = {a for event in self.events for a in event.answers}
        single = {e: next(iter(e.answers)) for e in self.events if len(e.answers) == 1}
        self.answers = list(single.values())
        assert set(self.answers) == answers
        self.law = np.array([float(event.probability) for event in single])
        self.members = np.array([[a in e.answers for e in self.events] for a in self.answers])
        self.surprises = np.array(
            [
                [
                    cases.surprise(calls, count, float(event.probability))
                    for count in range(calls + 1)
                ]
                for event in self.events
            ]
        )

    def worst(self, counts: Counts) -> npt.NDArray[np.float64]:
        """The largest surprise of every run, whose answers came `counts` times: (runs, answers)."""
        came = counts @ self.members
        events = np.arange(len(self.events))
        worst: npt.NDArray[np.float64] = self.surprises[events, came].max(axis=1)
        return worst

    def exact(self, alpha: float) -> float:
        """The probability that an event fails though the law is right, summed over the events."""
        limit = cases.threshold(len(self.events), alpha)
        count = np.arange(self.calls + 1)
        ways = np.array([_log_ways(self.calls, int(k)) for k in count])
        return math.fsum(
            float(
                np.exp(ways + count * math.log(p) + (self.calls - count) * math.log1p(-p))[
                    over
                ].sum()
            )
            for p, over in zip(
                [float(event.probability) for event in self.events],
                self.surprises > limit,
                strict=True,
            )
        )

    def counted(self, tally: Tally) -> Counts:
        """How often each answer came; CannotRun for an answer that the law does not allow."""
        counts = np.zeros((1, len(self.answers)), dtype=np.int64)
        for value, count in zip(tally.values, tally.counts, strict=True):
            tokens, n = value
            answer = tuple(tokens.numbers().tolist()), n
            if answer not in self.answers:
                raise CannotRun(f"the reference gave {answer}, an answer of probability 0")
            counts[0, self.answers.index(answer)] += count
        return counts


@dataclass(frozen=True)
class Right:
    """What one promise is worth: failures of right runs, and what they may be."""

    promise: float
    threshold: float
    exact: float
    simulated: int
    simulated_runs: int
    real: int
    real_runs: int

    @property
    def kept(self) -> bool:
        """Whether so many failures may come, by the promise and by the exact probability."""
        p = min(self.promise, self.exact)
        found = ((self.simulated, self.simulated_runs), (self.real, self.real_runs))
        return all(_tail(runs, failed, p) > CHANCE for failed, runs in found)


@dataclass(frozen=True)
class Power:
    """What became of the runs of one wrong file."""

    file: str
    runs: int
    biased: int
    other: int
    """Runs that fail for another reason: a wrong form, or no answer at all."""
    said: str


def _log_ways(calls: int, count: int) -> float:
    return math.lgamma(calls + 1) - math.lgamma(count + 1) - math.lgamma(calls - count + 1)


def _tail(runs: int, failed: int, p: float) -> float:
    """The probability of so many failures or more in independent runs that fail with p each."""
    if failed <= runs * p:
        return 1.0  # as good as: about one half or more
    return math.fsum(
        math.exp(_log_ways(runs, k) + k * math.log(p) + (runs - k) * math.log1p(-p))
        for k in range(failed, runs + 1)
    )


def simulated(judgement: Judgement, runs: int, seed: int) -> npt.NDArray[np.float64]:
    """The largest surprises of runs drawn from the exact law, some of them judged twice.

    The first ones are also given to the check itself, which has to say the same as the tables.
    """
    drawn = np.random.default_rng(seed).multinomial(judgement.calls, judgement.law, size=runs)
    limit = cases.threshold(len(judgement.events))
    worst = judgement.worst(drawn)
    values = [(array(list(tokens), "int64"), n) for tokens, n in judgement.answers]
    for counts, surprise in zip(drawn[:200].tolist(), worst[:200], strict=True):
        found = cases.bias(judgement.events, values, counts)
        if (found is not None) != (surprise > limit):
            raise CannotRun(f"the check and its tables differ on {counts}")
    return worst


@contextmanager
def opened(started: Launcher, file: Path) -> Iterator[Submission]:
    """A submission with time for all its runs."""
    exercise = problem.load(kit.find(ROOT), SLUG)
    limits = Limits(load=60, call=60, submission=3600, memory=exercise.limits.memory)
    submission = Submission(
        started, file.read_bytes(), [exercise.entry], exercise.parameters, limits
    )
    try:
        yield submission
    finally:
        submission.close()


def real(started: Launcher, judgement: Judgement, runs: int) -> npt.NDArray[np.float64]:
    """The largest surprises of real runs of the reference."""
    worst = []
    with opened(started, solution(SLUG)) as submission:
        for run in range(runs):
            progress(f"the reference: run {run + 1} of {runs}")
            tally = submission.repeat(judgement.calls, *judgement.arrays, seeded(_seed(run)))
            worst.append(judgement.worst(judgement.counted(tally))[0])
    progress("")
    return np.array(worst)


def power(started: Launcher, judgement: Judgement, file: Path, runs: int) -> Power:
    """What the check says of the runs of a wrong file."""
    biased, other, said = 0, 0, ""
    with opened(started, file) as submission:
        for run in range(runs):
            try:
                tally = submission.repeat(judgement.calls, *judgement.arrays, seeded(_seed(run)))
                found = cases.bias(judgement.events, tally.values, tally.counts)
            except Mismatch as failed:
                found = failed
            if found is not None:
                biased += found.wrong
                other += not found.wrong
                said = found.message.splitlines()[-1]
    return Power(file.stem, runs, biased, other, said)


def _seed(run: int) -> int:
    return (2_654_435_761 * (run + 1)) % 2**32


def show_right(found: Sequence[Right], calls: int) -> None:
    """Prints what the promises are worth."""
    print(f"right runs of {calls} calls that fail, by what is promised")
    runs = f"of {found[0].simulated_runs} simulated", f"of {found[0].real_runs} real"
    print(f"{'promise':>9} {'threshold':>9} {'exact':>9} {runs[0]:>22} {runs[1]:>14}")
    for each in found:
        print(
            f"{each.promise:9.0e} {each.threshold:9.2f} {each.exact:9.2e}"
            f" {each.simulated:10d} = {each.simulated / each.simulated_runs:9.2e}"
            f" {each.real:14d}" + ("" if each.kept else "  TOO MANY")
        )


def show_power(found: Sequence[Power]) -> None:
    """Prints the shares of the files that are seen, and the names of those that are not."""
    seen = sorted(
        (each for each in found if each.biased), key=lambda each: (each.biased, each.file)
    )
    form = [each.file for each in found if not each.biased and each.other]
    unseen = [each.file for each in found if not each.biased and not each.other]
    always = [each.file for each in seen if each.biased == each.runs]
    print(f"\ncalled biased in every run: {len(always)} of {len(found)} files")
    print(_wrapped(always))
    print(f"called biased in some runs: {len(seen) - len(always)}")
    for each in seen:
        if each.biased < each.runs:
            print(f"  {each.biased:3d} of {each.runs:3d}  {each.file}")
    print(f"failed for their form alone, or without an answer: {len(form)}")
    print(_wrapped(form))
    print(f"not seen by a sample, left to the other checks: {len(unseen)}")
    print(_wrapped(unseen))


def _wrapped(names: Sequence[str]) -> str:
    return textwrap.fill(", ".join(names) or "-", 100, initial_indent="  ", subsequent_indent="  ")


def main() -> None:
    """Counts failures of right runs and of wrong ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a hundredth of the real runs, 3 a file"
    )
    parser.add_argument(
        "--calls", type=int, default=cases.CALLS, metavar="N", help="calls of a run"
    )
    parser.add_argument("--simulated", type=int, metavar="N", help="runs (default: 200,000)")
    parser.add_argument("--real", type=int, metavar="N", help="runs (default: 1,000; quick: 30)")
    parser.add_argument("--runs", type=int, metavar="N", help="of each wrong file (20; quick: 3)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all figures there, too")
    options = parser.parse_args()
    simulated_runs = options.simulated or 200_000
    real_runs = options.real or (30 if options.quick else 1000)
    runs = options.runs or (3 if options.quick else 20)

    judgement = Judgement(options.calls)
    drawn = simulated(judgement, simulated_runs, seed=1)
    started = launcher("auto")
    try:
        measured = real(started, judgement, real_runs)
        right = [
            Right(
                promise=alpha,
                threshold=(limit := cases.threshold(len(judgement.events), alpha)),
                exact=judgement.exact(alpha),
                simulated=int((drawn > limit).sum()),
                simulated_runs=simulated_runs,
                real=int((measured > limit).sum()),
                real_runs=real_runs,
            )
            for alpha in PROMISES
        ]
        show_right(right, options.calls)
        wrong = []
        for file in sorted(solution(SLUG).parent.glob("wrong/*.py")):
            progress(f"{file.stem}: {runs} runs")
            wrong.append(power(started, judgement, file, runs))
        progress("")
    finally:
        started.close()
    show_power(wrong)
    if options.json:
        figures: dict[str, Any] = {
            "calls": options.calls,
            "events": len(judgement.events),
            "versions": started.versions(),
            "right": [{**asdict(each), "kept": each.kept} for each in right],
            "wrong": [asdict(each) for each in wrong],
        }
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if not all(each.kept for each in right):
        raise CannotRun("right runs fail more often than the check promises")


if __name__ == "__main__":
    run_bench(main)
