"""Writes a problem's `diagnosis.json`: what every known file answers on its diagnostic inputs.

Each file is asked twice. One that answers otherwise the second time cannot be recognised by its
answers, and one that is right on every question cannot be told from a right file: both are left
out, and told. So are files that did the same, fail the same public checks and have different
sentences: a learner could be told the wrong one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import diagnosis, score_file, submission_file, traces
from grader.checkrun import declared
from grader.dev.complaints import Complaint
from grader.dev.known import Known, known_files
from grader.diagnosis import Answer, Finding, Profile
from grader.faults import KitFault
from grader.grading import Grading, Request
from grader.kit import Kit
from grader.plugin import put_on_path
from grader.problem import Library, Problem
from grader.submission import NotLoaded
from grader.workers import Launcher, launcher


@dataclass(frozen=True)
class Written:
    """What was stored: how many files can be recognised, and why others cannot."""

    path: Path
    stored: int
    left_out: tuple[tuple[Known, str], ...]


def write(kit: Kit, problem: Problem) -> Written:
    """Asks all known files and writes the answers. Raises KitFault where the reference is wrong."""
    files, _ = known_files(kit, problem)
    put_on_path(kit)
    document: dict[str, Any] = {"format": diagnosis.FORMAT, "libraries": {}}
    stored, left_out = 0, []
    with contextlib.closing(launcher("auto")) as started:
        for library in problem.libraries:
            reference = _source(problem, library)
            _of_reference(kit, problem, library, reference, started)
            mine = [k for k in files if k.kind != "right" and k.library == library]
            entry, missing = _entry(kit, problem, library, mine, started)
            document["libraries"][library] = entry
            stored += len(entry["known"])
            left_out += missing
    path = diagnosis.path_of(problem)
    score_file.write(path, _text(document))
    return Written(path, stored, tuple(left_out))


def stale(kit: Kit, problem: Problem, files: Sequence[Known]) -> Iterator[Complaint]:
    """Whether what is stored was made from these files."""
    if not (problem.folder / "diagnosis.py").is_file():
        return
    path = diagnosis.path_of(problem)
    said = None
    if not path.is_file():
        said = "is missing"
    elif not readable(problem):
        said = "cannot be read; nothing of this problem can be graded"
    else:
        stored = diagnosis.load(problem)
        wanted = {name: _digest(problem, _of(files, name)) for name in problem.libraries}
        if {name: entry.digest for name, entry in stored.items()} != wanted:
            said = "was made from other files than these"
        elif not any(entry.profiles for entry in stored.values()):
            said = "recognises no file: its questions tell none of them from a right answer"
    if said is not None:
        yield Complaint(
            path.relative_to(kit.root).as_posix(),
            1,
            "diagnosis",
            said,
            f"write it anew: grade dev diagnose {problem.slug}",
        )


def readable(problem: Problem) -> bool:
    """Whether what is stored can be read, or nothing is."""
    try:
        diagnosis.load(problem)
    except KitFault:
        return False
    return True


def _of(files: Sequence[Known], library: str) -> list[Known]:
    return [known for known in files if known.kind != "right" and known.library == library]


def _source(problem: Problem, library: str) -> bytes:
    path = problem.solution(library)
    if path is None:
        raise KitFault(f"{problem.slug}: no reference for {library}; a diagnosis starts from it")
    return path.read_bytes()


def _of_reference(
    kit: Kit, problem: Problem, library: Library, source: bytes, started: Launcher
) -> None:
    """Raises KitFault unless the reference is right on every question."""
    for finding in _examined(kit, problem, library, source, started) or []:
        if finding is not None and finding.trace is not None:
            raise KitFault(
                f"problems/{problem.slug}/diagnosis.py: the reference is wrong on a question about "
                f"{finding.question.kind} ({finding.question.case.note}): {finding.trace}"
            )


def _examined(
    kit: Kit, problem: Problem, library: Library, source: bytes, started: Launcher
) -> list[Finding | None] | None:
    request = Request(
        kit=kit, problem=problem, source=source, library=library, device="cpu", seed=0, hidden=False
    )
    with Grading(request, started) as grading:
        try:
            return diagnosis.examine(grading)
        except NotLoaded:
            return None


def _entry(
    kit: Kit, problem: Problem, library: Library, files: Sequence[Known], started: Launcher
) -> tuple[dict[str, Any], list[tuple[Known, str]]]:
    """What is stored for one library, and the files left out of it."""
    public = set(declared(problem.checks, library))
    answers: list[list[Answer]] = []
    profiles: list[tuple[Known, Profile]] = []
    left_out: list[tuple[Known, str]] = []
    for known in files:
        source = submission_file.read(known.path).text.encode()
        rows = []
        for _ in range(2):
            found = _examined(kit, problem, library, source, started)
            if found is None or known.hear is None:
                break
            answers = answers or [[] for _ in found]
            rows.append(tuple(map(_place, answers, found)))
        if len(rows) < 2:
            left_out.append((known, "does not answer to the end"))
        elif rows[0] != rows[1]:
            left_out.append((known, "answers otherwise the second time"))
        elif not any(rows[0]):
            left_out.append((known, "is right on every question"))
        else:
            fails = frozenset(known.fails or ()) & public
            profiles.append((known, Profile(known.hear or "", known.hint, fails, rows[0])))
    kept: list[Profile] = []
    for known, profile in profiles:
        twins = [
            other.name
            for other, it in profiles
            if (it.row, it.fails) == (profile.row, profile.fails)
            and it.sentence != profile.sentence
        ]
        if twins:
            left_out.append((known, f"does all that {', '.join(twins)} does"))
        else:
            kept.append(profile)
    table, used = _table(_used(answers, kept))
    return {
        "digest": _digest(problem, files),
        "traces": table,
        "answers": used,
        "known": [
            {"sentence": p.sentence, "hint": p.hint, "fails": sorted(p.fails), "row": list(p.row)}
            for p in kept
        ],
    }, left_out


def _place(answers: list[Answer], finding: Finding | None) -> int:
    """Which of the answers to a question was given, from 1; 0 where it was right. Adds new ones."""
    if finding is None or finding.trace is None:
        return 0
    for place, answer in enumerate(answers, 1):
        if traces.alike(answer.trace, finding.trace, finding.eps):
            return place
    answers.append(Answer(finding.trace, finding.like))
    return len(answers)


def _used(answers: Sequence[Sequence[Answer]], kept: list[Profile]) -> list[list[dict[str, Any]]]:
    """The answers that a kept profile gives; places are changed to match."""
    used = []
    for place, known in enumerate(answers):
        wanted = sorted({profile.row[place] for profile in kept} - {0})
        renumbered = {0: 0} | {old: new for new, old in enumerate(wanted, 1)}
        for i, profile in enumerate(kept):
            row = list(profile.row)
            row[place] = renumbered[row[place]]
            kept[i] = Profile(profile.sentence, profile.hint, profile.fails, tuple(row))
        used.append(
            [known[i - 1].trace | ({"like": True} if known[i - 1].like else {}) for i in wanted]
        )
    return used


def _table(
    answers: Sequence[Sequence[dict[str, Any]]],
) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Each trace once, and the answers by their places among them: many questions share some."""
    places: dict[str, int] = {}
    table: list[dict[str, Any]] = []
    for answer in (answer for question in answers for answer in question):
        if (key := _json(answer)) not in places:
            places[key] = len(table)
            table.append(answer)
    return table, [[places[_json(answer)] for answer in question] for question in answers]


def _digest(problem: Problem, files: Sequence[Known]) -> str:
    """What the stored answers depend on, by content."""
    digest = hashlib.sha256()
    sources = [path for path in sorted(problem.folder.glob("*.py")) if path.name != "checks.py"]
    for path in (*sources, *(known.path for known in files)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _text(document: dict[str, Any]) -> str:
    """The document with a line for every question and every known file, for readable diffs."""
    libraries = []
    for name, entry in document["libraries"].items():
        parts = [
            f'   "{key}": [\n' + ",\n".join(f"    {_json(each)}" for each in entry[key]) + "\n   ]"
            for key in ("traces", "answers", "known")
        ]
        digest = f'   "digest": {_json(entry["digest"])}'
        libraries.append(f"  {_json(name)}: {{\n" + ",\n".join([digest, *parts]) + "\n  }")
    inner = ",\n".join(libraries)
    stored = f' "libraries": {{\n{inner}\n }}\n}}\n'
    contents = diagnosis.contents_digest(stored)
    return f'{{\n "format": {document["format"]},\n "contents": "{contents}",\n{stored}'


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=True)
