"""Mutants: small slips in a reference, each of which some check has to notice.

A mutant is a reference with one thing changed: a number, an operator, an argument left out. Each is
graded like a submission, hidden checks and all. It is killed where a check fails, be it for extra
credit. A survivor is either a gap in the checks or no mistake at all. Those of the second kind are
recorded in `solutions/<slug>/mutants.toml`, each with its reason:

    [[equivalent]]
    file = "solution.py"
    before = "total = leftover.sum()"
    after = "total = leftover.sum(None)"
    reason = "None is the default: all axes."

`before` and `after` are the changed line, without indentation and comment, so that a record
outlives edits around it. Where two lines of a file give the same pair, `nth = 2` means the second.

A killed mutant may be told a likely cause (`grader.diagnosis`). Each such sentence has to have been
found true of that mutant by somebody, and is recorded in the same file, as [[told]] with `sentence`
in place of `reason`: no slip that nobody thought of may be accused of another.

The changes are those of mutmut (`mutmut.mutation.mutators`), taken from its table of operators. Its
own front end would read a configuration from the current folder, leave functions with a decorator
and calls of `len` alone, and put all mutants into one module with switches, which is not what a
learner hands in; so the walk through the source is made here. cosmic-ray was the other choice: it
changes comparisons in more ways, but never drops an argument, and in tensor code a forgotten
`dtype=`, `device=` or `generator=` is the likelier slip. Annotations and docstrings are left alone.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import io
import json
import tokenize
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.dev.complaints import Complaint
from grader.dev.survey import lost
from grader.faults import UsageError
from grader.kit import Kit
from grader.lanes import Job, grade_all
from grader.problem import Problem
from grader.report import FaultReport, Report
from grader.score import no_device
from grader.submission_file import SubmissionSource

if TYPE_CHECKING:
    import libcst

# A node of the source, and what may stand in its place.
Operator = Callable[[Any], Iterable["libcst.CSTNode"]]


@dataclass(frozen=True)
class Mutant:
    """One reference with one change.

    file: from the kit's root. line: of the change in that file. before, after: the changed line,
    bare; more lines than one are joined with a newline. nth: which of the mutants of this file with
    the same change, from 1. text: the whole mutant.
    """

    file: str
    library: str
    line: int
    before: str
    after: str
    nth: int
    text: str

    @property
    def key(self) -> str:
        """What names the mutant, whatever is edited around it."""
        return _key(self.file, self.before, self.after, self.nth)

    def source(self) -> SubmissionSource:
        """The mutant as a file that is handed in."""
        data = self.text.encode()
        name = self.file.rpartition("/")[2]
        return SubmissionSource(name, self.text, hashlib.sha256(data).hexdigest(), len(data))


@dataclass(frozen=True)
class Outcome:
    """What came of the mutants of one problem, by their keys.

    killed: the checks that each of them failed. equivalents: the reason recorded for a survivor.
    undecided: why a mutant could not be judged here.
    """

    mutants: tuple[Mutant, ...]
    killed: Mapping[str, frozenset[str]]
    equivalents: Mapping[str, str]
    undecided: Mapping[str, str]
    complaints: tuple[Complaint, ...]

    def lines(self) -> list[str]:
        """A line for each reference, and under it what survived, each as a difference of lines."""
        told = []
        for file in dict.fromkeys(mutant.file for mutant in self.mutants):
            here = [mutant for mutant in self.mutants if mutant.file == file]
            counts = Counter(self.state(mutant) for mutant in here)
            summary = f"Mutants of {file}: {len(here)}, killed {counts['killed']}"
            summary += f", equivalent {counts['equivalent']}, unexplained {counts['unexplained']}"
            if counts["undecided"]:
                summary += f", undecided {counts['undecided']}"
            told.append(summary)
            for mutant in here:
                if self.state(mutant) in ("equivalent", "unexplained"):
                    told += self._survivor(mutant)
            reasons = Counter(self.undecided.get(mutant.key) for mutant in here)
            told += [f"  undecided {n}: {reason}" for reason, n in reasons.items() if reason]
        return told

    def state(self, mutant: Mutant) -> str:
        """One of "killed", "equivalent", "undecided", "unexplained"."""
        if mutant.key in self.killed:
            return "killed"
        if mutant.key in self.equivalents:
            return "equivalent"
        return "undecided" if mutant.key in self.undecided else "unexplained"

    def _survivor(self, mutant: Mutant) -> list[str]:
        reason = self.equivalents.get(mutant.key, "no check fails")
        return [
            f"  line {mutant.line}, {self.state(mutant)}: {reason}",
            *(f"    - {line}" for line in mutant.before.splitlines()),
            *(f"    + {line}" for line in mutant.after.splitlines()),
        ]


# ---- making them


def mutants(problem: Problem) -> list[Mutant]:
    """The mutants of every reference of a problem, in the order of their lines.

    Raises UsageError where mutmut is not installed.
    """
    found: list[Mutant] = []
    for library in problem.libraries:
        path = problem.solution(library)
        if path is not None:
            file = f"solutions/{problem.slug}/{path.name}"
            found += mutants_of(path.read_text(encoding="utf-8"), file, library)
    return found


def mutants_of(text: str, file: str, library: str) -> list[Mutant]:
    """The mutants of one source text."""
    cst, operators = _tools()
    # Cloned, because a parsed tree may hold one node in two places, and a change is one place.
    module = cst.parse_module(text).deep_clone()
    plain = _bare_lines(text)
    seen, pairs = {text}, Counter[tuple[str, str]]()
    found = []
    for node, other in _changes(module, operators):
        mutated = module.deep_replace(node, other).code
        if mutated in seen or not _is_python(mutated):
            continue
        seen.add(mutated)
        line, before, after = _difference(plain, _bare_lines(mutated))
        pairs[before, after] += 1
        nth = pairs[before, after]
        found.append(Mutant(file, library, line, before, after, nth, mutated))
    return sorted(found, key=lambda mutant: mutant.line)


def _tools() -> tuple[Any, Sequence[tuple[type, Operator]]]:
    try:
        import libcst
        from mutmut.mutation.mutators import mutation_operators
    except ImportError as error:
        raise UsageError(
            f"mutants are made with mutmut, which is not installed ({error.name}); "
            'in the checkout, say pip install -c constraints.txt -e ".[test]"'
        ) from None
    return libcst, mutation_operators


def _changes(
    node: libcst.CSTNode, operators: Sequence[tuple[type, Operator]]
) -> Iterator[tuple[libcst.CSTNode, libcst.CSTNode]]:
    """Every node below `node` with each of the nodes that may stand in its place."""
    if type(node).__name__ == "Annotation" or _is_docstring(node):
        return
    for kind, operator in operators:
        if isinstance(node, kind):
            for other in operator(node):
                yield node, other
    for child in node.children:
        yield from _changes(child, operators)


def _is_docstring(node: libcst.CSTNode) -> bool:
    return type(node).__name__ == "Expr" and "String" in type(node.children[0]).__name__


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _bare_lines(text: str) -> list[str]:
    """The lines of a source without indentation and comments."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return [line.strip() for line in lines]


def _difference(before: list[str], after: list[str]) -> tuple[int, str, str]:
    """Where two lists of lines begin to differ, from 1, and the lines that do."""
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    return start + 1, "\n".join(old), "\n".join(new)


# ---- judging them


def examine(
    kit: Kit,
    problem: Problem,
    seed: int,
    lanes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Grades every mutant of a problem and compares the survivors with the record.

    seed: of the hidden checks. lanes: gradings side by side; one a core unless given. progress: is
    told after each grading how many there have been, and of how many. Raises UsageError where
    mutmut is not installed.
    """
    made = mutants(problem)
    jobs = [Job(problem.slug, mutant.source(), mutant.library, seed) for mutant in made]
    reports: dict[str, Report | FaultReport] = {}
    for place, report in grade_all(kit, jobs, lanes):
        reports[made[place].key] = report
        if progress:
            progress(len(reports), len(jobs))
    return judge(made, reports, Record.read(problem))


def judge(
    made: Sequence[Mutant], reports: Mapping[str, Report | FaultReport], record: Record
) -> Outcome:
    """What follows from the reports, by the keys of the mutants, and the record."""
    killed: dict[str, frozenset[str]] = {}
    equivalents: dict[str, str] = {}
    undecided: dict[str, str] = {}
    complaints = list(record.complaints)
    faults: set[str] = set()
    for mutant in made:
        report, recorded = reports[mutant.key], record.entries.get(mutant.key)
        if isinstance(report, FaultReport):
            # A broken reference says the same of each of its mutants: once is enough.
            if report.message not in faults:
                complaints.append(_fault(mutant, report))
            faults.add(report.message)
            undecided[mutant.key] = "the kit itself fails with it"
        elif failed := lost(report):
            killed[mutant.key] = failed
            complaints += _accused(record, mutant, report)
            if recorded:
                complaints.append(_not_equivalent(record, recorded, failed))
        elif recorded:
            equivalents[mutant.key] = recorded.reason
        elif any(no_device(check) for check in report.checks):
            undecided[mutant.key] = "a check on a device might fail, but cannot be run here"
        else:
            complaints.append(_unexplained(record, mutant))
    keys = [mutant.key for mutant in made]
    for entries in (record.entries, record.told):
        complaints += [
            _gone(record, entry, keys) for key, entry in entries.items() if key not in keys
        ]
    return Outcome(tuple(made), killed, equivalents, undecided, tuple(complaints))


def _complaint(file: str, line: int, text: str, cure: str) -> Complaint:
    return Complaint(file=file, line=line, rule="mutants", text=text, cure=cure)


def _fault(mutant: Mutant, report: FaultReport) -> Complaint:
    cure = f"mend {report.check}: a check has to be able to judge any answer"
    return _complaint(
        mutant.file,
        mutant.line,
        f"with {_change(mutant)} the kit itself fails: {report.message}",
        cure if report.check else "mend what is named there",
    )


def _unexplained(record: Record, mutant: Mutant) -> Complaint:
    return _complaint(
        mutant.file,
        mutant.line,
        f"no check notices {_change(mutant)}",
        "let a check fail with it (a wrong file can show the gap); or, where no caller can see a "
        f"difference, record it in {record.file}:\n{_block('equivalent', mutant, 'reason', '…')}",
    )


def _not_equivalent(record: Record, entry: Entry, failed: frozenset[str]) -> Complaint:
    return _complaint(
        record.file,
        entry.line,
        f"recorded as equivalent, but {', '.join(sorted(failed))} fails with {_change(entry)}",
        "take the record out; if the mutant is right all the same, mend the check",
    )


def _accused(record: Record, mutant: Mutant, report: Report) -> Iterator[Complaint]:
    """What a mutant is told has to be what is recorded as true of it."""
    told = report.likely_cause and report.likely_cause.sentence
    recorded = record.told.get(mutant.key)
    if told == (recorded and recorded.reason):
        return
    said = f"recorded is “{recorded.reason}”" if recorded else "nobody has said that it is true"
    cure = (
        "if that is not true of it, add an input to diagnosis.py that tells the two apart; else "
        f"record it in {record.file}:\n{_block('told', mutant, 'sentence', told or '')}"
    )
    yield _complaint(
        record.file if recorded else mutant.file,
        recorded.line if recorded else mutant.line,
        f"{_change(mutant)} is told {f'“{told}”' if told else 'no likely cause'}, and {said}",
        cure if told else "take the record out, or mend diagnosis.py",
    )


def _block(kind: str, mutant: Mutant, name: str, text: str) -> str:
    """The record of a mutant, to be pasted."""
    fields = {
        "file": mutant.file.rpartition("/")[2],
        "before": mutant.before,
        "after": mutant.after,
        name: text,
    }
    nth = [f"nth = {mutant.nth}"] if mutant.nth > 1 else []
    # A text of JSON is one of TOML too.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    return "\n".join(f"    {line}" for line in (f"[[{kind}]]", *lines, *nth))


def _gone(record: Record, entry: Entry, keys: Sequence[str]) -> Complaint:
    near = difflib.get_close_matches(entry.key, keys, n=1)
    guess = f"; the nearest there is: {near[0]}" if near else ""
    return _complaint(
        record.file,
        entry.line,
        f"records a mutant that does not exist: {entry.key}",
        f"take the record out, or correct it{guess}",
    )


def _change(what: Mutant | Entry) -> str:
    return f"`{what.before}` → `{what.after}`"


# ---- the record


@dataclass(frozen=True)
class Entry:
    """One record: an equivalent with its reason, or a sentence told. line: where it begins."""

    key: str
    before: str
    after: str
    reason: str
    line: int


@dataclass(frozen=True)
class Record:
    """The equivalents of a problem by key, what mutants are told, and what is wrong with both."""

    file: str
    entries: Mapping[str, Entry]
    complaints: tuple[Complaint, ...] = ()
    told: Mapping[str, Entry] = field(default_factory=dict)

    @classmethod
    def read(cls, problem: Problem) -> Record:
        """The record of a problem: none is the same as an empty one."""
        file = f"solutions/{problem.slug}/mutants.toml"
        path = problem.solution_folder and problem.solution_folder / "mutants.toml"
        if path is None or not path.is_file():
            return cls(file, {})
        try:
            return cls.parse(file, path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            wrong = _complaint(file, 1, "is not UTF-8", "save it as UTF-8")
            return cls(file, {}, (wrong,))

    @classmethod
    def parse(cls, file: str, text: str) -> Record:
        """The record in `text`, a file called `file`."""
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            return cls(file, {}, (_complaint(file, 1, f"is not TOML: {error}", _FORM),))
        stray = [f"'{name}'" for name in tables if name not in _KINDS]
        stray += [f"one [{name}]" for name in _KINDS if not isinstance(tables.get(name, []), list)]
        if stray:
            wrong = f"has {', '.join(stray)} beside [[equivalent]] and [[told]] tables"
            return cls(file, {}, (_complaint(file, 1, wrong, _FORM),))
        found: dict[str, dict[str, Entry]] = {kind: {} for kind in _KINDS}
        complaints = []
        for kind, entries in found.items():
            head = f"[[{kind}]]"
            starts = [i for i, line in enumerate(text.splitlines(), 1) if line.startswith(head)]
            listed = tables.get(kind, [])
            if len(starts) != len(listed):  # written in another way than [[…]] at a line's start
                starts = [1] * len(listed)
            for table, line in zip(listed, starts, strict=True):
                entry = _entry(file, table, line, _KINDS[kind])
                if entry is None:
                    complaints.append(_complaint(file, line, "is no complete record", _FORM))
                elif entry.key in entries:
                    twice = f"is recorded twice: {entry.key}"
                    complaints.append(_complaint(file, line, twice, "keep one of them"))
                else:
                    entries[entry.key] = entry
        return cls(file, found["equivalent"], tuple(complaints), found["told"])


_KINDS = {"equivalent": "reason", "told": "sentence"}  # each with the text it carries
_FORM = (
    "each record is [[equivalent]] with file, before, after and reason, or [[told]] with sentence "
    "in place of reason, all texts; and nth, a number from 1, where two mutants are alike"
)


def _entry(file: str, table: Any, line: int, text_name: str) -> Entry | None:
    fields: dict[str, Any] = {"nth": 1}
    fields |= table if isinstance(table, dict) else {}
    if fields.keys() != {"file", "before", "after", text_name, "nth"}:
        return None
    fields["reason"] = fields.pop(text_name)
    nth = fields.pop("nth")
    if type(nth) is not int or nth < 1:
        return None
    if not all(type(text) is str for text in fields.values()):
        return None
    # A change may take whole lines away, and leave nothing; the others say something.
    if not all(fields[name].strip() for name in ("file", "before", "reason")):
        return None
    mutated = f"{file.rpartition('/')[0]}/{fields['file']}"
    key = _key(mutated, fields["before"], fields["after"], nth)
    return Entry(key, fields["before"], fields["after"], fields["reason"], line)


def _key(file: str, before: str, after: str, nth: int) -> str:
    again = f" ({nth})" if nth > 1 else ""
    return f"{file}: {before} → {after}{again}"
