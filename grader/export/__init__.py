"""Results as other systems read them: one module for each format, of which only `render` is public.

An exporter sees a Report or a FaultReport and gives text; it reads no file and no clock, and prints
nothing. Only the module of the format that is asked for is imported.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from grader.report import FaultReport, Report

NAMES = (
    *("text", "json", "html", "gradescope", "prairielearn", "exercism"),
    *("github", "classroom", "classroom50", "junit"),
)
# Formats that name the submission by what the platform's own variables say of it.
_NAMING = frozenset({"classroom50"})


def render(
    name: str, report: Report | FaultReport, environment: Mapping[str, str] | None = None
) -> str:
    """The report in the format called `name` (one of NAMES, or `step_summary`).

    environment: of the process that the platform started, for formats that ask for it.

    Raises KitFault where the report is too large for the format, however much is left out.
    """
    exporter = importlib.import_module(f"{__name__}.{name}")
    known = (environment or {},) if name in _NAMING else ()
    text: str = exporter.render(report, *known)
    return text
