"""A survey: every known file of a problem, its references and its stubs, graded and kept together.

What follows from it, rule by rule, is `grader.dev.check`; as a table, `grader.dev.matrix`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.dev.known import Known
from grader.report import FaultReport, Report
from grader.score import no_device


@dataclass(frozen=True)
class Result:
    """One known file graded with one seed."""

    known: Known
    seed: int
    report: Report | FaultReport

    def lost(self) -> frozenset[str]:
        """The checks that were not passed, those for extra credit included.

        Without those that this machine cannot run; empty where the kit was at fault.
        """
        return lost(self.report)


def lost(report: Report | FaultReport) -> frozenset[str]:
    """As `Result.lost`, of any report."""
    if isinstance(report, FaultReport):
        return frozenset()
    return frozenset(
        check.id for check in report.checks if check.outcome != "passed" and not no_device(check)
    )


def by_file(results: Iterable[Result]) -> list[tuple[Known, Sequence[Result]]]:
    """The results put together by file, in their order."""
    together: dict[str, list[Result]] = {}
    for result in results:
        together.setdefault(result.known.file, []).append(result)
    return [(group[0].known, group) for group in together.values()]
