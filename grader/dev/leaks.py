"""Whether anything of `solutions/` is handed out: in the wheel, the sdist, or the learner's kit.

It is looked for by place (a folder `solutions`), by file (the same bytes under any name) and by
words: a shipped file must not hold `RUN` words in a row of a file of `solutions/`, with its
comments or without. Words are what is left without punctuation and layout, so code is found that
was indented, commented out, reformatted, or put into a notebook.

No secrets are docstrings (a hidden check's is the title a learner reads, a known-wrong file's
holds the sentence a learner hears), decorators (they hold hints), imports, and the signatures of
functions that a stub has too; nor is anything that `grade dev new` writes for everybody. What this
does not find: a few lines, or renamed variables.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tokenize
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.dev import learner_kit
from grader.dev.complaints import Complaint
from grader.faults import UsageError
from grader.kit import Kit

# In this kit the first try that the README shows shares 23 words in a row with a known-wrong file,
# as first tries will; no other shipped file shares 15 with any.
RUN = 25
SHORTEST = 12  # a right answer or hidden check without a run is looked for whole, down to this

RULE = "leak"
_SCAFFOLD = Path(__file__).parent / "scaffold_files"
_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r"\\[nrt]")  # the end of a line inside a quoted text, as in a notebook

Archive = Mapping[str, bytes]


def leaks(kit: Kit) -> tuple[list[Complaint], list[str]]:
    """What is handed out and should not be, and what could not be looked at.

    The wheel and the sdist are built, where the kit has a project file, from the kit as it lies.
    A learner's kit has no secrets, and so no complaints.
    """
    if kit.solutions is None:
        return [], []
    complaints: list[Complaint] = []
    archives: dict[str, Archive] = {}
    try:
        archives["the learner's kit"] = learner_kit.contents(kit)
    except UsageError as error:
        cure = "mend that; until then no learner's kit can be made"
        complaints.append(Complaint("problems", 1, RULE, str(error), cure))
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        built, found, notes = _build(kit, Path(folder))
        archives |= {_KINDS[path.suffix]: contents(path) for path in built}
    return [*complaints, *found, *search(kit, archives)], notes


def contents(archive: Path) -> dict[str, bytes]:
    """Every file of a wheel or an sdist: its path in there, and its bytes."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    held: dict[str, bytes] = {}
    with tarfile.open(archive) as sdist:
        for member in sdist.getmembers():
            if member.isfile() and (file := sdist.extractfile(member)) is not None:
                held[member.name] = file.read()
    return held


def search(kit: Kit, archives: Mapping[str, Archive]) -> list[Complaint]:
    """What the archives hold of `solutions/`: one complaint for each of their files.

    archives: for each its name, as a complaint should call it, and its files. A file that lies
    within `solutions` there, or as a whole under another name, is told with others of its folder.
    """
    secrets = _Secrets(kit)
    leaking: dict[tuple[str, _Leak], list[str]] = {}
    for archive, held in archives.items():
        whole: dict[str, list[str]] = {}
        for name, data in held.items():
            inside = _inside(name)
            if "solutions" in inside.split("/")[:-1] or secrets.is_whole(data):
                whole.setdefault(name.rpartition("/")[0], []).append(name)
            elif (leak := secrets.in_words(data)) is not None:
                place = inside if (kit.root / inside).is_file() else f"{name} in {archive}"
                leaking.setdefault((place, leak), []).append(archive)
        for names in whole.values():
            leak = secrets.whole(held[names[0]], len(names) - 1)
            leaking.setdefault((_inside(names[0]), leak), []).append(archive)
    return [_complaint(kit, place, leak, told) for (place, leak), told in leaking.items()]


# ---- what is secret


@dataclass(frozen=True)
class _Leak:
    """The line of a shipped file and what is said of it; `whole` where it is a secret itself."""

    line: int
    text: str
    whole: bool = False


@dataclass(frozen=True)
class _Word:
    text: str
    line: int


class _Secrets:
    """The files of `solutions/` of a kit, ready to be looked for."""

    def __init__(self, kit: Kit) -> None:
        self._files: dict[str, str] = {}
        # By the first words of a run: the other words, and where in which file it is.
        self._runs: dict[tuple[str, ...], list[tuple[tuple[str, ...], str, int]]] = {}
        self._searched: dict[str, _Leak | None] = {}
        self._of_stubs = frozenset(
            name for stub in kit.templates.glob("*.py") for name in _functions(stub)
        )
        self._for_everybody = frozenset(
            run
            for file in _SCAFFOLD.glob("*")
            for source in _sources(file.read_text(encoding="utf-8"))
            for run, _ in _runs([*_words(source)], SHORTEST)
        )
        folder = kit.solutions or kit.root / "solutions"
        # References first: a run that a wrong file shares with them is told as theirs.
        for path in sorted(folder.rglob("*"), key=lambda path: (len(path.parts), path)):
            if path.is_file() and "__pycache__" not in path.parts:
                self._add(path.relative_to(kit.root).as_posix(), path.read_bytes())

    def _add(self, file: str, data: bytes) -> None:
        if data:
            self._files.setdefault(hashlib.sha256(data).hexdigest(), file)
        text = data.decode("utf-8", errors="replace")
        public = _public_lines(text, self._of_stubs)
        for source in _sources(text):
            words = [word for word in _words(source) if word.line not in public]
            # A short wrong answer is what anybody writes.
            length = RUN if "/wrong/" in file else min(RUN, len(words))
            if length >= SHORTEST:
                for run, line in _runs(words, length):
                    start, rest = run[:SHORTEST], run[SHORTEST:]
                    if start not in self._for_everybody:
                        self._runs.setdefault(start, []).append((rest, file, line))

    def is_whole(self, data: bytes) -> bool:
        return hashlib.sha256(data).hexdigest() in self._files

    def whole(self, data: bytes, others: int) -> _Leak:
        """A file that is a secret, and how many others lie in its folder."""
        file = self._files.get(hashlib.sha256(data).hexdigest())
        source = f", which is {file}:1" if file else ""
        more = f", and {others} more like it in this folder" if others else ""
        return _Leak(1, f"{source}{more}", whole=True)

    def in_words(self, data: bytes) -> _Leak | None:
        """The first run of a secret's words in a shipped file."""
        digest = hashlib.sha256(data).hexdigest()  # most files are in all three archives
        if digest not in self._searched:
            text = data.decode("utf-8", errors="replace")
            found = map(self._first, _sources(text))
            self._searched[digest] = next(filter(None, found), None)
        return self._searched[digest]

    def _first(self, text: str) -> _Leak | None:
        words = list(_words(text))
        for place, (start, line) in enumerate(_runs(words, SHORTEST)):
            for rest, file, there in self._runs.get(start, ()):
                after = words[place + SHORTEST : place + SHORTEST + len(rest)]
                if tuple(word.text for word in after) == rest:
                    return _Leak(line, f"holds {file}:{there} (“{' '.join(start[:8])} …”)")
        return None


def _words(text: str) -> Iterator[_Word]:
    for number, line in enumerate(text.split("\n"), 1):
        for found in _WORD.finditer(_ESCAPE.sub(" ", line)):
            yield _Word(found[0], number)


def _runs(words: Sequence[_Word], length: int) -> Iterator[tuple[tuple[str, ...], int]]:
    texts = [word.text for word in words]
    for start in range(len(words) - length + 1):
        yield tuple(texts[start : start + length]), words[start].line


def _functions(path: Path) -> list[str]:
    with contextlib.suppress(OSError, SyntaxError, ValueError):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return []


def _public_lines(text: str, of_stubs: frozenset[str]) -> set[int]:
    """The lines of a Python file that are no secret; none of a file that is not Python.

    of_stubs: the functions whose signatures are no secret.
    """
    lines: set[int] = set()
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            if not isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) or not node.body:
                continue
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
            if isinstance(node, ast.Module):
                continue
            for decorator in node.decorator_list:
                lines.update(range(decorator.lineno, (decorator.end_lineno or 0) + 1))
            if node.name in of_stubs:
                lines.update(range(node.lineno, first.lineno))
    return lines


def _sources(text: str) -> list[str]:
    """The text, and for a Python file with comments the same lines without these."""
    if "#" not in text:
        return [text]
    lines = text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return [text]
    return [text, "\n".join(lines)]


# ---- what is told


def _inside(name: str) -> str:
    """Where a file of an archive lies in the kit: a wheel and an sdist put folders above it."""
    first, _, rest = name.partition("/")
    if name.startswith("grader/_data/"):
        return name.removeprefix("grader/_data/")
    return rest if re.fullmatch(r"[\w.]+-[\w.+!]+", first) and rest else name


def _complaint(kit: Kit, place: str, leak: _Leak, archives: Sequence[str]) -> Complaint:
    where = " and ".join(archives)
    file = place if (kit.root / place).is_file() else "pyproject.toml"
    if leak.whole:
        cure = (
            'keep solutions/ out of it: exclude "/solutions" from the sdist, do not include it in '
            "the wheel, and leave no copy of its files elsewhere"
        )
        return Complaint(file, leak.line, RULE, f"{where}: hands out {place}{leak.text}", cure)
    text = f"{leak.text}, and goes out in {where}"
    if file != place:
        text = f"{place}: {text}"
    cure = (
        "take these lines out; what hidden and public checks share, let both import from "
        "problems/<slug>/cases.py"
    )
    return Complaint(file, leak.line if file == place else 1, RULE, text, cure)


# ---- what is built

_KINDS = {".whl": "the wheel", ".gz": "the sdist"}


def _build(kit: Kit, folder: Path) -> tuple[list[Path], list[Complaint], list[str]]:
    """The wheel and the sdist, both from the kit itself: one from the other would hide more."""
    project = kit.root / "pyproject.toml"
    if not project.is_file():
        return [], [], ["no wheel and no sdist were searched: the kit has no pyproject.toml"]
    if missing := _missing(project):
        return [], [], [f"no wheel and no sdist were searched: {missing} is not installed here"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "build", "--no-isolation", "--sdist", "--wheel",
         "--outdir", str(folder), str(kit.root)],
        cwd=folder,
        env=os.environ | {"PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=300,
    )  # fmt: skip
    if done.returncode:
        last = (done.stdout.strip().splitlines() or ["it says nothing"])[-1]
        text = f"the wheel and the sdist cannot be built: {last.strip()}"
        cure = "run python -m build --no-isolation, and mend what it complains about"
        return [], [Complaint("pyproject.toml", 1, RULE, text, cure)], []
    return sorted(folder.iterdir()), [], []


def _missing(project: Path) -> str | None:
    """What is needed to build the project and not there; None where nothing is."""
    backend = "setuptools"
    with contextlib.suppress(tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError):
        told = tomllib.loads(project.read_text(encoding="utf-8"))
        backend = str(told.get("build-system", {}).get("build-backend", backend)).split(".")[0]
    for module in ("build", backend):
        found = importlib.util.find_spec(module)
        if found is None or found.origin is None:  # a folder `build` would be found, without one
            return module
    return None
