"""`grade batch`, `report` and `diff`: the commands of whoever grades a class.

Loaded when asked for: none of it may slow a learner's command down.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

_PATH = click.Path(path_type=Path)
DONE, CHANGED, FAULTS, STOPPED = 0, 1, 3, 130

_CODES = """\b
Exit codes:
  0  every file that could be read was graded      2  the request is at fault
  3  the kit or the grader is broken      130  stopped by Ctrl-C"""


@click.command("batch", epilog=_CODES)
@click.argument("place", metavar="CLASS", type=_PATH)
@click.option("--out", type=_PATH, required=True, metavar="RESULTS", help="Folder to write to.")
@click.option("--problem", metavar="SLUG", help="Default: told by the files' or folders' names.")
@click.option(
    "--library",
    type=click.Choice(["auto", "torch", "numpy"]),
    default="auto",
    help="Default: told by each file's imports.",
)
@click.option("--jobs", type=click.IntRange(1), help="Gradings side by side. Default: one a core.")
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    default="local",
    help="Where to grade: on this machine, or on the workers of a Dask scheduler.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Of --engine dask, as in tcp://HOST:8786.")
@click.option("--fresh", is_flag=True, help="Grade again what was graded before.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="Seed of the hidden checks, for everybody. Default: that of the run before, or drawn.",
)
@click.option("--no-hidden", is_flag=True, help="Leave the hidden checks out.")
@click.option(
    "--i-trust-these-files",
    "on_trust",
    is_flag=True,
    help="Grade at isolation level process too, where a file could do what you can.",
)
@click.pass_obj
def _batch(folder: Path | None, /, place: Path, out: Path, jobs: int | None, **asked: Any) -> int:
    """Grade everything that a class handed in.

    CLASS is a folder with a folder or a file for each learner, or a zip file as Canvas, Moodle or
    Gradescope export it. RESULTS gets a score document for each submission, results.jsonl,
    grades.csv and a manifest. A second run goes on where the first was stopped, and grades what has
    changed since.
    """
    from grader import kit as kits
    from grader import limits
    from grader.batch import grading

    _require_one_engine(asked["engine"], asked["scheduler"], jobs)
    plan = grading.Plan(
        problem=asked["problem"],
        library=asked["library"],
        lanes=jobs,
        seed=asked["seed"],
        hidden=not asked["no_hidden"],
        fresh=asked["fresh"],
        on_trust=asked["on_trust"],
        scheduler=asked["scheduler"],
    )
    try:
        with _progress() as progress:
            outcome = grading.grade(kits.find(folder), place, out, plan, progress)
    except KeyboardInterrupt:
        click.echo(f"Stopped. What was graded is kept: the same command goes on. {out}", err=True)
        return STOPPED
    told = ", ".join(f"{count} {status}" for status, count in sorted(outcome.counts.items()))
    click.echo(f"{told}; {outcome.graded} of them now, in {outcome.seconds:.0f} s")
    click.echo(f"Results: {out}    A page to read: grade report {out}")
    if not outcome.counts.get("fault"):
        return DONE
    if scarce := limits.doubt():
        click.echo(f"Of the faults: {scarce}", err=True)
    return FAULTS


@click.command("report")
@click.argument("results", metavar="RESULTS", type=_PATH)
def _report(results: Path) -> int:
    """Make a page of a batch's results: RESULTS/report.html, one file that opens anywhere."""
    from grader.batch import page

    click.echo(f"Wrote {page.write(results)}")
    return DONE


@click.command("diff")
@click.argument("before", metavar="RESULTS_A", type=_PATH)
@click.argument("after", metavar="RESULTS_B", type=_PATH)
def _diff(before: Path, after: Path) -> int:
    """Tell what differs between two batches, by learner and check. Exit code 1 if anything does."""
    from grader.batch import diff
    from grader.render import no_command

    changes = diff.compare(before, after)
    for change in changes:
        for line in change.lines():
            click.echo(no_command(line))
    click.echo(f"{len(changes)} changed" if changes else "nothing changed")
    return CHANGED if changes else DONE


COMMANDS = {"batch": _batch, "report": _report, "diff": _diff}


def _require_one_engine(engine: str, scheduler: str | None, jobs: int | None) -> None:
    """UsageError for options that do not go together."""
    from grader.faults import UsageError

    if engine == "local" and scheduler is not None:
        raise UsageError("--scheduler is of the other engine: say --engine dask as well")
    if engine == "dask" and not scheduler:
        raise UsageError(
            "--engine dask: say --scheduler ADDRESS as well, which `dask scheduler` prints"
        )
    if engine == "dask" and jobs is not None:
        raise UsageError(
            "--jobs is of the other engine: a cluster grades as much at once as its workers "
            "have threads"
        )


@contextmanager
def _progress() -> Iterator[Callable[[int, int, Counter[str]], None]]:
    """A bar with rate, time left and outcomes on a terminal; nothing elsewhere."""
    from grader.cli import console, is_terminal

    if not is_terminal(sys.stderr):
        yield lambda done, total, outcomes: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        Left(),
        TextColumn("{task.fields[outcomes]}"),
    )
    with Progress(*columns, console=console(sys.stderr)) as bar:
        task = bar.add_task("", total=None, rate="", outcomes="")

        def tell(done: int, total: int, outcomes: Counter[str]) -> None:
            speed = bar.tasks[0].speed
            counts = "  ".join(
                f"{name.replace('_', ' ')} {count}" for name, count in outcomes.most_common(4)
            )
            rate = f"{speed:.1f}/s" if speed else ""
            bar.update(task, completed=done, total=total, rate=rate, outcomes=counts)

        yield tell
