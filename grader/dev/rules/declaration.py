"""`problem.toml`: it loads, its limits leave room for a call, and no hint stands there twice."""

from __future__ import annotations

import re

from grader import problem as problems
from grader.dev.rules.findings import Findings
from grader.dev.rules.toml_place import line_of
from grader.faults import KitFault
from grader.problem import Problem


def load(findings: Findings, slug: str) -> Problem | None:
    """The problem, or None where its file is broken: then that is the complaint."""
    try:
        return problems.load(findings.kit, slug)
    except KitFault as fault:
        path = findings.kit.problems / slug / "problem.toml"
        text = str(fault).removeprefix(f"{findings.name(path)}: ")
        content = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        findings.complain(path, _line(text, content), text, _cure(text))
        return None


def _line(told: str, content: str) -> int:
    """The line that a fault of the file is about, as far as it says so."""
    if at := re.search(r"at line (\d+)", told):
        return int(at[1])
    if at := re.search(r"not UTF-8 at byte (\d+)", told):
        return content.encode()[: int(at[1])].count(b"\n") + 1
    if "at end of document" in told:
        return max(1, len(content.splitlines()))
    key = re.search(r"'([^']+)'", told)
    return line_of(content, key[1]) if key else 1


def _cure(told: str) -> str:
    key = re.search(r"'([^']+)'", told)
    name = key[1].rpartition(".")[2] if key else ""
    if told.startswith("not UTF-8"):
        return "save the file as UTF-8"
    if told.startswith("not valid TOML"):
        return "correct the TOML of this line"
    if "is missing" in told:
        return f"add `{name} = …`"
    if meant := re.search(r"did you mean '([^']+)'", told):
        return f"write `{meant[1]}`"
    return f"delete `{name}`" if told.startswith("unknown key") else f"correct `{name}`"


def rules(findings: Findings, problem: Problem) -> None:
    path = problem.folder / "problem.toml"
    content = path.read_text(encoding="utf-8")
    limits = problem.limits
    if limits.call > limits.submission:
        findings.complain(
            path,
            line_of(content, "limits.call"),
            f"one call may take {limits.call:g} seconds and the whole submission only "
            f"{limits.submission:g}",
            f"write `submission = {limits.call:g}` or more, or a smaller `call`",
        )
    seen: dict[str, int] = {}
    for number, hint in enumerate(problem.hints, 1):
        plain = " ".join(hint.lower().split())
        if plain in seen:
            findings.complain(
                path,
                _line_of_hint(content, hint),
                f"hint {number} says what hint {seen[plain]} says",
                "delete one of them; a learner who asks for another hint must get another one",
            )
        seen.setdefault(plain, number)


def _line_of_hint(content: str, hint: str) -> int:
    """The last line that a hint begins in: of two that are equal, the second."""
    first, start = line_of(content, "hints"), hint.strip().splitlines()[0][:30]
    lines = enumerate(content.splitlines(), 1)
    return max([first, *(number for number, line in lines if number > first and start in line)])
