"""What a result depends on besides the submission, told the same way on every machine.

Files are known by their place in the kit or the grader, wherever these lie, and by what they hold.
The processor and the system are no part of it: a cluster has several of both. They stand in every
score document, the reference has to pass every check on each of them first, and what is expected of
a sampled answer is drawn beside it.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import problem as problems
from grader.kit import Kit
from grader.proof import packages

_PACKAGE = Path(problems.__file__).resolve().parent


@dataclass(frozen=True)
class Terms:
    """On what terms some problems are graded. digest: of all `files`. versions: of Python, and of
    the packages that an answer may depend on."""

    kit: Kit
    slugs: tuple[str, ...]
    digest: str
    versions: tuple[str, ...]


def terms(kit: Kit, slugs: Sequence[str]) -> Terms:
    """The terms on which these problems are graded here. Raises KitFault for a broken problem."""
    return Terms(kit, tuple(slugs), digest(files(kit, slugs)), versions())


def files(kit: Kit, slugs: Sequence[str]) -> dict[str, str]:
    """The SHA-256 of every file that has a part in grading these problems, by its name."""
    found = code()
    for slug in slugs:
        problem = problems.load(kit, slug)
        folders = {f"problems/{slug}": problem.folder.glob("*.*")}
        if problem.solution_folder is not None:
            folders[f"solutions/{slug}"] = problem.solution_folder.glob("*.py")
        for name, paths in folders.items():
            found |= {f"{name}/{path.name}": _sha256(path) for path in paths if path.is_file()}
    return found


def code() -> dict[str, str]:
    """The grader's own files; the problems of an installed package lie among them."""
    found = {path.relative_to(_PACKAGE): path for path in _PACKAGE.rglob("*.*")}
    return {
        f"grader/{name.as_posix()}": _sha256(path)
        for name, path in found.items()
        if name.parts[0] != "_data" and path.suffix in (".py", ".ini")
    }


def digest(found: Mapping[str, str]) -> str:
    """One hash of them all."""
    return hashlib.sha256(json.dumps(sorted(found.items())).encode()).hexdigest()


def versions() -> tuple[str, ...]:
    """In words, without importing any of it."""
    return (f"Python {platform.python_version()}", *packages())


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
