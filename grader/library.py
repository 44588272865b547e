"""The door for programs that grade in a loop: training pipelines, web back ends, notebooks.

    from grader import Grader

    with Grader() as grader:
        report = grader.grade("def speculative_decode_step(…): …", "verify")
        print(report.score, report.verdict)

Warm: PyTorch is loaded once a lane, in processes beside this one. The submission never runs here,
and neither does a check: both are in the lane's processes, as with `grade batch`.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from types import TracebackType

from grader import kit as kits
from grader import problem as problems
from grader import submission_file
from grader.faults import KitFault, UsageError
from grader.lanes import Job, Lanes
from grader.report import FaultReport, Report


class Grader:
    """Grades one submission after another, or several at once from many threads.

    Args:
        kit: the folder of a kit; this package's own problems unless given.
        lanes: gradings side by side; each takes a core and some 350 MB.
        seed: of the hidden checks, for all gradings; drawn anew for each unless given.
        hidden: run the hidden checks if the kit has them.
        on_trust: run them also where submissions cannot be locked (see SECURITY.md).
    """

    def __init__(
        self,
        kit: Path | str | None = None,
        *,
        lanes: int = 1,
        seed: int | None = None,
        hidden: bool = True,
        on_trust: bool = False,
    ) -> None:
        if seed is not None and not (type(seed) is int and 0 <= seed < 2**63):
            raise UsageError(f"seed {seed!r:.40}: it has to be a number from 0 to 2**63 - 1")
        self._kit = kits.find(None if kit is None else Path(kit))
        self._seed = seed
        self._hidden = hidden
        self._on_trust = on_trust
        self._lanes = Lanes(self._kit, lanes)

    def grade(
        self,
        source: str | bytes | Path,
        problem: str,
        *,
        library: str = "auto",
        name: str = "submission.py",
    ) -> Report:
        """The report on a submission; waits for it.

        Args:
            source: the text of the file, its bytes, or where it lies.
            problem: the problem's slug.
            library: "torch", "numpy", or "auto" to go by its imports.
            name: what the report calls a file that is given by its text.

        Raises:
            UsageError: it cannot be a submission, or the request cannot be met.
            KitFault: the kit, not the submission, is wrong.
        """
        if not isinstance(source, str | bytes | Path):
            raise UsageError(f"a submission is text, bytes or a path, not {type(source).__name__}")
        exercise = problems.load(self._kit, problem)
        if isinstance(source, Path):
            read = submission_file.read(source)
        else:
            data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
            read = submission_file.of_bytes(name, data, name)
        job = Job(
            problem,
            read,
            submission_file.chosen_library(library, read, problem, exercise.libraries),
            secrets.randbelow(2**32) if self._seed is None else self._seed,
            hidden=self._hidden,
            on_trust=self._on_trust,
        )
        report = self._lanes.submit(job).result()
        if isinstance(report, FaultReport):
            raise KitFault(report.message, report.check)
        return report

    def close(self) -> None:
        """Ends the lanes; a grading that another thread waits for raises UsageError there."""
        self._lanes.close()

    def __enter__(self) -> Grader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


__all__ = ["FaultReport", "Grader", "KitFault", "Report", "UsageError"]
