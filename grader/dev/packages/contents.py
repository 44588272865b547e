"""What an autograder's package holds besides its platform's own files: one problem, with its
secrets, and the grader that runs it.

    kit/            the grader, the problem, its stubs and solutions: a kit of its own
    grade.sh        grades what lies in a folder, and leaves a result whatever happens
    requirements.txt, constraints.txt
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib import metadata
from importlib.resources import files
from pathlib import Path

from grader import __version__
from grader import kit as kits
from grader import problem as problems
from grader.dev import learner_kit
from grader.dev.packages import learners
from grader.dev.rules.places import imported
from grader.faults import UsageError
from grader.kit import Kit
from grader.problem import Problem

LIMIT = 540  # seconds for one submission, unless a platform gives less
PROGRAM = "grade.sh"

_PACKAGE = Path(kits.__file__).resolve().parent
_LEFT_OUT = frozenset({"_data", "__pycache__"})  # an installed package has problems in `_data`
_GAP = re.compile(r"\{\{ (\w+) \}\}")


def problem_of(kit: Kit, slug: str | None) -> Problem:
    """The problem to make a package of: the one asked for, or the only one.

    Raises UsageError where it cannot be graded with hidden checks on a machine of its own: without
    its solutions, or where it takes files of another problem.
    """
    known = problems.slugs(kit)
    if slug is None:
        if len(known) != 1:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise UsageError(f"{kit.root}: a package holds one problem, and {has}; say --problem")
        (slug,) = known
    problem = problems.load(kit, slug)
    if kit.solutions is None or problem.solution_folder is None:
        raise UsageError(
            f"{kit.root}: has no solutions/{slug}, without which nothing hidden is graded; "
            "this needs the instructor's kit"
        )
    for library in problem.libraries:
        if problem.solution(library) is None:
            raise UsageError(f"solutions/{slug}: no reference for {library}; write it first")
    if problem.hidden is None and any(points.hidden for points in problem.points.values()):
        raise UsageError(f"solutions/{slug}: no hidden.py, which has points; write it first")
    for path in sorted(imported(kit, [slug])):
        if path.parent != problem.folder:
            raise UsageError(
                f"problems/{slug}: takes {path.relative_to(kit.root).as_posix()}, of another "
                "problem; a package holds one problem alone"
            )
    return problem


def of(
    kit: Kit, problem: Problem, form: str, *, library: str = "auto", limit: int = LIMIT
) -> dict[str, bytes]:
    """The files that grade a submission, by their place in the package.

    form: the format of the results. library: what submissions are graded in. limit: seconds.
    """
    arguments = ["--library", library, "--format", form]
    if problem.hidden is not None:
        # A package that has lost them on its way would give full marks for the public part.
        arguments.append("--require-hidden")
    # A kit by itself has the name and the version of the grader that came with it.
    of_kit = "" if _is_own(kit) else '--kit "$here/kit"'
    held = {f"kit/{name}": data for name, data in sorted(_kit(kit, problem))}
    held[PROGRAM] = filled(
        "grade.sh",
        slug=problem.slug,
        kit=of_kit,
        arguments=shlex.join(arguments),
        limit=str(limit),
        fault=learners.fault_in_shell(kit, problem, form),
    )
    held["requirements.txt"] = "".join(f"{each}\n" for each in _requirements()).encode()
    held["constraints.txt"] = _constraints()
    return held


def filled(name: str, **gaps: str) -> bytes:
    """A file of `files/`, with what stands in it between `{{` and `}}` filled in."""
    text = (files("grader.dev.packages") / "files" / name).read_text(encoding="utf-8")
    return _GAP.sub(lambda gap: gaps[gap[1]], text).encode()


# ---- the kit


def _kit(kit: Kit, problem: Problem) -> Iterator[tuple[str, bytes]]:
    stubs = {problem.template(library) for library in problem.libraries}
    for name, data in learner_kit.contents(kit).items():
        mine = name.startswith(f"problems/{problem.slug}/") or kit.root / name in stubs
        if mine or name == "LICENSE" or (name == "pyproject.toml" and _is_own(kit)):
            yield name, data
    assert problem.solution_folder is not None
    # Known-wrong and other right files prove the grader at home; they grade nobody.
    for path in problem.solution_folder.glob("*.py"):
        if path.is_symlink():
            raise UsageError(f"{path.relative_to(kit.root)}: a link; put the file itself there")
        yield f"solutions/{problem.slug}/{path.name}", path.read_bytes()
    for path in _PACKAGE.rglob("*"):
        name = path.relative_to(_PACKAGE).as_posix()
        left_out = any(part[0] == "." or part in _LEFT_OUT for part in name.split("/"))
        if path.is_file() and not left_out:
            yield f"grader/{name}", path.read_bytes()


def _is_own(kit: Kit) -> bool:
    """Whether it is the kit that this grader came with."""
    return kit.version == __version__ and kit.name == kits.NAME


# ---- what it runs on


def _requirements() -> list[str]:
    """The libraries that the grader needs, as pip reads them."""
    project = _PACKAGE.parent / "pyproject.toml"
    if project.is_file():
        found: list[str] = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
        return found
    needed = metadata.requires(kits.NAME) or []
    return [each for each in needed if "extra ==" not in each]


def _constraints() -> bytes:
    """The versions to install: those that are tested, else those that are installed here."""
    path = _PACKAGE.parent / "constraints.txt"
    if path.is_file():
        return path.read_bytes()
    names = (re.split(r"[^\w.-]", each)[0] for each in _requirements())
    return "".join(f"{name}=={metadata.version(name)}\n" for name in names).encode()
