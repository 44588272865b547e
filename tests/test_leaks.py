"""Nothing of `solutions/` is handed out: what is found of it, in which disguise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader import kit as kits
from grader.dev import leaks, scaffold
from grader.kit import Kit
from tests import dev_kits
from tests.conftest import ROOT

SIGNATURE = '''\
def halve(row: torch.Tensor, times: int = 1) -> tuple[torch.Tensor, int]:
    """Halve every number of a row, as often as the caller says, and count how often it was done.

    The row is left as it came: what is returned shares no memory with it, whatever its layout is.
    """
'''
STUB = f'"""Fill it in."""\n\nimport torch\n\n\n{SIGNATURE}    raise NotImplementedError\n'
BODY = """\
    # A number with an odd last digit has no exact half in few digits: work in the widest type.
    wide = row.detach().clone().to(torch.float64)
    for turn in range(times):
        # Halving is exact until the number is subnormal.
        wide = torch.where(wide == 0, wide, wide * 0.5)
    narrow = wide.to(row.dtype)
    return narrow, times
"""
SOLUTION = f'"""The reference."""\n\nimport torch\n\n\n{SIGNATURE}{BODY}'
BARE = "".join(line for line in BODY.splitlines(keepends=True) if "#" not in line)

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "tiny-kit"
version = "1"

[tool.hatch.build.targets.sdist]
exclude = ["/solutions"]

[tool.hatch.build.targets.wheel]
packages = ["grader"]

[tool.hatch.build.targets.wheel.force-include]
problems = "grader/_data/problems"
"""


@pytest.fixture(name="kit")
def _kit(tmp_path: Path) -> Kit:
    """A kit of one problem, with a reference long enough to be recognised."""
    kit = dev_kits.write(tmp_path / "kit")
    dev_kits.add(kit.root, "templates/halve.py", STUB)
    dev_kits.add(kit.root, "solutions/halve/solution.py", SOLUTION)
    return kit


@pytest.fixture(name="project")
def _project(kit: Kit) -> Kit:
    """The same kit, of which a wheel and an sdist can be built."""
    dev_kits.add(kit.root, "pyproject.toml", PROJECT)
    dev_kits.add(kit.root, "grader/__init__.py", '"""A grader."""\n')
    return kit


def places(kit: Kit) -> list[tuple[str, int]]:
    """Where the complaints of a kit point."""
    return [(complaint.file, complaint.line) for complaint in leaks.leaks(kit)[0]]


# ---- sound kits


@pytest.mark.skipif(not (ROOT / "solutions").is_dir(), reason="a learner's kit has no secrets")
def test_this_kit_hands_out_no_secret():
    """Wheel, sdist and learner's kit of this repository are built, searched and clean."""
    assert leaks.leaks(kits.find()) == ([], [])


def test_a_sound_kit_has_no_complaint(project):
    """Signature, docstring and imports are the stub's too, and a hidden check's title is told."""
    assert leaks.leaks(project) == ([], [])


def test_what_a_learner_hears_is_no_secret(kit):
    """The sentence of a known-wrong file may be shipped; the file says it to be heard."""
    heard = {"sentence": "You return the row as it came, " + "and that is no half " * 5}
    wrong = dev_kits.WRONG.replace("You return the row as it came.", heard["sentence"])
    dev_kits.add(kit.root, "solutions/halve/wrong/as_it_came.py", wrong)
    dev_kits.add(kit.root, "problems/halve/diagnosis.json", json.dumps(heard))
    assert places(kit) == []


def test_a_first_try_may_be_shown(kit):
    """A wrong answer of a line or two is what anybody writes, a README included."""
    shown = "\n".join(dev_kits.WRONG.splitlines()[-2:])
    dev_kits.add(kit.root, "README.md", f"# Halves\n\n```python\n{shown}\n```\n")
    assert places(kit) == []


def test_a_new_problem_is_no_leak(kit):
    """What `grade dev new` writes lies in the grader for everybody to read."""
    scaffold.write(kit, "soft")
    shutil.copytree(ROOT / "grader/dev/scaffold_files", kit.root / "grader/dev/scaffold_files")
    assert places(kit) == []


def test_a_learners_kit_has_nothing_to_hide(kit):
    """Without `solutions/` nothing is built and nothing is complained about."""
    shutil.rmtree(kit.root / "solutions")
    assert leaks.leaks(kits.find(kit.root)) == ([], [])


# ---- leaks


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("templates/halve.py", STUB.replace("    raise NotImplementedError\n", BODY)),
        ("templates/halve.py", STUB.replace("    raise NotImplementedError\n", BARE)),
        ("problems/halve/learn.md", f"# Halves\n\nLike this:\n\n```python\n{BODY}```\n"),
        ("problems/halve/cases.py", f'"""Cases."""\n\n\nclass Hidden:\n    def f(self):\n{BARE}'),
        ("grader/notes.py", BARE.replace("    ", "# ")),
        ("tests/walk.ipynb", json.dumps({"cells": [{"source": BODY.splitlines(keepends=True)}]})),
        ("LICENSE", " ".join(BARE.split()).replace(" ", "\r\n")),
    ],
    ids=["stub", "bare stub", "Markdown", "class", "comments", "notebook", "a word a line"],
)
def test_a_solution_in_another_file_is_found(kit, file, text):
    """However it was laid out, the complaint names the file, the solution, and the cure."""
    dev_kits.add(kit.root, file, text)
    ((found,), _) = leaks.leaks(kit)
    assert found.file == file
    assert "solutions/halve/solution.py:" in found.text
    assert "the learner's kit" in found.text
    assert "take these lines out" in found.cure


def test_the_lines_of_a_leak_are_told(kit):
    """Both lines are those where the shared words begin."""
    dev_kits.add(kit.root, "problems/halve/learn.md", f"# Halves\n\nLook:\n\n{BODY}")
    ((found,), _) = leaks.leaks(kit)
    begin = SOLUTION.splitlines().index(BODY.splitlines()[0]) + 1
    assert (found.line, f"solutions/halve/solution.py:{begin} " in found.text) == (5, True)


def test_a_hidden_check_among_the_public_ones_is_found(kit):
    """A check that was copied to the public ones is hidden no more."""
    body = "".join(f"    submission.check(cases.number_{i}(reference, rng))\n" for i in range(5))
    text = dev_kits.HIDDEN.replace("    submission.check(cases.fresh(reference, rng))\n", body)
    dev_kits.add(kit.root, "solutions/halve/hidden.py", text)
    dev_kits.add(kit.root, "problems/halve/checks.py", dev_kits.CHECKS + body)
    ((found,), _) = leaks.leaks(kit)
    assert (found.file, "solutions/halve/hidden.py:" in found.text) == (
        "problems/halve/checks.py", True)  # fmt: skip


def test_a_copied_file_is_found_under_any_name(kit):
    """Two words are enough where a whole file is the same."""
    dev_kits.add(kit.root, "solutions/halve/notes.txt", "cold coffee")
    dev_kits.add(kit.root, "templates/readme.txt", "cold coffee")
    ((found,), _) = leaks.leaks(kit)
    assert found.file == "templates/readme.txt"
    assert "solutions/halve/notes.txt" in found.text


def test_a_leak_into_every_archive_is_one_complaint(project):
    """It is mended in one place, however many ways out it has."""
    dev_kits.add(project.root, "problems/halve/copy.py", SOLUTION)
    dev_kits.add(project.root, "problems/halve/learn.md", BODY)
    complaints, _ = leaks.leaks(project)
    assert sorted(each.file for each in complaints) == [
        "problems/halve/copy.py",
        "problems/halve/learn.md",
    ]
    assert all("the learner's kit and the wheel and the sdist" in c.text for c in complaints)


def test_an_sdist_with_the_solutions_is_found(project):
    """Where the sdist excludes nothing, the project file is told, and what to write into it."""
    dev_kits.edit(project.root, "pyproject.toml", 'exclude = ["/solutions"]', "exclude = []")
    complaints, _ = leaks.leaks(project)
    assert any("the sdist: hands out solutions/halve/" in each.text for each in complaints)
    assert all('exclude "/solutions"' in each.cure for each in complaints)


def test_a_wheel_with_the_solutions_is_found(project):
    """The wheel is built from the kit, since one made from a clean sdist would hide it."""
    line = 'problems = "grader/_data/problems"'
    dev_kits.edit(project.root, "pyproject.toml", line, f'{line}\nsolutions = "grader/answers"')
    complaints, _ = leaks.leaks(project)
    assert complaints
    assert all(each.text.startswith("the wheel: hands out grader/answers/") for each in complaints)


def test_files_of_one_folder_are_one_complaint(project):
    """Two hundred known files that leak together do not bury everything else."""
    dev_kits.edit(project.root, "pyproject.toml", 'exclude = ["/solutions"]', "exclude = []")
    complaints, _ = leaks.leaks(project)
    assert len(complaints) == len({"solution and hidden", "right", "wrong"})


def test_a_compiled_secret_is_found(kit):
    """A folder `solutions` hands out what it holds, be it no text."""
    held = {"tiny-1/solutions/halve/__pycache__/solution.cpython-311.pyc": b"\xa7\r\r\n\0"}
    (found,) = leaks.search(kit, {"the sdist": held})
    assert "__pycache__/solution.cpython-311.pyc" in found.text


# ---- what cannot be built


def test_a_kit_without_a_project_is_searched_as_far_as_it_goes(kit):
    """There is no wheel to build, and that is said."""
    (note,) = leaks.leaks(kit)[1]
    assert "no pyproject.toml" in note


def test_a_backend_that_is_not_installed_is_told(project):
    """It is no fault of the kit; the learner's kit is searched all the same."""
    dev_kits.edit(project.root, "pyproject.toml", "hatchling.build", "nobody_has_this.build")
    complaints, (note,) = leaks.leaks(project)
    assert complaints == []
    assert "nobody_has_this is not installed" in note


def test_a_project_that_cannot_be_built_is_a_complaint(project):
    """What was never built was never searched: the kit must not pass for sound."""
    dev_kits.edit(project.root, "pyproject.toml", 'version = "1"', 'version = "one"')
    ((found,), _) = leaks.leaks(project)
    assert (found.file, "cannot be built" in found.text) == ("pyproject.toml", True)


def test_a_link_is_a_complaint(kit):
    """A link in the kit could lead to a solution, and is told as what it is."""
    (kit.templates / "other.py").symlink_to("../solutions/halve/solution.py")
    ((found,), _) = leaks.leaks(kit)
    assert "templates/other.py: a link" in found.text
