"""What one command costs, from the start to the end of its process.

    python tests/bench/cold.py [--runs 7] [--slug verify] [--file FILE]

For every problem `grade run FILE --json OUT` is compared with

- a process that does nothing but `import torch`, which any grading of PyTorch code has to pay;
- ordinary `pytest --json-report` over the same checks, with the submission imported by pytest
  itself (see ordinary.py): no process apart, no limits, and no checks of an accelerator;

with the hidden checks, where this kit has them, and without. The commands that need no PyTorch are
compared with a process that imports click. A ratio below 1 means that the grader is quicker.

Everything runs once before it is measured, so that compiled files are there and the reference has
been proved. Wall time is what the goals are about. A grading uses two cores while PyTorch is
imported, so on a machine with other work its wall time suffers more than that of a bare import.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from measuring import (
    PYTHON,
    Goal,
    in_turn,
    ordinary,
    process,
    ratio,
    run_bench,
    slugs,
    solution,
    surroundings,
    table,
)

GRADE = (PYTHON, "-m", "grader")
OF_TORCH = Goal(must=1.00, aim=0.80)
OF_ORDINARY = Goal(must=0.70, aim=0.60)
OF_CLICK = Goal(must=2.0, aim=2.0)


def gradings(
    slug: str, file: Path, folder: Path, runs: int, environment: Mapping[str, str]
) -> None:
    """Prints the ratios of whole gradings of one file."""
    run = partial(process, environment=environment, good=(0, 1))
    graded = (*GRADE, "run", str(file), "--problem", slug, "--json", str(folder / "score.json"))
    both = partial(ordinary, slug, file, folder / "ordinary.json")
    costs = in_turn(
        runs,
        {
            "import torch": partial(run, (PYTHON, "-c", "import torch")),
            "grade run": partial(run, graded),
            "grade run --no-hidden": partial(run, (*graded, "--no-hidden")),
            "pytest": partial(run, both(hidden=True)),
            "pytest, public checks": partial(run, both(hidden=False)),
        },
    )
    print(f"\n{slug}, {file.name}, {runs} runs")
    table(costs)
    for name in ("grade run", "grade run --no-hidden"):
        ratio(f"{name} ÷ import torch", costs[name], costs["import torch"], OF_TORCH)
    for name, other in (
        ("grade run", "pytest"),
        ("grade run --no-hidden", "pytest, public checks"),
    ):
        ratio(f"{name} ÷ {other}", costs[name], costs[other], OF_ORDINARY)


def light(slug: str, runs: int, environment: Mapping[str, str]) -> None:
    """Prints the ratios of the commands that need no PyTorch."""
    run = partial(process, environment=environment)
    commands = [("--help",), ("list",), ("show", slug), ("hint", slug)]
    costs = in_turn(
        runs,
        {
            "import click": partial(run, (PYTHON, "-c", "import click")),
            **{f"grade {' '.join(words)}": partial(run, (*GRADE, *words)) for words in commands},
        },
    )
    print(f"\nlight commands, {runs} runs")
    table(costs)
    for name in list(costs)[1:]:
        ratio(f"{name} ÷ import click", costs[name], costs["import click"], OF_CLICK)


def main() -> None:
    """Measures what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=7, metavar="N", help="rounds (default: 7)")
    parser.add_argument("--slug", help="measure this problem only")
    parser.add_argument("--file", type=Path, help="a submission (default: the reference)")
    parser.add_argument("--light", action="store_true", help="measure the light commands only")
    options = parser.parse_args()
    with surroundings() as environment, tempfile.TemporaryDirectory() as name:
        found = slugs(options.slug)
        if not options.light:
            for slug in found:
                file = options.file.resolve() if options.file else solution(slug)
                gradings(slug, file, Path(name), options.runs, environment)
        light(found[0], options.runs, environment)


if __name__ == "__main__":
    run_bench(main)
