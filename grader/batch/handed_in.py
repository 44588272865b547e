"""A class as it was handed in: one submission for each learner and problem.

Whatever is wrong with one file is told in that learner's row. Only a place that is no class at all
is refused. The layouts that are understood are told in `grader.batch.layouts`.
"""

from __future__ import annotations

import io
import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.batch import layouts, zips
from grader.batch.found import Listing, of_folder
from grader.batch.layouts import Handed, Learner, told
from grader.batch.same_source import source_group as source_group
from grader.clean import clean_line
from grader.faults import UsageError
from grader.submission_file import OutOfReach, SubmissionSource

Status = Literal["ready", "unreadable", "missing", "ambiguous"]

MOST_OWN_ARCHIVE = 4 * 1024**2  # bytes of a zip file that a learner handed in


@dataclass(frozen=True)
class Submission:
    """What a learner handed in for a problem. No two of a class have one learner and problem.

    learner: a name that is safe to show, and told apart from every other learner's.
    file: the name of the file, as the learner knows it, if it is clear which it is.
    source: the file, if `status` is "ready"; else `reason` says, for a person, why there is none.
    reason: of a ready one, why this file was taken before others, if there were any.
    out_of_reach: of an unreadable one, whether it is the machine that does not let it be read.
    """

    learner: str
    problem: str | None
    file: str | None
    source: SubmissionSource | None
    status: Status
    reason: str | None
    out_of_reach: bool = False


def read(place: Path, slugs: Sequence[str], problem: str | None = None) -> Iterator[Submission]:
    """The submissions in a folder or a zip file, by learner and problem, each read when it is due.

    With `problem` every learner has one row, for that problem. Without it a learner has a row for
    each problem that a file's or a folder's name tells, or one without a problem where none does.

    Raises UsageError, before anything is read, if there is no class at this place.
    """
    packed = not os.path.isdir(place)  # noqa: PTH112 (which raises where a folder is closed)
    archive = _archive(place) if packed else None
    try:
        listing = archive.listing() if archive else of_folder(place)
        name = place.stem if packed else place.resolve().name
        people = layouts.learners(listing, name, slugs, problem, packed=packed)
        if not people:
            raise UsageError(
                f"{place}: holds no class: no folder and no .py file; give the folder, or the zip "
                "file of a course platform, that holds a folder or a file for each learner"
            )
    except UsageError:
        if archive:
            archive.close()
        raise
    return _submissions(people, slugs, problem, archive)


def only(folder: Path, slugs: Sequence[str], problem: str) -> SubmissionSource:
    """The file for a problem in a folder that holds one learner's work and nobody else's.

    It is found as in a class. Raises UsageError where there is none, more than one, or it cannot be
    read; OutOfReach where that is not to be blamed on who handed it in.
    """
    listing = of_folder(folder)
    handed = [Handed(file, file.parts) for file in listing.files]
    learner = Learner("", handed=handed, closed=next(iter(listing.closed.values()), None))
    (found,) = _of(learner, "", slugs, problem, zips.Budget(zips.MOST_READ))
    if found.source is None:
        file = f"the file {found.file}: " if found.file else ""
        reason = found.reason
        # Whoever has put a folder in its place, or a dot before its name, did hand something in.
        if found.status == "missing" and (others := _passed_over(folder, listing)):
            reason = f"{reason}; passed over: {others}" if handed else f"no file, only {others}"
        raise (OutOfReach if found.out_of_reach else UsageError)(f"{folder}: {file}{reason}")
    return found.source


def python_files(folder: Path) -> str:
    """What lies in a folder by the name of a Python file, in words, also what would be passed over;
    nothing where there is no such thing, or no such folder."""
    try:
        names = sorted(path.name for path in folder.iterdir() if _is_python(path.name))
    except OSError:
        names = []
    return _list(names)


def _passed_over(folder: Path, listing: Listing) -> str:
    """What lies at the top of a folder and is not looked at, in words: folders without a file, and
    Python files with the name of a hidden one."""
    empty = {parts[0] for parts in listing.folders} - {file.parts[0] for file in listing.files}
    hidden = {path.name for path in folder.iterdir() if path.name.startswith(".")}
    found = [f"the folder {name}, with no file in it" for name in sorted(empty)]
    found += [f"{name}, hidden by its dot" for name in sorted(hidden) if _is_python(name)]
    return _list(found)


def _archive(place: Path) -> zips.Archive:
    try:
        file = place.open("rb") if os.path.isfile(place) else None  # noqa: PTH113 (as above)
    except OSError as error:
        raise UsageError(f"{place}: cannot be read ({error.strerror})") from None
    if file is None:
        raise UsageError(f"{place}: no such folder or zip file; check the name")
    try:
        return zips.Archive(file)
    except UsageError as error:
        if place.suffix.casefold() == ".py":
            raise UsageError(f"{place}: one file, not a class; grade it with grade run") from None
        raise UsageError(f"{place}: {error}") from None


def _submissions(
    people: list[Learner], slugs: Sequence[str], problem: str | None, archive: zips.Archive | None
) -> Iterator[Submission]:
    try:
        budget = archive.budget if archive else zips.Budget(zips.MOST_READ)
        for label, learner in sorted(_labels(people), key=lambda pair: pair[0]):
            budget.renew()
            yield from _of(learner, label, slugs, problem, budget)
    finally:
        if archive:
            archive.close()


# Names -------------------------------------------------------------------------------------------


def _labels(people: list[Learner]) -> list[tuple[str, Learner]]:
    """Each learner with a name that can be shown, and that no other has.

    Those who would be shown alike are told apart by the number their platform gives them, or else
    are counted: `ann`, `ann (2)`. The plain name is for whoever really has it: a name that only
    looks like it when it is shown must not take another learner's row.
    """
    people = sorted(people, key=lambda each: (_shown(each.name) != each.name, each.name, each.hint))
    shown = [_shown(learner.name) or "learner" for learner in people]
    often = Counter(shown)
    taken: set[str] = {name for name in shown if often[name] == 1}
    labels = []
    for name, learner in zip(shown, people, strict=True):
        if often[name] > 1:
            wanted = f"{name} ({_shown(learner.hint)})" if learner.hint else name
            label, number = wanted, 2
            while label in taken:
                label, number = f"{wanted} ({number})", number + 1
            taken.add(label)
            name = label
        labels.append((name, learner))
    return labels


def _shown(name: str) -> str:
    """A name that is safe to show, its letters composed (as macOS does not store them)."""
    return clean_line(unicodedata.normalize("NFC", name))


def _list(names: list[str]) -> str:
    shown = [_shown(name) or "a file without a name" for name in names[:5]]
    return ", ".join(shown) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


# One learner -------------------------------------------------------------------------------------


def _of(
    learner: Learner,
    label: str,
    slugs: Sequence[str],
    problem: str | None,
    budget: zips.Budget | None,
) -> Iterator[Submission]:
    handed, fault = _unpacked(learner.handed, budget)
    fault = learner.closed or fault
    by_name: dict[str | None, list[Handed]] = defaultdict(list)
    by_folder: dict[str | None, list[Handed]] = defaultdict(list)
    for each in handed:
        if _is_python(each.name):
            *folders, name = each.inside
            slug = _told(name, each, slugs, problem)
            if slug is not None:
                by_name[slug].append(each)
                continue
            tell = (_told(folder, each, slugs, problem) for folder in reversed(folders))
            by_folder[next(filter(None, tell), None)].append(each)

    if problem is None:
        named = sorted(slug for slug in {*by_name, *by_folder} if slug is not None)
    else:
        named = [problem]
    for slug in named:
        candidates = by_name[slug] or by_folder[slug] or (by_folder[None] if problem else [])
        if candidates:
            yield _chosen(label, slug, candidates)
        else:
            yield _nothing(label, slug, handed, fault)
    if not named:
        yield _nothing(label, None, handed, fault)


def _is_python(name: str) -> bool:
    return name.casefold().endswith(".py") and name != "__init__.py"


def _told(name: str, handed: Handed, slugs: Sequence[str], problem: str | None) -> str | None:
    """The problem that the name of a file or of a folder around it tells."""
    if handed.version:
        name = layouts.without_version(name)
    stem = name.rpartition(".")[0] if name.casefold().endswith((".py", ".zip")) else name
    return told(stem, slugs, problem)[0]


def _unpacked(handed: list[Handed], budget: zips.Budget | None) -> tuple[list[Handed], str | None]:
    """The files, with what is in zip files in place of those; and what is wrong with one of these.

    A zip file within a zip file that a learner handed in is left alone.
    """
    files, fault = [], None
    for each in handed:
        if not each.name.casefold().endswith(".zip"):
            files.append(each)
            continue
        try:
            data = each.file.content.data(MOST_OWN_ARCHIVE)
            inner = zips.Archive(io.BytesIO(data), budget).listing()
        except UsageError as error:
            fault = f"{_shown(each.name)}: {error}"
            continue
        packed = [Handed(file, (*each.inside, *file.parts), each.version) for file in inner.files]
        files += packed or [each]
    return files, fault


def _nothing(label: str, slug: str | None, handed: list[Handed], fault: str | None) -> Submission:
    """The row of a learner of whom there is no file for a problem."""
    python = [each.name for each in handed if _is_python(each.name)]
    if fault:
        return Submission(label, slug, None, None, "unreadable", fault)
    if not handed:
        reason = "nothing was handed in"
    elif not python:
        reason = f"no Python file, only {_list([each.name for each in handed])}"
    elif slug is not None:
        reason = f"no file for '{slug}', only {_list(python)}"
    else:
        reason = f"no name tells the problem ({_list(python)}); say --problem, or name it after one"
    return Submission(label, slug, None, None, "missing", reason)


def _chosen(label: str, slug: str, candidates: list[Handed]) -> Submission:
    """The row of a learner who handed in these files for a problem."""
    if len(candidates) > 1:
        candidates = [each for each in candidates if not _is_test(each.name)] or candidates
    reason = None
    if len(candidates) > 1:
        newest = _newest(candidates)
        if newest is None:
            names = _list(["/".join(each.inside) for each in candidates])
            reason = f"{len(candidates)} files for '{slug}': {names}; leave the one to be graded"
            return Submission(label, slug, None, None, "ambiguous", reason)
        names = _list([each.inside[0] for each in candidates])
        reason = f"{_shown(newest.inside[0])} is the newest of {names} by Canvas's numbers"
        candidates = [newest]
    only = candidates[0]
    name = _shown(only.name) or "submission"
    try:
        source = only.file.content.source(name)
    except UsageError as error:
        out_of_reach = isinstance(error, OutOfReach)
        return Submission(label, slug, name, None, "unreadable", str(error), out_of_reach)
    return Submission(label, slug, name, source, "ready", reason)


def _is_test(name: str) -> bool:
    return name.startswith("test_") or name == "conftest.py"


def _newest(candidates: list[Handed]) -> Handed | None:
    """The last upload, if the platform numbered them all as uploads of one name."""
    if any(each.version is None for each in candidates):
        return None
    names = {(layouts.without_version(each.inside[0]), *each.inside[1:]) for each in candidates}
    *_, last_but_one, last = sorted(candidates, key=lambda each: each.version or 0)
    return last if len(names) == 1 and last.version != last_but_one.version else None
