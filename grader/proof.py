"""Remembers that a reference passed every check of its problem, in this environment.

The memory is an empty file named by a hash of everything the outcome depends on: the problem, the
hidden checks, the references, the grader's own code, the versions and the processor. Any change
makes another name, so nothing can be stale.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__

if TYPE_CHECKING:
    from grader.grading import Request
    from grader.problem import Problem

_PACKAGE = Path(__file__).resolve().parent


def key(request: Request, layers: Sequence[str]) -> str:
    """The name under which this problem's proof is kept."""
    digest = hashlib.sha256()
    facts = [__version__, request.library, request.device, request.hidden, *layers, *_environment()]
    digest.update(json.dumps(facts).encode())
    for path in _files(request.problem):
        digest.update(str(path.name).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def known(name: str) -> bool:
    """Whether this proof was done before."""
    try:
        return (_folder() / name).is_file()
    except OSError:
        return False  # a cache of somebody else's: the proof is done again


def remember(name: str) -> None:
    """Keeps the proof; where nothing can be written it is done again next time."""
    try:
        _folder().mkdir(parents=True, exist_ok=True)
        (_folder() / name).touch()
    except OSError:
        pass


def _environment() -> list[str]:
    """What answers may depend on, known without importing PyTorch."""
    try:
        processor = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
        # Which of the processor's clocks ran how fast is no part of what it computes.
        lines = [line for line in processor.splitlines() if line.startswith(("model", "flags"))]
    except OSError:
        lines = [platform.processor()]
    return [platform.python_version(), platform.platform(), *packages(), *lines]


def packages() -> list[str]:
    """The packages that answers may depend on, with their versions, without importing any."""
    return [_version(name) for name in ("torch", "numpy", "pytest")]


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"{package} of no known version"


def _files(problem: Problem) -> list[Path]:
    folders = [problem.folder.glob("*.*"), _PACKAGE.rglob("*.py")]
    if problem.solution_folder is not None:
        folders.append(problem.solution_folder.glob("*.py"))
    return sorted(path for found in folders for path in found if path.is_file())


def _folder() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("speculative-exercises") / "proved"
