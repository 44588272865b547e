"""Which file may lie where; a file that no rule knows is either forgotten or not found by anybody.

`__pycache__` is left alone: every run makes it, and nothing is ever handed out from it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from grader import problem as problems
from grader.dev.rules.code import solution_name
from grader.dev.rules.findings import STRAY, Findings, words
from grader.dev.rules.pages import PAGES, linked
from grader.faults import KitFault
from grader.kit import Kit
from grader.problem import LIBRARIES, Problem

_OF_PROBLEM = ("problem.toml", "checks.py", "draws.py", "diagnosis.py", "diagnosis.json")
_OF_SOLUTION = ("hidden.py", "mutants.toml")
KINDS = ("right", "wrong", "stream")

_TEXTS = (".py", ".md", ".toml", ".json")
_Problems = Mapping[str, Problem | None]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NOISE = re.compile(r"\..*|.*~|#.*#|.*\.(sw[a-p]|orig|rej|bak|tmp|pyc)|Thumbs\.db|desktop\.ini")


def rules(findings: Findings) -> None:
    kit = findings.kit
    known = {slug: _problem(kit, slug) for slug in problems.slugs(kit)}
    expected: set[Path] = set()
    for slug, problem in known.items():
        expected |= set(_expected(kit, slug, problem))
        _known_files(findings, slug, problem)
        _slug(findings, slug)
    expected |= imported(kit, known)
    for root in (kit.problems, kit.templates, *([kit.solutions] if kit.solutions else [])):
        _walk(findings, root, expected, known)
    for path in sorted(expected):
        _named(findings, path)
        # What is wrong with a known file is told by their reader.
        if path.is_file() and path.parent.name not in KINDS and path.suffix in _TEXTS:
            (findings.module if path.suffix == ".py" else findings.text)(path, "")


def _problem(kit: Kit, slug: str) -> Problem | None:
    try:
        return problems.load(kit, slug)
    except KitFault:
        return None  # told by the rules of its files; here it may have everything


def _expected(kit: Kit, slug: str, problem: Problem | None) -> Iterator[Path]:
    """The places of a problem's files, whether or not there is one."""
    folder = kit.problems / slug
    yield from (folder / name for name in _OF_PROBLEM)
    for name in PAGES:
        page = folder / f"{name}.md"
        yield page
        if page.is_file():
            text = page.read_bytes().decode("utf-8", "replace")
            yield from (file for _, _, file in linked(folder, text))
    endings = ("", *(f"_{library}" for library in LIBRARIES))
    if problem is not None:
        yield from (problem.template(library) for library in problem.libraries)
    else:
        yield from (kit.templates / f"{slug}{ending}.py" for ending in endings)
    if kit.solutions is None:
        return
    folder = kit.solutions / slug
    yield from (folder / name for name in _OF_SOLUTION)
    if problem is not None:
        yield from (folder / solution_name(problem, library) for library in problem.libraries)
    else:
        yield from (folder / f"solution{ending}.py" for ending in endings)
    for kind in KINDS:
        if kind != "stream" or problem is None or problem.sampled:
            yield from (folder / kind).glob("*.py")


def imported(kit: Kit, slugs: Iterable[str]) -> set[Path]:
    """The modules of `problems/` that a check file imports, or one of those modules does."""
    waiting = [kit.problems / slug / f"{n}.py" for slug in slugs for n in ("checks", "draws")]
    waiting += [kit.problems / slug / "diagnosis.py" for slug in slugs]
    if kit.solutions is not None:
        waiting += [kit.solutions / slug / "hidden.py" for slug in slugs]
    seen: set[Path] = set()
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # told where all Python files are read
        for slug, name in _imports(tree):
            module = kit.problems / slug / f"{name}.py"
            found.add(module)
            waiting.append(module)
    return found


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The slug and the module of every `problems.<slug>.<module>` that is imported."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "problems" and len(parts) > 2:
                yield parts[1], parts[2]


def _walk(findings: Findings, folder: Path, expected: set[Path], known: _Problems) -> None:
    """Complains of what is in a folder and not expected; of a folder as a whole where it can."""
    if not folder.is_dir():
        return
    inside = {parent for path in expected for parent in path.parents}
    for path in sorted(folder.iterdir()):
        if path.name == "__pycache__" or path in expected:
            continue
        if path.is_dir() and path in inside and not _NOISE.fullmatch(path.name):
            _walk(findings, path, expected, known)
        else:
            text, cure = _why(findings, path, known)
            findings.complain(path, 1, text, cure, STRAY)


def _why(findings: Findings, path: Path, known: _Problems) -> tuple[str, str]:
    """What a stray is, as far as its place tells, and what to do about it."""
    kit, name = findings.kit, findings.name(path)
    remove = f"rm {'-r ' if path.is_dir() else ''}{name}"
    if _NOISE.fullmatch(path.name):
        return "is left over from an editor or a system", f"delete it: {remove}"
    if path.parent in (kit.problems, kit.solutions) and path.is_dir():
        missing = f"problems/{path.name}/problem.toml"
        return (
            f"is the folder of no problem: there is no {missing}",
            f"write {missing} (`grade dev new` writes a whole problem), or delete it: {remove}",
        )
    if path.parent == kit.templates:
        slug = next((slug for slug in known if path.stem.startswith(f"{slug}_")), path.stem)
        if slug in known:
            return (
                "is a stub for a library that its problem is not offered in",
                f"add the library to problems/{slug}/problem.toml, or delete it: {remove}",
            )
        return (
            f"is the stub of no problem: there is no problems/{slug}/problem.toml",
            f"write that file (`grade dev new` writes a whole problem), or delete it: {remove}",
        )
    if path.name == "stream" and path.parent.parent == kit.solutions:
        problem = known.get(path.parent.name)
        if problem is not None and not problem.sampled:
            return (
                "belongs to a sampled problem, and this one is not sampled",
                f"write `sampled = true` in problem.toml, or delete it: {remove}",
            )
    if path.suffix == ".py" and path.parent.parent == kit.problems:
        return (
            "is imported by no check file",
            f"import it as problems.{path.parent.name}.{path.stem} where it is needed, or "
            f"delete it: {remove}",
        )
    if path.name.startswith("solution") and path.parent.parent == kit.solutions:
        return (
            "is a reference for a library that the problem is not offered in",
            f"add the library to problem.toml, or delete it: {remove}",
        )
    if path.suffix == ".py" and path.parent.parent == kit.solutions:
        return (
            "is a submission that lies in none of the folders where they are graded",
            f"move it to {words([f'{path.parent.name}/{kind}' for kind in KINDS[:2]])}, or "
            f"delete it: {remove}",
        )
    of_a_problem = kit.problems in path.parent.parents
    link = "link to it from statement.md or learn.md, or " if of_a_problem else ""
    return "is nothing that a rule knows", f"{link}delete it: {remove}"


def _named(findings: Findings, path: Path) -> None:
    """Names are lower-case Python names: files are imported, and found on every system."""
    if path.suffix != ".py" or not path.is_file() or _NAME.fullmatch(path.stem):
        return
    better = f"{_better(path.stem)}.py"
    findings.complain(
        path,
        1,
        "its name is no Python name in lower case",
        f"mv {findings.name(path)} {findings.name(path.with_name(better))}",
    )


def _slug(findings: Findings, slug: str) -> None:
    """A problem's name is part of what its check files import: `problems.<slug>.cases`."""
    if not _NAME.fullmatch(slug):
        findings.complain(
            findings.kit.problems / slug / "problem.toml",
            1,
            f"the problem is called {slug}, which is no Python name in lower case",
            f"mv problems/{slug} problems/{_better(slug)}, and its stubs and solutions likewise",
        )


def _better(name: str) -> str:
    better = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
    return better if _NAME.fullmatch(better) else f"a_{better}"


def _known_files(findings: Findings, slug: str, problem: Problem | None) -> None:
    """No known file is written in a library that its problem is not offered in."""
    if findings.kit.solutions is None or problem is None:
        return
    missing = [library for library in LIBRARIES if library not in problem.libraries]
    for kind in KINDS:
        for path in sorted((findings.kit.solutions / slug / kind).glob("*.py")):
            ending = path.stem.rpartition("_")[2]
            # `count_is_numpy.py` may be about NumPy and written in PyTorch: what it imports tells.
            if ending in missing and _uses(path, [ending]) and not _uses(path, problem.libraries):
                findings.complain(
                    path,
                    1,
                    f"is written in {ending}, and {slug} is offered in {words(problem.libraries)}",
                    f'add "{ending}" to `libraries` in problems/{slug}/problem.toml, or '
                    f"delete it: rm {findings.name(path)}",
                )


def _uses(path: Path, libraries: Iterable[str]) -> bool:
    text = path.read_bytes().decode("utf-8", "replace")
    return any(re.search(rf"^\s*(import|from) {name}\b", text, re.MULTILINE) for name in libraries)
