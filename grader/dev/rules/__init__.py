"""What can be said of a kit's files without grading anything.

`static`: the files of one problem agree with each other. `strays`: no file lies where no rule puts
it, and every one is text. A file that cannot be read may be told by both, in equal complaints. One
module a kind of file; each complains of what it reads and of nothing else.
"""

from __future__ import annotations

from grader.dev.complaints import Complaint
from grader.dev.rules.checks import rules as of_checks
from grader.dev.rules.code import rules as of_code
from grader.dev.rules.declaration import load
from grader.dev.rules.declaration import rules as of_declaration
from grader.dev.rules.examples import rules as of_examples
from grader.dev.rules.findings import Findings
from grader.dev.rules.pages import rules as of_pages
from grader.dev.rules.places import rules as of_places
from grader.kit import Kit

__all__ = ["static", "strays"]


def static(kit: Kit, slug: str) -> list[Complaint]:
    """The complaints about the files of one problem, by file and line.

    Raises UsageError if the kit has no problem of that name. What a known file says of itself is
    read by `grader.dev.known`.
    """
    findings = Findings(kit)
    problem = load(findings, slug)
    if problem is not None:
        for rules in (of_declaration, of_checks, of_code, of_pages, of_examples):
            rules(findings, problem)
    return findings.sorted()


def strays(kit: Kit) -> list[Complaint]:
    """The complaints about files and folders that no rule knows, by file."""
    findings = Findings(kit)
    of_places(findings)
    return findings.sorted()
