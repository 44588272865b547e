"""How the benches here measure: by ratios, from one run, on a machine that may have other work.

What is compared is run in turn, round after round, so that whatever else the machine does falls on
all of it alike. A ratio is one of medians, and beside it stands the one of minima: where the two
differ much the machine was busy, and the minima are nearer to the truth. CPU time is user and
system time of a process and of all its descendants.
"""

from __future__ import annotations

import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCH = Path(__file__).resolve().parent
PYTHON = sys.executable

_PR_SET_CHILD_SUBREAPER = 36
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """What something took, in seconds; cpu: of the whole tree of processes."""

    wall: float
    cpu: float

    def per(self, times: int) -> Cost:
        """The cost of one of so many."""
        return Cost(self.wall / times, self.cpu / times)


@dataclass(frozen=True)
class Goal:
    """What a ratio must reach and should reach; `least` where more is better."""

    must: float
    aim: float
    least: bool = False

    def verdict(self, ratio: float) -> str:
        """In words, whether a ratio reaches both."""
        sign = "≥" if self.least else "≤"
        met = [ratio >= bound if self.least else ratio <= bound for bound in (self.must, self.aim)]
        words = ["met" if each else "MISSED" for each in met]
        return f"must {sign} {self.must:g}: {words[0]}, aim {sign} {self.aim:g}: {words[1]}"


class CannotRun(Exception):
    """A bench cannot be run here; the message says why."""


@contextmanager
def surroundings() -> Iterator[dict[str, str]]:
    """An environment for measured processes, with caches and states in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "PYTHON"))
        }
        for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            environment[name] = str(Path(folder) / name.lower())
        environment["TMPDIR"] = folder
        environment["PYTHONPATH"] = str(BENCH)
        yield environment


def process(
    command: Sequence[str], environment: Mapping[str, str], good: Collection[int] = (0,)
) -> Cost:
    """Runs a command to its end, from the kit's root; CannotRun if it leaves with another code."""
    _become_subreaper()
    began = time.perf_counter()
    running = subprocess.Popen(
        command,
        cwd=ROOT,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(running.pid, 0)
    wall = time.perf_counter() - began
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in good:
        raise CannotRun(f"exit code {running.returncode} of: {' '.join(command)}")
    cpu = used.ru_utime + used.ru_stime + _left_behind()
    return Cost(wall, cpu)


def _left_behind() -> float:
    """CPU time of processes that outlived the command that started them, once they have ended.

    The command leaves its worker process to end by itself; as a subreaper this process inherits it.
    """
    cpu = 0.0
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            return cpu
        cpu += used.ru_utime + used.ru_stime


def _become_subreaper() -> None:
    """Makes orphaned descendants children of this process (Linux only; else they do not count)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def ordinary(
    slug: str, file: Path, report: Path | str, *, hidden: bool = True, library: str = "auto"
) -> list[str]:
    """The command that grades a file in the ordinary way, with the plugin ordinary.py.

    It needs this folder on PYTHONPATH, as `surroundings` has it.
    """
    checks = [ROOT / "problems" / slug / "checks.py", ROOT / "solutions" / slug / "hidden.py"]
    files = checks if hidden and checks[1].is_file() else checks[:1]
    return [
        *(PYTHON, "-m", "pytest", "-c", str(ROOT / "grader" / "checks.ini"), f"--rootdir={ROOT}"),
        *("--import-mode=importlib", "--disable-plugin-autoload", "-q", "--tb=short"),
        *("-p", "pytest_jsonreport.plugin", "-p", "ordinary", "-p", "no:cacheprovider"),
        *("--json-report", f"--json-report-file={report}"),
        *("--submission", str(file), "--library", library),
        *map(str, files),
    ]


def tree_cpu() -> float:
    """CPU seconds so far of this process and all its descendants, living and waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = sum(each.ru_utime + each.ru_stime for each in used)
    return own + sum(_stat(pid, 11, 15) / _TICK for pid in descendants())


def tree_faults() -> int:
    """Minor page faults so far of all descendants of this process, living and waited for."""
    waited_for = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    return waited_for + sum(_stat(pid, 7, 9) for pid in descendants())


def descendants() -> list[int]:
    """The living descendants of this process."""
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            children = [int(pid) for pid in task.read_text(encoding="ascii").split()]
            found += children
            waiting += children
    return found


def _stat(pid: int, start: int, stop: int) -> int:
    """The sum of some fields of /proc/PID/stat, counted from after the name as in proc(5) - 3."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return 0
    return sum(int(field) for field in text.rpartition(")")[2].split()[start:stop])


@contextmanager
def measured() -> Iterator[list[Cost]]:
    """Puts the cost of the block, with the descendants of this process, into the list it gives."""
    found: list[Cost] = []
    cpu, began = tree_cpu(), time.perf_counter()
    yield found
    wall = time.perf_counter() - began
    found.append(Cost(wall, tree_cpu() - cpu))


def in_turn(runs: int, what: Mapping[str, Callable[[], Cost]]) -> dict[str, list[Cost]]:
    """Runs everything once, unmeasured, and then `runs` rounds, each in another order."""
    names = list(what)
    costs: dict[str, list[Cost]] = {name: [] for name in names}
    for number in range(runs + 1):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            progress(f"round {number} of {runs}: {name}")
            cost = what[name]()
            if number:
                costs[name].append(cost)
    progress("")
    return costs


def progress(text: str) -> None:
    """One line that is written over, on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text[:100]}")
        sys.stderr.flush()


def table(costs: Mapping[str, Sequence[Cost]]) -> None:
    """Prints what everything took, in milliseconds."""
    width = max(map(len, costs))
    print(f"{'ms':<{width}}  {'wall':>9} {'least':>9}  {'CPU':>9} {'least':>9}")
    for name, found in costs.items():
        wall, cpu = [cost.wall * 1e3 for cost in found], [cost.cpu * 1e3 for cost in found]
        print(
            f"{name:<{width}}  {statistics.median(wall):9.2f} {min(wall):9.2f}"
            f"  {statistics.median(cpu):9.2f} {min(cpu):9.2f}"
        )


def ratio(
    what: str,
    costs: Sequence[Cost],
    to: Sequence[Cost],
    goal: Goal | None = None,
    *,
    judge: str = "wall",
) -> None:
    """Prints costs ÷ to, by wall and by CPU time, and what is said of the one that is judged."""
    found = {}
    for time_of in ("wall", "cpu"):
        over, under = ([getattr(cost, time_of) for cost in each] for each in (costs, to))
        middle = statistics.median(over) / max(statistics.median(under), 1e-9)
        found[time_of] = middle, min(over) / max(min(under), 1e-9)
    said = f"  {goal.verdict(found[judge][0])}" if goal else ""
    (wall, least_wall), (cpu, least_cpu) = found["wall"], found["cpu"]
    print(
        f"{what:<46} wall {wall:6.2f} (minima {least_wall:6.2f})"
        f"  CPU {cpu:6.2f} (minima {least_cpu:6.2f}){said}"
    )


def slugs(wanted: str | None) -> list[str]:
    """The problems to measure: the one asked for, or all."""
    found = sorted(path.parent.name for path in ROOT.glob("problems/*/problem.toml"))
    if wanted is not None and wanted not in found:
        raise CannotRun(f"no problem {wanted!r}; there are {', '.join(found)}")
    return [wanted] if wanted else found


def solution(slug: str) -> Path:
    """The reference of a problem; CannotRun in a kit without solutions."""
    path = ROOT / "solutions" / slug / "solution.py"
    if not path.is_file():
        raise CannotRun(f"{path.relative_to(ROOT)} is not here; give a right file with --file")
    return path


def run_bench(main: Callable[[], None]) -> None:
    """Runs a bench; leaves with 1 and a sentence where it cannot be run."""
    try:
        main()
    except CannotRun as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(1)
