"""What the Dask engine costs over lanes on this machine: the same files on two workers, and here.

    python tests/bench/cluster.py [--slug verify] [--gradings 100] [--runs 5] [--lanes 2]

A scheduler and its workers of one thread are started on loopback, as many as there are lanes, so
that both engines have the same processes to grade with. Both are warm, and each keeps as many files
waiting as a batch does. The ratio is that of the whole time for all files; of CPU time it counts
what the scheduler, the workers and this process take as well.

With --no-op the workers grade one file and answer with its report from then on, which shows how
many files a second one scheduler and one batch can move at the most, however many workers there
are. Submissions that run into a time limit are left out: they measure the limit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from grade import TOO_LONG, sample
from measuring import (
    ROOT,
    CannotRun,
    Cost,
    Goal,
    in_turn,
    measured,
    progress,
    ratio,
    run_bench,
    slugs,
    solution,
    surroundings,
    table,
)

GOAL = Goal(must=1.25, aim=1.1)
SECONDS = 60.0  # for the scheduler and its workers to be there

NO_OP = """
from grader.batch import station
once, known = station.grade, []
def grade(*asked):
    if not known:
        known.append(once(*asked))
    return known[0]
station.grade = grade
"""


def main() -> None:
    """Grades the same files with both engines, in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--slug", metavar="SLUG", help="one problem instead of all")
    parser.add_argument("--gradings", type=int, default=100, metavar="N", help="in each round")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="rounds to measure")
    parser.add_argument("--lanes", type=int, default=2, metavar="N")
    parser.add_argument("--no-op", action="store_true", help="move files, and grade none")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    try:
        from grader.batch.cluster import Cluster
    except ModuleNotFoundError as error:
        raise CannotRun(f"{error}; it needs the extra `cluster`") from None
    from grader import kit as kits
    from grader.lanes import Lanes

    chosen = slugs(options.slug)
    kit = kits.find(ROOT)
    with ExitStack() as stack:
        address = stack.enter_context(_dask(options.lanes, nothing=options.no_op))
        there = stack.enter_context(Cluster(kit, chosen, address))
        here = stack.enter_context(Lanes(kit, options.lanes))
        for slug in chosen:
            jobs = _jobs(slug, options.gradings, here)
            if options.no_op:
                found = in_turn(options.runs, {"dask": partial(_grade, there, jobs)})["dask"]
                wall, cpu = (min(getattr(cost, of) for cost in found) for of in ("wall", "cpu"))
                print(
                    f"{slug}: {len(jobs) / wall:.0f} files a second at the most, none graded; "
                    f"{cpu / len(jobs) * 1e3:.1f} ms of CPU time each"
                )
                continue
            print(f"\n{slug}: {len(jobs)} gradings with {options.lanes} lanes")
            what: dict[str, Callable[[], Cost]] = {
                "lanes here": partial(_grade, here, jobs),
                "dask workers": partial(_grade, there, jobs),
            }
            costs = in_turn(options.runs, what)
            table({name: [cost.per(len(jobs)) for cost in found] for name, found in costs.items()})
            ratio("dask workers ÷ lanes here", costs["dask workers"], costs["lanes here"], GOAL)


def _jobs(slug: str, count: int, engine: Any) -> list[Any]:
    """Right and wrong files in turn, as learners of one class hand them in."""
    from grader import submission_file
    from grader.lanes import Job

    files = [solution(slug), *sample(slug, "right", 8), *sample(slug, "wrong", 12)]
    jobs = [Job(slug, submission_file.read(file), "torch", 1) for file in files]
    engine.submit(jobs[0]).result()
    quick = [job for job in jobs if engine.submit(job).result().seconds < TOO_LONG]
    return [*islice(cycle(quick), count)]


def _grade(engine: Any, jobs: Sequence[Any]) -> Cost:
    """What grading them all takes, with as many waiting as a batch has."""
    from grader.lanes import AHEAD
    from grader.report import Report

    waiting: set[Future[Any]] = set()
    with measured() as found:
        for job in [*jobs, None]:
            if job is not None:
                waiting.add(engine.submit(job))
            while len(waiting) > (0 if job is None else AHEAD * engine.count):
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                assert all(isinstance(each.result(), Report) for each in done)
    return found[0]


@contextmanager
def _dask(workers: int, *, nothing: bool) -> Iterator[str]:
    """The address of a scheduler on loopback with so many workers."""
    from distributed import Client

    running: list[subprocess.Popen[bytes]] = []
    with surroundings() as environment, tempfile.TemporaryDirectory(prefix="bench-") as folder:

        def start(what: str, *words: str, before: str = "") -> None:
            code = f"{before}\nfrom distributed.cli.dask_{what} import main; main()"
            running.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-c", code, "--host=127.0.0.1", *words],
                    cwd=folder,
                    env=environment | {"PYTHONPATH": str(ROOT)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

        told = Path(folder) / "scheduler.json"
        try:
            start("scheduler", "--port=0", f"--scheduler-file={told}")
            end = time.monotonic() + SECONDS
            while not told.exists() or not told.read_text(encoding="utf-8").endswith("}"):
                progress("waiting for the scheduler")
                if time.monotonic() > end or running[0].poll() is not None:
                    raise CannotRun("the scheduler did not start")
                time.sleep(0.1)
            address: str = json.loads(told.read_text(encoding="utf-8"))["address"]
            for _ in range(workers):
                start("worker", address, "--no-nanny", "--nthreads=1", before=NO_OP * nothing)
            with Client(address, set_as_default=False) as client:
                client.wait_for_workers(workers, timeout=SECONDS)
            yield address
        finally:
            for process in running:
                process.kill()  # asked all at once to leave, Dask's workers may wait for each other
                process.wait()


if __name__ == "__main__":
    run_bench(main)
