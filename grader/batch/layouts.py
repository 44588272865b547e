"""Whose work lies where: the ways in which a class comes, and the learners that each names.

A place may hold, mixed at will, a folder for each learner and single files named after them
(`ann.py`, `verify_ann.py`, `ann_verify.py`, `ann--verify.py`), or what a course platform exports:

Canvas      a flat archive of `<name>[_LATE]_<user>_<upload>_<file>`, where the name is the sortable
            one in small letters without spaces. In an anonymous course it is `anon_<letters>`. Text
            typed in the browser comes as `<name>[_LATE]_<user>_text.html`. When a learner uploads a
            file of a name used before, Canvas adds -1, -2, … before the suffix.
Moodle      a folder `<full name>_<number>_assignsubmission_file_` for each learner (recent versions
            leave out the last underscore, `onlinetext` in place of `file` is text typed in the
            browser), or the same before the file's name in a flat archive. Underscores of a name
            become spaces; participants of a group come as one, the default group without a number.
Gradescope  `assignment_<number>_export/submission_<number>/…`, and beside those folders
            `submission_metadata.yml`, which tells who handed each in: one person or several.

Nothing is lost or merged in silence: whatever is no junk and looks like a submission has an owner.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from grader.batch.found import File, Listing, Parts, may_be_work
from grader.faults import UsageError

ROSTER = "submission_metadata.yml"
_MOST_ROSTER = 4 * 1024**2


@dataclass(frozen=True)
class Handed:
    """A file that a learner handed in. inside: where it lay, as the learner sees it.

    version: which upload of this name it is, where the platform numbers them.
    """

    file: File
    inside: Parts
    version: int | None = None

    @property
    def name(self) -> str:
        return self.inside[-1]


@dataclass
class Learner:
    """One who handed in something, or nothing. hint: tells two learners of one name apart."""

    name: str
    hint: str = ""
    handed: list[Handed] = field(default_factory=list)
    closed: str | None = None  # why the folder was not looked into


# The problem that a name tells -------------------------------------------------------------------

_SEPARATORS = "_-. "


def told(stem: str, slugs: Iterable[str], problem: str | None = None) -> tuple[str | None, str]:
    """The problem that a name begins or ends with, and the rest of the name.

    The one asked for comes before the others, one at the beginning before one at the end, and the
    longest wins. Case does not matter, nor does the ` (1)` that browsers and file managers add.
    """
    copy = _COPY.search(stem)
    bare, mark = (stem[: copy.start()], stem[copy.start() :]) if copy else (stem, "")
    for some in ([problem] if problem else [], sorted(slugs, key=len, reverse=True)):
        for pattern in (r"{}(?=$|[-_. ])(?P<rest>.*)", r"(?P<rest>.*)(?<![^-_. ]){}"):
            for slug in some:
                spelled = re.sub(r"[-_]", "[-_ ]", re.escape(slug).replace("\\-", "-"))
                match = re.fullmatch(pattern.format(spelled), bare, re.IGNORECASE | re.DOTALL)
                if match:
                    rest = match["rest"].strip(_SEPARATORS)
                    return slug, rest + mark if rest else stem if mark else ""
    return None, stem


_COPY = re.compile(r"(?<!\s)\s*\(\d{1,3}\)$")


# The learners of a place -------------------------------------------------------------------------


def learners(
    listing: Listing, place: str, slugs: Sequence[str], problem: str | None, *, packed: bool
) -> list[Learner]:
    """Every learner of a place, whatever its layout. packed: it is a zip file.

    place is the name of a learner whose files are named after problems alone.
    """
    listing = _unwrapped(listing, slugs, problem, packed=packed)
    known: dict[tuple[str, str], Learner] = {}

    def learner(name: str, hint: str = "") -> Learner:
        return known.setdefault((name, hint), Learner(name, hint))

    people = _roster(listing)
    for folder, submitters in people.items():
        for name, hint in submitters:
            known[folder, name + "\0" + hint] = Learner(name, hint)

    def owners(head: str) -> list[Learner]:
        """The learners of a folder."""
        if head in people:
            return [known[head, name + "\0" + hint] for name, hint in people[head]]
        moodle = _MOODLE_FOLDER.fullmatch(head)
        return [learner(moodle["name"], moodle["id"] or "") if moodle else learner(head)]

    for parts in listing.folders:
        for owner in owners(parts[0]):
            if parts in listing.closed:
                owner.closed = listing.closed[parts]
    canvas = _is_canvas(listing)
    for file in listing.files:
        head, *rest = file.parts
        if rest:
            for owner in owners(head):
                owner.handed.append(Handed(file, tuple(rest)))
        elif moodle := _MOODLE_FILE.fullmatch(head):
            learner(moodle["name"], moodle["id"] or "").handed.append(
                Handed(file, (moodle["original"],))
            )
        elif canvas and (match := _canvas(head)):
            name, user, original, version = match
            learner(name or user, user).handed.append(Handed(file, (original,), version))
        elif may_be_work(file.name):
            stem = head.rpartition(".")[0]
            _slug, name = told(stem, slugs, problem)
            learner(name or place).handed.append(Handed(file, (head,)))
    return list(known.values())


def _unwrapped(
    listing: Listing, slugs: Sequence[str], problem: str | None, *, packed: bool
) -> Listing:
    """The listing without the single folder that an archive of a class is often wrapped in."""
    for _ in range(3):
        heads = {parts[0] for parts in listing.folders}
        direct = [file for file in listing.files if len(file.parts) == 1]
        if len(heads) != 1 or any(may_be_work(file.name) for file in direct) or _is_export(listing):
            break
        inner = listing.inside(*heads)
        if not (_is_export(inner) or (packed and _is_class(inner, slugs, problem))):
            break
        listing = inner
    return listing


def _is_export(listing: Listing) -> bool:
    """Whether a place is beyond doubt what a platform exports."""
    names = {file.name for file in listing.files if len(file.parts) == 1}
    folders = {parts[0] for parts in listing.folders}
    return (
        ROSTER in names
        or any(map(_MOODLE_FILE.fullmatch, names))
        or any(map(_MOODLE_FOLDER.fullmatch, folders))
        or any(re.fullmatch(r"submission_\d+", folder) for folder in folders)
        or _is_canvas(listing)
    )


def _is_class(listing: Listing, slugs: Sequence[str], problem: str | None) -> bool:
    """Whether a folder holds the work of two learners or more, rather than being one's own.

    It does if there are only folders or only files in it, and they are named after anything but
    problems. A single learner's archive of two such is read wrongly; who grades a class has more.
    """
    folders = {parts[0] for parts in listing.folders}
    files = [file.name for file in listing.files if len(file.parts) == 1 and may_be_work(file.name)]
    if folders and files:
        return False
    names = folders or {name.rpartition(".")[0] for name in files}
    return len({told(name, slugs, problem)[1] for name in names} - {""}) > 1


# Canvas ------------------------------------------------------------------------------------------

# `_<number>_<number>_` cannot be in the name: Canvas takes the underscores out of it.
_CANVAS_FILE = re.compile(r"(?P<name>.*?)(?:_LATE)?_(?P<user>\d+)_\d+_(?P<original>.+)", re.DOTALL)
_CANVAS_ANONYMOUS = re.compile(r"(?:LATE_)?(?P<name>anon_[^_]+)_\d+_(?P<original>.+)", re.DOTALL)
_CANVAS_TEXT = re.compile(
    r"(?P<name>.*?)(?:_LATE)?_(?P<user>\d+)_(?P<original>(?:text|link)\.html)"
)
_CANVAS_VERSION = re.compile(r"(?P<before>.+)-(?P<number>\d{1,6})(?P<suffix>\.\w+)", re.DOTALL)


def _canvas(name: str) -> tuple[str, str, str, int] | None:
    """Name, number, the file's own name and its version, of a file that Canvas exported."""
    for pattern in (_CANVAS_ANONYMOUS, _CANVAS_FILE, _CANVAS_TEXT):
        if match := pattern.fullmatch(name):
            version = _CANVAS_VERSION.fullmatch(match["original"])
            return (
                match["name"],
                match.groupdict().get("user") or "",
                match["original"],
                int(version["number"]) if version else 0,
            )
    return None


def without_version(name: str) -> str:
    """A file's name before Canvas numbered it."""
    version = _CANVAS_VERSION.fullmatch(name)
    return version["before"] + version["suffix"] if version else name


def _is_canvas(listing: Listing) -> bool:
    """Whether all files at the top that may be work have the names that Canvas gives."""
    names = [file.name for file in listing.files if len(file.parts) == 1]
    work = [file.name for file in listing.files if len(file.parts) == 1 and may_be_work(file.name)]
    return any(map(_canvas, names)) and all(map(_canvas, work))


# Moodle ------------------------------------------------------------------------------------------

_MOODLE = r"(?P<name>.*?)(?:_(?P<id>\d+))?_assignsubmission_[a-z0-9]+"
_MOODLE_FOLDER = re.compile(_MOODLE + "_?", re.DOTALL)
_MOODLE_FILE = re.compile(_MOODLE + "_(?P<original>.+)", re.DOTALL)


# Gradescope --------------------------------------------------------------------------------------


def _roster(listing: Listing) -> dict[str, list[tuple[str, str]]]:
    """The submitters that a Gradescope export names, by folder: name, and student or other number.

    A roster that cannot be read names nobody; its folders then stand for the learners.
    """
    for file in listing.files:
        if file.parts == (ROSTER,):
            try:
                text = file.content.data(_MOST_ROSTER).decode("utf-8-sig", "replace")
            except UsageError:
                return {}
            return submitters(text)
    return {}


def submitters(text: str) -> dict[str, list[tuple[str, str]]]:
    """Name and number of all who handed in each submission, from `submission_metadata.yml`.

    Three kinds of lines are read, in the shape in which Gradescope writes them; no YAML is parsed:
    `submission_1:` at the margin, `:submitters:` two spaces in, and below it `:name:`, `:sid:` and
    `:email:`. What a program printed is in this file too, but always further in.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    folder: str | None = None
    people: list[dict[str, str]] = []

    def close() -> None:
        if folder is None or folder in found:
            return
        named = [
            (each.get("name") or each.get("email") or folder, each.get("sid") or folder)
            for each in people
        ]
        found[folder] = list(dict.fromkeys(named)) or [(folder, "")]

    among = False
    for line in text.split("\n"):
        line = line.rstrip()
        if top := _FOLDER.fullmatch(line):
            close()
            folder, people, among = top["folder"], [], False
        elif re.match(r"  :\w", line):
            among = line == "  :submitters:" and not people
        elif among and (entry := _FIELD.fullmatch(line)):
            if entry["item"] == "-" or not people:
                people.append({})
            people[-1].setdefault(entry["key"], _scalar(entry["value"]))
    close()
    return found


_FOLDER = re.compile(r"(?P<folder>submission_\d+):")
_FIELD = re.compile(r" {2,4}(?P<item>[- ]) :(?P<key>name|sid|email):(?P<value>(?: .*)?)")


def _scalar(text: str) -> str:
    """The text of a plain or quoted YAML value; nothing for one of another kind."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return ""
    return "" if text[:1] in ("&", "*", "!", "|", ">", "'", "~") else text
