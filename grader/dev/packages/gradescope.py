"""A complete autograder for Gradescope: the zip file to upload, with one problem in it.

    setup.sh          installs what the grader runs on, and tries it on the reference
    run_autograder    grades one submission
    …                 what `grader.dev.packages.contents` tells

Its rows have fixed points, so it grades in one library where the problem's libraries have different
totals: an assignment has one.
"""

from __future__ import annotations

from pathlib import Path

from grader.dev.packages import contents, place
from grader.dev.packages.place import Written
from grader.faults import UsageError
from grader.kit import Kit
from grader.problem import Problem

_PROGRAMS = ("setup.sh", "run_autograder", contents.PROGRAM)


def write(kit: Kit, out: Path, slug: str | None, *, library: str | None = None) -> Written:
    """Writes the zip file `out`, with the problem `slug` or the only one of the kit.

    library: the one to grade in. Raises UsageError for a problem that cannot be packed, for a
    library it is not offered in, and where `out` cannot be written.
    """
    problem = contents.problem_of(kit, slug)
    library = _library(problem, library)
    first = problem.libraries[0] if library == "auto" else library
    points = problem.points[first]
    total = points.public + points.hidden
    solution = problem.solution(first)
    assert solution is not None
    held = contents.of(kit, problem, "gradescope", library=library)
    held["run_autograder"] = contents.filled("gradescope/run_autograder")
    held["setup.sh"] = contents.filled(
        "gradescope/setup.sh", slug=problem.slug, reference=solution.name, points=str(total)
    )
    size = place.write_zip(kit, out, held, _PROGRAMS)
    told = [
        f"wrote {out}: {size}, with the solutions of {problem.slug}; no learner may have it",
        f"set the assignment's points to {total}",
        "set the container to 2 GB of memory and 1 CPU; leave its ten minutes as they are",
        "then upload it on the assignment's page Configure Autograder, on Ubuntu 22.04 or newer",
    ]
    if points.hidden:
        told[1] += f"; {points.hidden} of them are hidden until grades are published"
    if points.extra:
        told[1] += f"; up to {points.extra} more are extra credit"
    if len(problem.libraries) > 1 and library != "auto":
        told.append(f"files are graded as {library}; for another: --library, and an assignment")
    return Written(out, tuple(told))


def _library(problem: Problem, asked: str | None) -> str:
    """The library to grade in; "auto" where it is each submission's choice."""
    if asked is not None:
        if asked not in problem.libraries:
            offered = ", ".join(problem.libraries)
            raise UsageError(f"{problem.slug} is not offered in {asked}, only in {offered}")
        return asked
    totals = {(points.public, points.hidden) for points in problem.points.values()}
    return "auto" if len(totals) == 1 else problem.libraries[0]
