"""The simulated accelerator against CUDA: the device checks of every known file, on both.

    python tests/bench/devices.py [SLUG] [--lanes N] [--seed 1] [--json OUT]

Every right, wrong and stream file in PyTorch, and every reference, is graded twice with the same
seed: its device checks on the simulated accelerator, then on CUDA. Printed are the versions, the
device, how often each pair of outcomes came, and every file whose outcomes differ. Leaves with 1 if
one does, or if there is no CUDA device here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader import kit as kits
from grader import problem as problems
from grader import submission_file
from grader.dev.known import KINDS, library_of
from grader.faults import GradeError, KitFault
from grader.lanes import Job, grade_all
from grader.report import FaultReport, Report

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "torch"  # NumPy has no devices
SEED = 1

_VERSIONS = """
import json, sys, torch
found = {
    "python": sys.version.split()[0],
    "torch": torch.__version__,
    "cuda": torch.version.cuda,
    "cudnn": torch.backends.cudnn.version() if torch.cuda.is_available() else None,
    "device": None,
}
if torch.cuda.is_available():
    first = torch.cuda.get_device_properties(0)
    found["device"] = f"{first.name}, compute capability {first.major}.{first.minor}"
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Compared:
    """The outcomes of a file's device checks, by check, on both kinds of device."""

    file: str
    simulated: Mapping[str, str]
    cuda: Mapping[str, str]

    @property
    def same(self) -> bool:
        """Whether both say the same, and say something: a check that was not run says nothing."""
        known = {*self.simulated.values(), *self.cuda.values()} <= {"passed", "failed"}
        return bool(self.simulated) and known and self.simulated == self.cuda

    def __str__(self) -> str:
        checks = sorted({*self.simulated, *self.cuda})
        return f"{self.file}: " + "; ".join(
            f"{check} {self.simulated.get(check, 'absent')} simulated, "
            f"{self.cuda.get(check, 'absent')} on CUDA"
            for check in checks
        )


def versions() -> dict[str, str | int | None]:
    """What the outcomes depend on, as a new process sees it; "device" is None without CUDA."""
    command = [sys.executable, "-P", "-c", _VERSIONS]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=True)
    found: dict[str, str | int | None] = json.loads(done.stdout)
    return found


def files(slugs: Sequence[str] = ()) -> list[Path]:
    """The references and known files in PyTorch, of these problems or of all."""
    kit = kits.find(ROOT)
    found: list[Path] = []
    for slug in slugs or problems.slugs(kit):
        problem = problems.load(kit, slug)
        folder = problem.solution_folder
        if folder is None or LIBRARY not in problem.libraries:
            continue
        paths = [
            *folder.glob("solution*.py"),
            *(p for k in KINDS for p in folder.glob(f"{k}/*.py")),
        ]
        found += (p for p in sorted(paths) if library_of(p.stem, problem.libraries) == LIBRARY)
    return found


def compare(
    paths: Sequence[Path],
    devices: tuple[str, str] = ("cpu", "cuda"),
    seed: int = SEED,
    lanes: int | None = None,
) -> Iterator[Compared]:
    """Grades every file on both devices ("cpu" stands for the simulated one), in any order.

    Raises KitFault where the kit is at fault, UsageError where a device is not here.
    """
    jobs = [
        Job(path.relative_to(ROOT).parts[1], submission_file.read(path), LIBRARY, seed, device)
        for path in paths
        for device in devices
    ]
    waiting: dict[int, dict[str, str]] = {}
    for place, report in grade_all(kits.find(ROOT), jobs, lanes):
        waiting[place] = outcomes(report)
        first = place - place % 2
        if {first, first + 1} <= waiting.keys():
            file = paths[first // 2].relative_to(ROOT / "solutions").as_posix()
            yield Compared(file, waiting.pop(first), waiting.pop(first + 1))


def outcomes(report: Report | FaultReport) -> dict[str, str]:
    """The outcome of every check that looks at devices."""
    if isinstance(report, FaultReport):
        raise KitFault(report.message, report.check)
    return {check.id: check.outcome for check in report.checks if check.group == "device"}


def main() -> int:
    """Compares everything there is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("slug", nargs="*", help="problems (default: all)")
    parser.add_argument("--lanes", type=int, metavar="N", help="gradings at a time (a core each)")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help="of the hidden checks")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write everything there, too")
    options = parser.parse_args()
    seen = versions()
    print("  ".join(f"{name} {value or '-'}" for name, value in seen.items()))
    if seen["device"] is None:
        print("devices.py: PyTorch sees no CUDA device here: nothing was compared", file=sys.stderr)
        return 1
    try:
        found = sorted(
            compare(files(options.slug), seed=options.seed, lanes=options.lanes),
            key=lambda each: each.file,
        )
    except GradeError as error:
        print(f"devices.py: {error}", file=sys.stderr)
        return 1
    pairs = Counter(
        (check, each.simulated.get(check, "absent"), each.cuda.get(check, "absent"))
        for each in found
        for check in {*each.simulated, *each.cuda}
    )
    width = max((len(check) for check, _, _ in pairs), default=5)
    print(f"{'check':<{width}}  {'simulated':<9}  {'CUDA':<9}  files")
    for (check, simulated, cuda), count in sorted(pairs.items()):
        print(f"{check:<{width}}  {simulated:<9}  {cuda:<9}  {count:5d}")
    unlike = [each for each in found if not each.same]
    print(f"{len(found) - len(unlike)} of {len(found)} files have the same device verdicts on both")
    for each in unlike:
        print(f"  {each}")
    if options.json:
        known = {"versions": seen, "seed": options.seed, "files": [asdict(each) for each in found]}
        options.json.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return 1 if unlike else 0


if __name__ == "__main__":
    sys.exit(main())
