"""A new problem: small, complete and passing, each file with notes on what to put in its place.

It asks for the softmax of a row of logits at a temperature. Its function is called like the slug,
so an author replaces the files one by one and `grade dev check` can be green at every step.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import keyword
import os
import re
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grader import kit as kits
from grader.faults import UsageError
from grader.kit import Kit
from grader.problem import LIBRARIES

# Every file of a problem, and the file of `scaffold_files/` it is made from. Those end in .txt so
# that no tool takes them for code.
_FILES = {
    "problems/{slug}/problem.toml": "problem.toml.txt",
    "problems/{slug}/statement.md": "statement.md.txt",
    "problems/{slug}/learn.md": "learn.md.txt",
    "problems/{slug}/cases.py": "cases.py.txt",
    "problems/{slug}/checks.py": "checks.py.txt",
    "templates/{slug}.py": "stub.py.txt",
    "solutions/{slug}/solution.py": "solution.py.txt",
    "solutions/{slug}/hidden.py": "hidden.py.txt",
    "solutions/{slug}/right/through_log_softmax.py": "right.py.txt",
    "solutions/{slug}/wrong/multiplies.py": "wrong_multiplies.py.txt",
    "solutions/{slug}/wrong/overflows.py": "wrong_overflows.py.txt",
    "solutions/{slug}/wrong/shifts_in_place.py": "wrong_shifts_in_place.py.txt",
}
_GAP = re.compile(r"\{\{ (\w+) \}\}")


def kit_in(folder: Path | None = None) -> Kit:
    """As `grader.kit.find`, but an empty folder is taken for a kit that has no problems yet.

    Only an empty one (hidden files such as `.git` apart): in any other, a mistyped name would leave
    three folders behind.
    """
    if folder is None or not _is_empty(folder):
        return kits.find(folder)
    root = folder.resolve()
    return Kit(root.name or "kit", "unversioned", root, root / "problems", root / "templates", None)


def write(kit: Kit, slug: str, title: str | None = None) -> list[Path]:
    """Writes the problem `slug` into the kit and returns its files; all of them, or none.

    `solutions/` (and `problems/`, `templates/`) are made where the kit has none. title: one line,
    made from the slug unless given. Raises UsageError where the slug or the title will not do,
    where anything of that name is there already, and where the kit cannot be written.
    """
    _refuse_slug(slug)
    title = slug.replace("_", " ").capitalize() if title is None else title.strip()
    if not title or not title.isprintable():
        raise UsageError(f"the title {title!r} will not do; give one line of text with --title")
    if kit.root == Path(kits.__file__).resolve().parent / "_data":
        raise UsageError(
            f"{kit.root}: these problems belong to the installed package; "
            "say --kit DIR with a checkout, or with an empty folder for a kit of your own"
        )
    solutions = kit.solutions or kit.root / "solutions"
    problem, stub, solution = kit.problems / slug, kit.templates / f"{slug}.py", solutions / slug
    for place in (problem, stub, solution):
        if os.path.lexists(place):
            raise UsageError(
                f"{place.relative_to(kit.root).as_posix()}: there already, and never overwritten; "
                "choose another name, or delete what is left of that problem"
            )
    try:
        with contextlib.ExitStack() as stack:
            # Beside the three folders, to be moved and not copied; not in them, where a grader that
            # runs meanwhile would see half a problem.
            stage = Path(tempfile.mkdtemp(prefix=".new-", dir=kit.root))
            stack.callback(shutil.rmtree, stage, ignore_errors=True)
            _fill(stage, slug, title)
            with contextlib.ExitStack() as back:
                # The problem's own folder comes last: with it, the kit has one more problem.
                for place in (solution, stub, problem):
                    _claim(place, back)
                    (stage / place.parent.name / place.name).replace(place)
                back.pop_all()
    except OSError as error:
        raise UsageError(
            f"{kit.root}: cannot be written ({error.strerror}), and nothing of the problem was "
            "kept; give a kit that you may write to with --kit DIR"
        ) from None
    return [kit.root / path.format(slug=slug) for path in _FILES]


def _is_empty(folder: Path) -> bool:
    try:
        return all(entry.name.startswith(".") for entry in folder.iterdir())
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read ({error.strerror})") from None


def _refuse_slug(slug: str) -> None:
    """UsageError unless the slug can name a folder, a learner's file and a function at once."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", slug):
        raise UsageError(
            f"'{slug}' cannot be the name of a problem, which is a Python name in lower case; "
            "use letters a to z, digits and _, as in top_p"
        )
    if _is_python(slug):
        raise UsageError(
            f"'{slug}' means something in Python, and a learner's file or function of that name "
            f"would hide it; say {slug}_row, for example"
        )
    for library in LIBRARIES:
        if slug.endswith(f"_{library}"):
            raise UsageError(
                f"'{slug}' ends like a file for {library} does; "
                f"say {slug.removesuffix(f'_{library}')}, and name the library in problem.toml"
            )


def _is_python(name: str) -> bool:
    """Whether a keyword, a built-in, a module of the standard library or one of ours has it."""
    ours = (*LIBRARIES, "pytest", "grader", "problems", "templates", "solutions", "tests")
    return (
        keyword.iskeyword(name)
        or hasattr(builtins, name)
        or name in sys.stdlib_module_names
        or name in ours
    )


def _fill(stage: Path, slug: str, title: str) -> None:
    """Writes every file, with the names filled in, to its place below `stage`."""
    names = {
        "slug": slug,
        "title": title,
        "title_in_toml": json.dumps(title, ensure_ascii=False),  # TOML quotes a printable line so
    }
    folder = files("grader.dev") / "scaffold_files"
    for path, source in _FILES.items():
        text = (folder / source).read_text(encoding="utf-8")
        place = stage / path.format(slug=slug)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_GAP.sub(lambda gap: names[gap[1]], text), encoding="utf-8")


def _claim(place: Path, back: contextlib.ExitStack) -> None:
    """Makes the place, empty, or raises FileExistsError; `back` takes away what is there later."""
    if not place.parent.exists():
        place.parent.mkdir()
        back.callback(place.parent.rmdir)
    if place.suffix:
        place.open("x").close()
        back.callback(place.unlink)
    else:
        place.mkdir()
        back.callback(shutil.rmtree, place)
