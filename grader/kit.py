"""Where the problems are: in this checkout, in the installed package, or in a folder one names.

A kit is a folder holding `problems/` and `templates/`, and `solutions/` where an instructor has it.
Nothing here reads a problem; that is `grader.problem`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader import __version__
from grader.faults import UsageError

NAME = "speculative-exercises"


@dataclass(frozen=True)
class Kit:
    """One kit. `root` is what the check files' own imports start from (`problems.verify.cases`).

    `solutions` is None in a learner's kit. A kit given by folder has no version of its own: its
    name is the folder's and its version "unversioned".
    """

    name: str
    version: str
    root: Path
    problems: Path
    templates: Path
    solutions: Path | None


def find(folder: Path | None = None) -> Kit:
    """The kit in `folder`, else the one this package belongs to.

    Raises UsageError if there is no kit there.
    """
    if folder is not None:
        if not (folder / "problems").is_dir():
            raise UsageError(
                f"{folder}: not a kit, it has no folder 'problems'; "
                "give the folder that holds 'problems' and 'templates'"
            )
        return _kit(folder.resolve().name or "kit", "unversioned", folder.resolve())
    package = Path(__file__).resolve().parent
    for root in (package.parent, package / "_data"):
        # In site-packages the folder beside the package could be anybody's `problems`; the
        # project file tells a checkout from that.
        if (root / "problems").is_dir() and (root == package / "_data" or _is_checkout(root)):
            return _kit(NAME, __version__, root)
    raise UsageError(
        f"{package}: no problems were installed with the package; "
        "install it again, or say --kit DIR"
    )


def _is_checkout(root: Path) -> bool:
    return (root / "pyproject.toml").is_file()


def _kit(name: str, version: str, root: Path) -> Kit:
    solutions = root / "solutions"
    return Kit(
        name=name,
        version=version,
        root=root,
        problems=root / "problems",
        templates=root / "templates",
        solutions=solutions if solutions.is_dir() else None,
    )
