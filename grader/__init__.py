"""Grades exercises on speculative decoding exactly, without ever trusting the file it grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.library import Grader as Grader

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Loaded when it is asked for: the commands for learners answer at once without it.
    if name == "Grader":
        from grader.library import Grader

        return Grader
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
