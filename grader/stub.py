"""The stub a learner begins with, copied to where they want it and never over anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.faults import KitFault, UsageError
from grader.problem import Problem


@dataclass(frozen=True)
class Stub:
    """A stub that has been written: where, in which library, and what is to be filled in."""

    file: Path
    library: str
    entry: str


def write(problem: Problem, file: Path | None, library: str | None) -> Stub:
    """Copy the problem's stub to `file`: a file name, a folder, or None for the stub's own name.

    Raises UsageError if something is there already, or if the problem has no stub in `library`.
    """
    library = library or problem.libraries[0]
    if library not in problem.libraries:
        offered = ", ".join(problem.libraries)
        raise UsageError(
            f"problem '{problem.slug}' is not offered in {library}, only in {offered}; "
            f"say --library {problem.libraries[0]}, or leave --library out"
        )
    template = problem.template(library)
    try:
        source = template.read_bytes()
    except OSError as error:
        raise KitFault(f"templates/{template.name}: cannot be read: {error.strerror}") from None
    target = Path(template.name) if file is None else file
    if target.is_dir():
        target = target / template.name
    if target.suffix != ".py":
        raise UsageError(
            f"{target}: not the name of a Python file; say {target.stem}.py, "
            "or make a folder of that name first"
        )
    try:
        with target.open("xb") as new:
            new.write(source)
    except FileExistsError:
        raise UsageError(
            f"{target}: there already, and never overwritten; "
            f"choose another name: grade start {problem.slug} {target.stem}_2.py"
        ) from None
    except FileNotFoundError:
        raise UsageError(f"{target}: there is no folder {target.parent}; make it first") from None
    except OSError as error:
        raise UsageError(f"{target}: cannot be written ({error.strerror})") from None
    return Stub(file=target, library=library, entry=problem.entry)
