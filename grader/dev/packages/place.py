"""Where a package goes: a zip file or a folder, whole or not at all.

It is never written over anything but an earlier package that nobody has changed. How that is known:
a package holds `PACKAGE.sha256`, which names every other file of it with the hash of its contents
(`sha256sum -c PACKAGE.sha256` reads it).
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.dev import learner_kit
from grader.faults import UsageError
from grader.kit import Kit

LIST = "PACKAGE.sha256"
_MOST_BYTES = 64 * 1024**2  # what an earlier package may hold; another file is none


@dataclass(frozen=True)
class Written:
    """A package on disk. told: in lines for the screen, what is in it and what is to be done."""

    out: Path
    told: tuple[str, ...]


def write_zip(kit: Kit, out: Path, held: Mapping[str, bytes], programs: Container[str]) -> str:
    """Writes the files as the zip file `out`, the same to the byte every time; what it holds.

    `programs`: those that can be executed. Raises UsageError where `out` is taken by anything but
    an earlier package, lies inside the kit, or cannot be written.
    """
    target = _target(kit, out)
    if target.suffix != ".zip":
        raise UsageError(f"{out}: a zip file is made; give a name that ends in .zip")
    held = _listed(held)
    try:
        if os.path.lexists(target):
            _refuse_other(out, _held_in_zip(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        with learner_kit.partial_of(target) as partial:
            partial.write_bytes(learner_kit.zipped(held, "", programs))
            partial.replace(target)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror}); choose another") from None
    return _told(held)


def write_folder(kit: Kit, out: Path, held: Mapping[str, bytes], programs: Container[str]) -> str:
    """As `write_zip`, into the folder `out`, which may be there and empty."""
    target = _target(kit, out)
    held = _listed(held)
    try:
        if os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir())):
            _refuse_other(out, _held_in_folder(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        with learner_kit.partial_of(target) as partial, learner_kit.partial_of(target) as older:
            learner_kit.unpacked(held, partial, programs)
            if target.is_dir():
                target.rename(older)
            try:
                partial.rename(target)
            except BaseException:
                if older.is_dir():
                    older.rename(target)
                raise
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror}); choose another") from None
    return _told(held)


def _target(kit: Kit, out: Path) -> Path:
    target = Path(os.path.realpath(out))
    learner_kit.refuse_inside(kit, out, target)
    if out.is_symlink():
        raise UsageError(f"{out}: a link, and never followed; choose another name")
    return target


def _told(held: Mapping[str, bytes]) -> str:
    return f"{len(held)} files, {sum(map(len, held.values())) / 1024:,.0f} KiB"


# ---- whether what is there is an earlier package


def _listed(held: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files in order, with their list."""
    return dict(sorted({**held, LIST: _list(held)}.items()))


def _list(held: Mapping[str, bytes]) -> bytes:
    lines = (f"{hashlib.sha256(held[name]).hexdigest()}  {name}\n" for name in sorted(held))
    return "".join(lines).encode()


def _refuse_other(out: Path, held: Mapping[str, bytes]) -> None:
    """UsageError unless this is a package as it was written."""
    others = {name: data for name, data in held.items() if name != LIST}
    if LIST not in held:
        raise UsageError(
            f"{out}: there already, and not an earlier package, which alone is written over; "
            "choose another name"
        )
    if held[LIST] != _list(others):
        known = {*held[LIST].decode("utf-8", "replace").splitlines()}
        changed = {*_list(others).decode().splitlines()} ^ known
        name = min((line.partition("  ")[2] for line in changed), default=LIST)
        raise UsageError(
            f"{out}: an earlier package in which {name} was changed since; "
            "choose another name, or move it away"
        )


def _held_in_zip(target: Path) -> dict[str, bytes]:
    """The files of a zip file; none where it is something else."""
    try:
        with zipfile.ZipFile(target) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                return {}
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, IsADirectoryError):
        return {}


def _held_in_folder(target: Path) -> dict[str, bytes]:
    """The files of a folder, links among them by where they lead; none where there is no list."""
    if not (target / LIST).is_file():
        return {}
    held = {}
    for path in target.rglob("*"):
        if "__pycache__" in path.relative_to(target).parts:
            continue
        name = path.relative_to(target).as_posix()
        if path.is_symlink():
            held[name] = os.fsencode(path.readlink())
        elif path.is_file():
            held[name] = path.read_bytes()
    return held
