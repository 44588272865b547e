"""What a problem is: its `problem.toml`, read and checked, and the files that lie beside it.

Any folder of `problems/` with a `problem.toml` is a problem; its name is the slug. A mistake in
that file is a KitFault that says which file, which key and the cure. Nothing here runs or imports
a check.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

from grader.faults import KitFault, UsageError
from grader.kit import Kit

FORMAT = 1
Library = Literal["torch", "numpy"]
LIBRARIES: tuple[Library, ...] = ("torch", "numpy")

_KEYS = (
    *("format", "title", "summary", "entry", "parameters", "libraries", "sampled"),
    *("hints", "limits", "points", "examples"),
)


@dataclass(frozen=True)
class Limits:
    """What one submission may use: seconds to load, for one call and in all; memory in MiB."""

    load: float
    call: float
    submission: float
    memory: int


@dataclass(frozen=True)
class Points:
    """What the checks of one library must add up to; `extra` is extra credit, outside the score."""

    public: int
    hidden: int
    extra: int


@dataclass(frozen=True)
class Example:
    """A worked example as written in `problem.toml`: plain tables, lists and numbers.

    With `Problem.decoded_examples` the same record holds values that a check can use.
    """

    title: str
    args: tuple[Any, ...]
    returns: Any


@dataclass(frozen=True)
class Problem:
    """One problem. `folder` is `problems/<slug>`; `solution_folder` is None in a learner's kit."""

    slug: str
    title: str
    summary: str
    entry: str
    parameters: tuple[str, ...]
    libraries: tuple[Library, ...]
    sampled: bool
    hints: tuple[str, ...]
    limits: Limits
    points: Mapping[str, Points]
    examples: tuple[Example, ...]
    folder: Path
    templates: Path
    solution_folder: Path | None

    @property
    def checks(self) -> Path:
        """The public checks."""
        return self.folder / "checks.py"

    @property
    def draws(self) -> Path | None:
        """The trusted draws of a sampled problem, or None."""
        path = self.folder / "draws.py"
        return path if path.is_file() else None

    @property
    def hidden(self) -> Path | None:
        """The hidden checks, or None where the solutions are not."""
        if self.solution_folder is None:
            return None
        path = self.solution_folder / "hidden.py"
        return path if path.is_file() else None

    def template(self, library: str) -> Path:
        """The stub a learner receives: `<slug>.py`, for other libraries `<slug>_<library>.py`."""
        return self.templates / f"{self.slug}{self._suffix(library)}.py"

    def solution(self, library: str) -> Path | None:
        """The reference for `library`, or None where the solutions are not."""
        if self.solution_folder is None:
            return None
        path = self.solution_folder / f"solution{self._suffix(library)}.py"
        return path if path.is_file() else None

    def page(self, name: str) -> str:
        """The Markdown of `statement` or `learn`; KitFault if it is missing or not UTF-8."""
        path = self.folder / f"{name}.md"
        return _read(path, f"problems/{self.slug}/{name}.md")

    def decoded_examples(self, library: Library) -> tuple[Example, ...]:
        """The worked examples as values of `library`.

        `{ array = […] }` becomes an Array (float32 unless it says `dtype`), `{ seed = 0 }` a
        generator, `{ tuple = […] }` a tuple, any other table a dict.
        """
        return tuple(
            Example(
                title=example.title,
                args=tuple(_decoded(value, library) for value in example.args),
                returns=_decoded(example.returns, library),
            )
            for example in self.examples
        )

    def _suffix(self, library: str) -> str:
        return "" if library == self.libraries[0] else f"_{library}"


def slugs(kit: Kit) -> list[str]:
    """The problems of a kit, by name."""
    return sorted(path.parent.name for path in kit.problems.glob("*/problem.toml"))


def load(kit: Kit, slug: str) -> Problem:
    """The problem called `slug`.

    Raises UsageError if there is none (with the nearest name), KitFault if its file is broken.
    """
    known = slugs(kit)
    if slug not in known:
        raise UsageError(unknown_problem(slug, known))
    where = f"problems/{slug}/problem.toml"
    folder = kit.problems / slug
    try:
        table = tomllib.loads(_read(folder / "problem.toml", where))
    except tomllib.TOMLDecodeError as error:
        raise KitFault(f"{where}: not valid TOML: {error}") from None
    return _problem(kit, slug, folder, _Table(where, "", table, _KEYS))


def unknown_problem(slug: str, known: Sequence[str]) -> str:
    """What to tell somebody who asked for a problem that this kit does not have."""
    if not known:
        return "this kit has no problems; say --kit DIR for another one"
    guess = _nearest(slug.lower(), known)
    return f"no problem called '{slug}'{guess}; this kit has {', '.join(known)}"


class _Table:
    """A TOML table with a closed set of keys, whose entries are checked as they are taken."""

    def __init__(
        self, where: str, path: str, table: Mapping[str, Any], known: Sequence[str]
    ) -> None:
        self._where, self._path, self._table = where, path, table
        for key in table:
            # Refused rather than ignored: a misspelt key would silently change the problem.
            if key not in known:
                wanted = _nearest(key, known) or f"; known here: {', '.join(known)}"
                raise KitFault(f"{where}: unknown key '{path}{key}'{wanted}")

    def fault(self, key: str, problem: str) -> KitFault:
        return KitFault(f"{self._where}: '{self._path}{key}' {problem}")

    def any(self, key: str) -> Any:
        if key not in self._table:
            raise self.fault(key, "is missing; every problem says it")
        return self._table[key]

    def text(self, key: str) -> str:
        value = self.any(key)
        if type(value) is not str or not value.strip():
            raise self.fault(key, f"must be a text that is not empty, not {value!r}")
        return value

    def line(self, key: str) -> str:
        value = self.text(key)
        if "\n" in value:
            raise self.fault(key, "must be one line")
        return value

    def name(self, key: str) -> str:
        value = self.text(key)
        if not value.isidentifier():
            raise self.fault(key, f"must be a Python name, not {value!r}")
        return value

    def truth(self, key: str) -> bool:
        value = self.any(key)
        if type(value) is not bool:
            raise self.fault(key, f"must be true or false, not {value!r}")
        return value

    def whole(self, key: str, least: int) -> int:
        value = self.any(key)
        if type(value) is not int or value < least:
            raise self.fault(key, f"must be a whole number, {least} or more, not {value!r}")
        return value

    def seconds(self, key: str) -> float:
        value = self.any(key)
        if type(value) not in (int, float) or not 0 < value < 86_400:
            raise self.fault(key, f"must be a number of seconds above 0, not {value!r}")
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.any(key)
        if type(value) is not list or not value:
            raise self.fault(key, "must be a list of texts with at least one in it")
        for entry in value:
            if type(entry) is not str or not entry.strip():
                raise self.fault(key, f"must hold texts that are not empty, not {entry!r}")
        return tuple(value)

    def names(self, key: str, known: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of different Python names, each one of `known` if that is given."""
        names = self.texts(key)
        for name in names:
            if known is not None and name not in known:
                raise self.fault(key, f"cannot hold '{name}'{_nearest(name.lower(), known)}")
            if not name.isidentifier():
                raise self.fault(key, f"must hold Python names, not {name!r}")
            if names.count(name) > 1:
                raise self.fault(key, f"holds '{name}' twice")
        return names

    def table(self, key: str, known: Sequence[str]) -> _Table:
        value = self.any(key)
        if type(value) is not dict:
            raise self.fault(key, f"must be a table, not {value!r}")
        return _Table(self._where, f"{self._path}{key}.", value, known)

    def tables(self, key: str, known: Sequence[str]) -> list[_Table]:
        value = self.any(key)
        if type(value) is not list or not all(type(entry) is dict for entry in value):
            raise self.fault(key, f"must be a list of tables, written [[{self._path}{key}]]")
        return [
            _Table(self._where, f"{self._path}{key}[{index}].", entry, known)
            for index, entry in enumerate(value)
        ]


def _problem(kit: Kit, slug: str, folder: Path, table: _Table) -> Problem:
    version = table.whole("format", 1)
    if version != FORMAT:
        raise table.fault("format", f"is {version}; this grader reads format {FORMAT}")
    libraries = table.names("libraries", LIBRARIES)
    parameters = table.names("parameters")
    solution_folder = kit.solutions / slug if kit.solutions else None
    return Problem(
        slug=slug,
        title=table.line("title"),
        summary=table.line("summary"),
        entry=table.name("entry"),
        parameters=parameters,
        libraries=cast(tuple[Library, ...], libraries),
        sampled=table.truth("sampled"),
        hints=table.texts("hints"),
        limits=_limits(table.table("limits", ("load", "call", "submission", "memory"))),
        points=_points(table.table("points", libraries), libraries),
        examples=tuple(
            _example(entry, parameters)
            for entry in table.tables("examples", ("title", "args", "returns"))
        ),
        folder=folder,
        templates=kit.templates,
        solution_folder=solution_folder if solution_folder and solution_folder.is_dir() else None,
    )


def _limits(table: _Table) -> Limits:
    return Limits(
        load=table.seconds("load"),
        call=table.seconds("call"),
        submission=table.seconds("submission"),
        memory=table.whole("memory", 64),
    )


def _points(table: _Table, libraries: Sequence[str]) -> Mapping[str, Points]:
    points = {}
    for library in libraries:
        entry = table.table(library, ("public", "hidden", "extra"))
        points[library] = Points(
            public=entry.whole("public", 0),
            hidden=entry.whole("hidden", 0),
            extra=entry.whole("extra", 0),
        )
    return MappingProxyType(points)


def _example(table: _Table, parameters: Sequence[str]) -> Example:
    title, args, returns = table.line("title"), table.any("args"), table.any("returns")
    if type(args) is not list or len(args) > len(parameters):
        raise table.fault("args", f"must be a list of arguments for ({', '.join(parameters)})")
    for key, value in (("args", args), ("returns", returns)):
        if fault := _encoding_fault(value):
            raise table.fault(key, fault)
    return Example(title=title, args=tuple(args), returns=returns)


# What marks a table of an example as one value, and what else may stand in that table.
_ENCODED = {"array": {"array", "dtype"}, "seed": {"seed"}, "tuple": {"tuple"}}


def _encoding_fault(value: Any) -> str | None:
    """What is wrong with an example's value, or None."""
    if type(value) is list:
        return next((fault for entry in value if (fault := _encoding_fault(entry))), None)
    if type(value) is not dict:
        return None if type(value) in (int, float, bool, str) else f"cannot hold {value!r}"
    for kind, allowed in _ENCODED.items():
        if kind in value:
            if unknown := value.keys() - allowed:
                return f"has an unknown key {min(unknown)!r} beside '{kind}'"
            if kind == "seed":
                right = type(value["seed"]) is int and value["seed"] >= 0
                return None if right else "must have a whole number as its seed"
            if type(value[kind]) is not list:
                return f"must have a list as its {kind}"
            return _encoding_fault(value["tuple"]) if kind == "tuple" else None
    return next((fault for entry in value.values() if (fault := _encoding_fault(entry))), None)


def _decoded(value: Any, library: Library) -> Any:
    # Imported here: the light commands read problems and must not pay for numpy.
    from grader import values

    if type(value) is list:
        return [_decoded(entry, library) for entry in value]
    if type(value) is not dict:
        return value
    if "array" in value:
        return values.array(value["array"], value.get("dtype", "float32"), library)
    if "seed" in value:
        return values.seeded(value["seed"])
    if "tuple" in value:
        return tuple(_decoded(entry, library) for entry in value["tuple"])
    return {key: _decoded(entry, library) for key, entry in value.items()}


def _read(path: Path, where: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise KitFault(f"{where}: no such file; every problem has one") from None
    except UnicodeDecodeError as error:
        raise KitFault(f"{where}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        raise KitFault(f"{where}: cannot be read: {error.strerror}") from None


def _nearest(word: str, known: Sequence[str]) -> str:
    """Return " (did you mean 'entry'?)" for the nearest name, or nothing."""
    # Imported here: only a mistake needs it.
    import difflib

    guesses = [name for name in known if word.startswith(name) or name.startswith(word)]
    guesses += difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (did you mean '{guesses[0]}'?)" if guesses else ""
