"""What a package that learners can read holds of a kit: a project that pip installs, and that is a
kit of its own.

It is the grader, the problems that are asked for and their stubs, without solutions, and without
what a learner's kit has besides to be read and tested.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from grader import export, report
from grader import kit as kits
from grader import problem as problems
from grader.dev import leaks, learner_kit
from grader.dev.rules.places import imported
from grader.faults import KitFault, UsageError
from grader.kit import Kit
from grader.problem import Problem

CONSTRAINTS = "constraints.txt"
_NO_TIME = "1970-01-01T00:00:00+00:00"
NAMES = {"torch": "PyTorch", "numpy": "NumPy"}

# pip needs the first, which names the next two; the last says which versions are tested.
_PROJECT = ("pyproject.toml", "README.md", "LICENSE", CONSTRAINTS)


def chosen(kit: Kit, slug: str | None) -> list[Problem]:
    """The problem asked for, or all of them.

    Raises UsageError where there is no such problem, or none at all.
    """
    known = problems.slugs(kit)
    if not known:
        raise UsageError(f"{kit.problems}: no problems there; give a kit that has one: --kit DIR")
    return [problems.load(kit, each) for each in ([slug] if slug else known)]


def only(kit: Kit, slug: str | None) -> Problem:
    """The problem asked for, or the only one; UsageError where that is not one."""
    found = chosen(kit, slug)
    if len(found) > 1:
        known = " or ".join(f"--problem {each.slug}" for each in found)
        raise UsageError(f"{kit.root}: a package holds one problem; say {known}")
    return found[0]


def project(kit: Kit, wanted: Sequence[Problem]) -> dict[str, bytes]:
    """The files of the project, by their place in it.

    The grader is the kit's own, or the one that runs where the kit has none.

    Raises UsageError where the grader that runs was installed without its project, and where a
    file would hand out what stands in `solutions/`.
    """
    source = next((each for each in (kit, kits.find()) if _is_project(each)), None)
    if source is None:
        raise UsageError(
            "a package needs the grader's own pyproject.toml, which is not installed with it; "
            "run grade from a checkout (pip install -e .)"
        )
    held = {
        name: data
        for name, data in learner_kit.contents(source).items()
        if name in _PROJECT or name.startswith("grader/")
    }
    held.setdefault(CONSTRAINTS, b"")
    folders = [each.folder for each in wanted]
    single = {each.template(library) for each in wanted for library in each.libraries}
    single |= imported(kit, [each.slug for each in wanted])
    for name, data in learner_kit.contents(kit).items():
        path = kit.root / name
        if path in single or any(path.is_relative_to(folder) for folder in folders):
            held[name] = data
    for complaint in leaks.search(kit, {"the package": held}):
        raise UsageError(f"nothing was written: {complaint}")
    return dict(sorted(held.items()))


def file_of(problem: Problem) -> str:
    """The name of the one file that is graded."""
    return problem.template(problem.libraries[0]).name


def stub_of(problem: Problem) -> bytes:
    """The file that a learner begins with; KitFault if it is missing."""
    path = problem.template(problem.libraries[0])
    try:
        return path.read_bytes()
    except OSError as error:
        raise KitFault(f"templates/{path.name}: cannot be read: {error.strerror}") from None


def points(problem: Problem) -> str:
    """The highest score without hidden checks, as it is told: `60`, or `60 (55 with NumPy)`."""
    first, *others = problem.libraries
    most = problem.points[first].public
    told = [
        f"{problem.points[other].public} with {NAMES[other]}"
        for other in others
        if problem.points[other].public != most
    ]
    return f"{most} ({', '.join(told)})" if told else str(most)


def not_hidden(problem: Problem) -> str:
    """What is said where learners can read everything; empty where nothing is hidden."""
    most = max(each.hidden for each in problem.points.values())
    if not most:
        return ""
    return f"Hidden checks cannot run there: {most} more points are yours to grade (grade batch)."


def fault(kit: Kit, problem: Problem | None) -> report.FaultReport:
    """What a learner is told where the grader gave no result."""
    of_kit = report.Kit(kit.name, kit.version)
    slug = problem.slug if problem else None
    return report.FaultReport(of_kit, slug, "the grader gave no result", None, _NO_TIME)


def fault_in_shell(kit: Kit, problem: Problem | None, form: str) -> str:
    """The same as a word of a shell script, in the format called `form` and without its last
    newline."""
    return shlex.quote(export.render(form, fault(kit, problem)).rstrip("\n"))


def _is_project(kit: Kit) -> bool:
    return (kit.root / "pyproject.toml").is_file() and (kit.root / "grader").is_dir()
