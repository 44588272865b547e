"""The learner's kit: the repository without `solutions/`, as a folder, a .zip or a .tar.gz.

It holds every file, but nothing hidden, built or cached; in a git checkout only files that git
knows, or would add to `problems/`, `templates/` and `grader/`: what lies elsewhere by chance, as
handed-in work or grades may, stays there. It works alone: the checks, hints and diagnoses, the
stubs, and the grader where the kit came with one.

The same files make the same archive, byte for byte (by one zlib), wherever and whenever they lie:
names are sorted, modes fixed, users unnamed, and the one date follows from the contents.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import secrets
import shutil
import subprocess
import tarfile
import time
import tomllib
import zipfile
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.faults import UsageError
from grader.kit import Kit

_PARTS = ("problems", "templates", "grader")
_LEFT_OUT = frozenset({"solutions", "build", "dist", "venv"})  # folders of the kit's root
_OTHER_ARCHIVES = frozenset({".tgz", ".tar", ".gz", ".xz", ".bz2", ".zst", ".7z", ".rar"})
_YEAR_1980 = 315_532_800  # the first moment that a .zip can tell
_YEARS = 40 * 365 * 86_400


@dataclass(frozen=True)
class Summary:
    """A learner's kit that has been written.

    size: bytes of its files, unpacked. sha256: of their names and contents, the same for a folder
    and for both kinds of archive. unknown: those of its files that git does not know yet.
    """

    out: Path
    files: int
    size: int
    sha256: str
    unknown: tuple[str, ...]


def write(kit: Kit, out: Path) -> Summary:
    """Writes the learner's kit to `out`, whole or not at all, and never over anything.

    out: a name that ends in .zip or .tar.gz, or a folder that is not there yet or is empty.

    Raises UsageError if `out` is taken, lies inside the kit, or cannot be written, and if the kit
    has no problem or holds what cannot be handed out (a link).
    """
    target = Path(os.path.realpath(out))
    _refuse(kit, out, target)
    held = contents(kit)
    if not any(name.startswith("problems/") for name in held):
        raise UsageError(
            f"{kit.problems}: the learner's kit would hold no file of it; "
            "give a kit that has a problem with --kit DIR"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with partial_of(target) as partial:
            if target.suffix == ".zip":
                partial.write_bytes(zipped(held, f"{_folder_name(held)}/"))
            elif target.name.endswith(".tar.gz"):
                partial.write_bytes(tar_gz(held))
            else:
                unpacked(held, partial)
            if target.is_dir():
                target.rmdir()  # it is empty, and not every system moves a folder onto one
            partial.rename(target)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror}); choose another") from None
    return Summary(
        out=out,
        files=len(held),
        size=sum(map(len, held.values())),
        sha256=_digest(held).hex(),
        unknown=tuple(name for name in sorted(_unknown(kit.root)) if name in held),
    )


def contents(kit: Kit) -> dict[str, bytes]:
    """Every file of the learner's kit: its path from the kit's root, in order, and its bytes.

    Raises UsageError for a link, for a name that is not UTF-8, and where git does not answer.
    """
    tracked = _git(kit.root, "ls-files", "-z")
    names = (*tracked, *_unknown(kit.root)) if tracked else _walk(kit.root)
    held: dict[str, bytes] = {}
    for name in sorted({*names}):
        path = kit.root / name
        if _is_left_out(name):
            continue
        if path.is_symlink():
            raise UsageError(f"{name}: a link, which may lead anywhere; put the file itself there")
        if not name.isprintable():
            raise UsageError(f"{name!r}: a name that not every system can hold; rename it")
        if path.is_file():  # git also knows files that have been deleted since
            held[name] = path.read_bytes()
    return held


def refuse_inside(kit: Kit, out: Path, target: Path) -> None:
    """UsageError where `target`, which `out` leads to, would become a part of the kit."""
    if target.is_relative_to(kit.root) and target.relative_to(kit.root).parts[:1] != ("dist",):
        raise UsageError(
            f"{out}: inside the kit, of which it would become a part; "
            f"choose a place outside it, or dist/{target.name}"
        )


def tar_gz(held: Mapping[str, bytes]) -> bytes:
    """The files as the .tar.gz that `write` makes of them."""
    return _tar(held, _folder_name(held))


def _refuse(kit: Kit, out: Path, target: Path) -> None:
    if target.suffix in _OTHER_ARCHIVES and not target.name.endswith(".tar.gz"):
        raise UsageError(f"{out}: no such archive is made; say .zip, .tar.gz, or a folder's name")
    refuse_inside(kit, out, target)
    if out.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(f"{out}: there already, and never overwritten; choose another name")
    if target.is_dir() and any(target.iterdir()):
        raise UsageError(f"{out}: a folder that is not empty; choose another, or empty it")


# ---- which files


def _is_left_out(name: str) -> bool:
    parts = name.split("/")
    return (
        parts[0] in _LEFT_OUT
        or any(part[0] == "." or part == "__pycache__" for part in parts)
        or any(part.endswith(".egg-info") for part in parts[:-1])
        or name.endswith((".pyc", ".pyo"))
    )


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        here = Path(folder).relative_to(root)
        inside = [name for name in folders if not _is_left_out((here / name).as_posix())]
        links = [name for name in inside if (root / here / name).is_symlink()]
        # An environment may have any name, and this file in it.
        folders[:] = [name for name in inside if not (root / here / name / "pyvenv.cfg").exists()]
        yield from ((here / name).as_posix() for name in (*files, *links))


def _unknown(root: Path) -> list[str]:
    asked = ("ls-files", "-z", "--others", "--exclude-standard", "--", *_PARTS)
    return _git(root, *asked)


def _git(root: Path, *arguments: str) -> list[str]:
    """The names that git lists in a folder; none where git knows nothing of that folder."""
    # Inside a hook these name the repository that the hook is for, which may be another one.
    environment = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            env=environment | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        told = os.fsdecode(done.stderr).strip()
        nothing = "not a git repository" in told and not (root / ".git").exists()
        if done.returncode == 0 or nothing:
            return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    except (OSError, subprocess.TimeoutExpired) as error:
        if not (root / ".git").exists():
            return []
        told = str(error)
    # Going on would hand out what lies in the folder by chance.
    raise UsageError(f"{root}: git does not tell which files are the kit's: {told}")


# ---- how they are packed


def _digest(held: Mapping[str, bytes]) -> bytes:
    digest = hashlib.sha256()
    for name, data in held.items():
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.digest()


def _date(held: Mapping[str, bytes]) -> int:
    """One even second between 1980 and 2019 for all files, another for other contents.

    Were it always the same, a kit unpacked over an older one would go on running compiled files:
    Python takes them for current where size and date of the source agree.
    """
    return _YEAR_1980 + int.from_bytes(_digest(held)[:8], "big") % _YEARS // 2 * 2


def _folder_name(held: Mapping[str, bytes]) -> str:
    """The folder that an archive unpacks to: the project's name, whatever the archive is called."""
    with contextlib.suppress(tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError):
        project = tomllib.loads(held.get("pyproject.toml", b"").decode("utf-8")).get("project", {})
        name = project.get("name")
        if isinstance(name, str) and name.replace("-", "").replace("_", "").isalnum():
            return name
    return "kit"


def zipped(held: Mapping[str, bytes], prefix: str, programs: Container[str] = ()) -> bytes:
    """A .zip of these files, each name after `prefix`; `programs` can be executed."""
    packed = io.BytesIO()
    date = time.gmtime(_date(held))[:6]
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in held.items():
            entry = zipfile.ZipInfo(f"{prefix}{name}", date)
            entry.create_system = 3  # Unix, on every system: what the mode below is read by
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=9)
    return packed.getvalue()


def _tar(held: Mapping[str, bytes], folder: str) -> bytes:
    packed = io.BytesIO()
    date = _date(held)
    with (
        gzip.GzipFile("", "wb", 9, packed, mtime=date) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in held.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), date, 0o644
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def unpacked(held: Mapping[str, bytes], folder: Path, programs: Container[str] = ()) -> None:
    """These files below a folder; `programs` can be executed."""
    for name, data in held.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if name in programs:
            path.chmod(path.stat().st_mode | 0o111)


@contextlib.contextmanager
def partial_of(target: Path) -> Iterator[Path]:
    """A name beside the target, from which moving is one step; nothing is left there."""
    path = target.with_name(f".grade-{secrets.token_hex(6)}.tmp")
    try:
        yield path
    finally:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
