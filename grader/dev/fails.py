"""Writes what was observed into the `fails:` lines of wrong files.

Nobody types forty names; somebody reads the difference. A file that fails a check with some seeds
only keeps its line: there is no set to write.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from grader import score_file
from grader.dev.known import Known
from grader.dev.survey import Result, by_file
from grader.report import Report
from grader.score import no_device

WIDTH = 100


def write(results: Sequence[Result]) -> list[str]:
    """Writes the lines that are to change; the files that were, from the kit's root."""
    changed = []
    for known, group in by_file(results):
        reports = [result.report for result in group if isinstance(result.report, Report)]
        lost = {result.lost() for result in group}
        if known.kind != "wrong" or len(reports) != len(group) or len(lost) != 1:
            continue
        every = {check.id for check in reports[0].checks}
        # A check that cannot be run here is left as the file has it.
        untried = {check.id for check in reports[0].checks if no_device(check)}
        failed = lost.pop() | (untried & (known.fails or frozenset()))
        if failed and failed != known.fails and _write(known, failed, failed == every):
            changed.append(known.file)
    return changed


def _write(known: Known, failed: frozenset[str], everything: bool) -> bool:
    """Puts the line last in the docstring, in place of the one that is there."""
    text = known.path.read_text(encoding="utf-8")
    docstring = ast.parse(text).body[0]
    end = docstring.end_lineno
    assert end is not None
    lines = text.splitlines(keepends=True)
    if "fails" in known.lines:
        first = last = known.lines["fails"] - 1
        while last + 1 < end and lines[last + 1].startswith(" "):
            last += 1
        del lines[first : last + 1]
        end -= last + 1 - first
    names = "all" if everything else ", ".join(sorted(failed))
    told = textwrap.fill(f"fails: {names}", WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    if lines[end - 1].strip() != '"""':
        return False  # a docstring of another shape: whoever wrote it should add the line
    lines.insert(end - 1, f"{told}\n")
    score_file.write(known.path, "".join(lines))
    return True
