"""A known file: a right or wrong answer kept to prove a grader, as its docstring tells it.

    \"\"\"What it does, in a sentence.

    hear: the sentence a learner should hear who hands in the same; it may
        go on in lines that are indented.
    hint: 3
    fails: test_a, test_b,
        test_c
    \"\"\"

`right/` files need only the first sentence, `stream/` files (right law, other random draws) no
`fails:`. `fails: all` stands for every check of the file's library. `hint:` is the number of the
hint in `problem.toml` that helps, if one does. A file is of another library than the problem's
first where its name ends in that library's: `ratio_inverted_numpy.py`.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from grader import submission_file
from grader.checkrun import declared
from grader.dev.complaints import Complaint
from grader.faults import UsageError
from grader.kit import Kit
from grader.problem import Problem

Kind = Literal["right", "wrong", "stream"]
KINDS: tuple[Kind, ...] = ("right", "wrong", "stream")
_FIELDS = ("hear", "hint", "fails")
_FIELD = re.compile(r"([a-z_]+):(?: (.*)|)$")


@dataclass(frozen=True)
class Known:
    """One known file. `fails` holds the names of checks; None where the file names none.

    lines: where "story" and each field of the docstring begin in the file.
    """

    slug: str
    kind: Kind
    path: Path
    file: str
    library: str
    story: str
    hear: str | None = None
    hint: int | None = None
    fails: frozenset[str] | None = None
    lines: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def name(self) -> str:
        return self.path.stem


def library_of(stem: str, libraries: Sequence[str]) -> str:
    """The library a known file is written in: told by the end of its name, else the first."""
    ending = stem.rpartition("_")[2]
    return ending if ending in libraries else libraries[0]


def known_files(kit: Kit, problem: Problem) -> tuple[list[Known], list[Complaint]]:
    """The known files of a problem by kind and name, and what is wrong with their docstrings."""
    found: list[Known] = []
    complaints: list[Complaint] = []
    if problem.solution_folder is None:
        return found, complaints
    names = {str(library): _checks(problem, library) for library in problem.libraries}
    for kind in KINDS:
        for path in sorted((problem.solution_folder / kind).glob("*.py")):
            library = library_of(path.stem, problem.libraries)
            reader = _Reader(path.relative_to(kit.root).as_posix(), kind, problem)
            try:
                submission_file.read(path)
            except UsageError as error:
                told = str(error).removeprefix(f"{path}: ")
                reader.complain(1, f"cannot be graded: {told}", "mend the file, or delete it")
                complaints += reader.complaints
                continue
            found.append(reader.read(path, library, names[library]))
            complaints += reader.complaints
    return found, complaints


def _checks(problem: Problem, library: str) -> list[str]:
    files = [problem.checks, *([problem.hidden] if problem.hidden else [])]
    return [name for path in files for name in declared(path, library)]


class _Reader:
    """Reads one docstring and keeps what it has to complain about."""

    def __init__(self, file: str, kind: Kind, problem: Problem) -> None:
        self.file, self.kind, self.problem = file, kind, problem
        self.complaints: list[Complaint] = []

    def read(self, path: Path, library: str, checks: Sequence[str]) -> Known:
        story, fields, lines = self._parts(path)
        hear = self._text(fields, lines, "hear", self.kind != "right")
        fails = self._fails(fields, lines, checks)
        return Known(
            slug=self.problem.slug,
            kind=self.kind,
            path=path,
            file=self.file,
            library=library,
            story=story,
            hear=hear,
            hint=self._hint(fields, lines),
            fails=fails,
            lines=MappingProxyType(lines),
        )

    def complain(self, line: int, text: str, cure: str) -> None:
        self.complaints.append(Complaint(self.file, line, "known file", text, cure))

    def _parts(self, path: Path) -> tuple[str, dict[str, str], dict[str, int]]:
        """The first paragraph, the fields, and where each begins."""
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError) as error:
            # A file that cannot be read as Python cannot carry its story; none of ours is meant to.
            line = getattr(error, "lineno", None) or 1
            self.complain(line, f"cannot be read as Python: {error}", "correct it, or delete it")
            return "", {}, {}
        text = ast.get_docstring(tree, clean=False)
        if not text or not text.strip():
            self.complain(1, "has no docstring", "say what it does in its first line")
            return "", {}, {"story": 1}
        first = tree.body[0].lineno
        story: list[str] = []
        fields: dict[str, str] = {}
        lines = {"story": first}
        current: str | None = None
        for number, line in enumerate(text.splitlines(), first):
            told = _FIELD.match(line)
            if told and told[1] in _FIELDS and told[1] not in fields:
                current = told[1]
                fields[current], lines[current] = told[2] or "", number
            elif told and told[1] in _FIELDS:
                self.complain(number, f"says `{told[1]}:` twice", "keep one of them")
            elif current and line.startswith(" ") and line.strip():
                fields[current] += " " + line.strip()
            else:
                current = None
                if not fields:
                    story.append(line)
        paragraph = "\n".join(story).strip().split("\n\n")[0]
        return " ".join(paragraph.split()), fields, lines

    def _text(
        self, fields: dict[str, str], lines: dict[str, int], name: str, wanted: bool
    ) -> str | None:
        text = fields.get(name, "").strip()
        if not text and wanted and lines:
            self.complain(
                lines.get(name, lines["story"]),
                f"does not say `{name}:`",
                f"add a line `{name}: …` to its docstring: the sentence that a learner should "
                "hear who hands in the same",
            )
        return text or None

    def _hint(self, fields: dict[str, str], lines: dict[str, int]) -> int | None:
        if "hint" not in fields:
            return None
        text, total = fields["hint"].strip(), len(self.problem.hints)
        if text.isdecimal() and 1 <= int(text) <= total:
            return int(text)
        self.complain(
            lines["hint"],
            f"`hint: {text}` is no hint of {self.problem.slug}",
            f"give a number from 1 to {total}, as `grade hint {self.problem.slug} --all` counts",
        )
        return None

    def _fails(
        self, fields: dict[str, str], lines: dict[str, int], checks: Sequence[str]
    ) -> frozenset[str] | None:
        if self.kind != "wrong":
            if "fails" in fields:
                self.complain(
                    lines["fails"],
                    f"says `fails:`, and lies in {self.kind}/",
                    "delete that line, or move the file to wrong/",
                )
            return None
        names = [name.strip() for name in fields.get("fails", "").split(",") if name.strip()]
        if names == ["all"]:
            return frozenset(checks)
        if not names and lines:
            self.complain(
                lines.get("fails", lines["story"]),
                "does not say which checks it `fails:`",
                f"name them in its docstring, or let `grade dev check {self.problem.slug} "
                "--write-fails` write what is observed, and read the difference",
            )
            return None
        for name in names:
            if names.count(name) > 1:
                self.complain(lines["fails"], f"names {name} twice", "name it once")
                names = [other for other in names if other != name] + [name]
            if name not in checks:
                near = difflib.get_close_matches(name, checks, n=1)
                guess = f" (did you mean {near[0]}?)" if near else ""
                self.complain(
                    lines["fails"],
                    f"names {name}, which is no check of its library{guess}",
                    "correct the name, or take it out",
                )
        return frozenset(names)
