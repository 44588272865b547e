"""The question for PrairieLearn: what is in it, and what it makes of what learners hand in."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import uuid
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits_of_grader
from grader.dev.packages import prairielearn
from grader.faults import UsageError
from tests import dev_kits, full_disks, kits, packages
from tests.exports import commands, read
from tests.hostile_places import NOBODY
from tests.packages import HOSTILE, OLD, SECRET, WRONG, Platform
from tests.packages import _folder as _folder  # fixtures
from tests.packages import _python as _python
from tests.test_learner_kit import files_under

EVERYTHING = HOSTILE["reads, writes and prints"]


# ---- the platform


@pytest.fixture(name="kit", scope="module")
def _kit(tmp_path_factory) -> kits.TinyKit:
    return packages.instructors_kit(tmp_path_factory.mktemp("kit"))


@pytest.fixture(name="question", scope="module")
def _question(kit, tmp_path_factory) -> Path:
    """The folder of the tiny kit's only problem."""
    out = tmp_path_factory.mktemp("out") / "question"
    done = packages.export(kit.root, "prairielearn", out, "--image", "ghcr.io/course/grader:1")
    assert done.returncode == 0, done.stderr
    assert f"-t ghcr.io/course/grader:1 {out}/image" in done.stdout
    return out


@pytest.fixture(name="container", scope="module")
def _container(question, folder, python) -> Platform:
    """`/grade` as it is when a submission is graded; there is no folder for results."""
    root = folder / "grade"
    shutil.copytree(question / "tests", root / "tests")
    (root / "data").mkdir()
    (root / "data/data.json").write_text('{"true_answer": "SECRETDATA"}', encoding="utf-8")
    entry = json.loads((question / "info.json").read_text("utf-8"))["externalGradingOptions"]
    script = root / Path(entry["entrypoint"]).relative_to("/grade")
    environment = {"KIT_GRADE": str(root), "KIT_PYTHON": python}
    return Platform(root, root / "student", script, environment)


def result(container: Platform, files: dict[str, str]) -> dict[str, Any]:
    """The result for these files, which is legal."""
    return read("prairielearn", container.grade(files))


class Elements(HTMLParser):
    """The elements of a page in order, each with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


# ---- what is in it


def test_the_question_tells_how_it_is_graded(kit, question):
    """In the image that is named, without network, and with time for the slowest file."""
    info = json.loads((question / "info.json").read_text(encoding="utf-8"))
    grading = info.pop("externalGradingOptions")
    assert uuid.UUID(info.pop("uuid")).version == 4
    assert info == {
        "title": "The next number",
        "topic": kit.root.name,
        "type": "v3",
        "singleVariant": True,
        "showCorrectAnswer": False,
        "gradingMethod": "External",
    }
    assert grading == {
        "enabled": True,
        "image": "ghcr.io/course/grader:1",
        "entrypoint": "/grade/tests/run.sh",
        "timeout": 60,
        "enableNetworking": False,
    }
    assert "timeout --kill-after=5 50 " in (question / "tests/grade.sh").read_text("utf-8")


def test_the_question_shows_statement_stub_and_results(kit, question):
    """In PrairieLearn's own elements; the stub in the editor is the problem's."""
    page = (question / "question.html").read_text(encoding="utf-8")
    elements = Elements(page)
    assert elements.open == []
    assert [tag for tag, _ in elements.found] == [
        *("pl-question-panel", "markdown", "pl-file-editor"),
        *("pl-submission-panel", "pl-external-grader-results", "pl-file-preview"),
    ]
    editor = elements.found[2][1]
    assert editor["file-name"] == editor["source-file-name"] == f"{kit.slug}.py"
    stub = kit.root / "templates" / f"{kit.slug}.py"
    assert (question / f"{kit.slug}.py").read_bytes() == stub.read_bytes()
    assert "<markdown>\n# Next\n</markdown>" in page
    assert not page.startswith("{{")


def test_a_statement_is_no_template(tmp_path):
    """Its braces are no variables, and no tag in it ends the element around it."""
    kit = dev_kits.write(tmp_path / "kit")
    statement = "# Halve\n\nNot `{{ params }}`, nor `</markdown>`.\n"
    dev_kits.add(kit.root, "problems/halve/statement.md", statement)
    prairielearn.write(kit, tmp_path / "out", None)
    page = (tmp_path / "out/question.html").read_text(encoding="utf-8")
    assert page.startswith("{{=<% %>=}}\n")
    assert "Not `{{ params }}`, nor `</markdown#>`." in page


def test_the_image_is_built_from_what_lies_there(question):
    """Everything that its recipe copies; nothing of the problem is in it."""
    recipe = (question / "image/Dockerfile").read_text(encoding="utf-8")
    copied = re.findall(r"^COPY (.+) /opt/kit/$", recipe, re.MULTILINE)[0].split()
    assert {path.name for path in (question / "image").iterdir()} == {"Dockerfile", *copied}
    assert "{{" not in recipe


def test_the_same_kit_makes_the_same_files(kit, question, tmp_path):
    """Under the same number, by which PrairieLearn knows a question; its scripts are programs."""
    copy = kits_of_grader.find(shutil.copytree(kit.root, tmp_path / kit.root.name))
    prairielearn.write(copy, tmp_path / "out", None, image="ghcr.io/course/grader:1")
    assert files_under(tmp_path / "out") == files_under(question)
    programs = {path for path in question.rglob("*.sh") if path.stat().st_mode & 0o100}
    assert programs == {question / "tests/run.sh", question / "tests/grade.sh"}


def test_only_an_earlier_question_is_written_over(tmp_path):
    """Not one that the course has changed, which is told by the file's name; nor anything else."""
    kit = dev_kits.write(tmp_path / "kit")
    out = tmp_path / "out"
    out.mkdir()
    prairielearn.write(kit, out, None)
    prairielearn.write(kit, out, None, image="other")
    assert '"image": "other"' in (out / "info.json").read_text(encoding="utf-8")
    (out / "tests/kit/grader/__pycache__").mkdir()
    (out / "tests/kit/grader/__pycache__/cli.pyc").write_bytes(b"x")
    prairielearn.write(kit, out, None)
    dev_kits.edit(out, "info.json", '"topic": "kit"', '"topic": "Sampling"')
    with pytest.raises(UsageError, match=r"in which info\.json was changed since"):
        prairielearn.write(kit, out, None)
    assert "Sampling" in (out / "info.json").read_text(encoding="utf-8")
    dev_kits.add(tmp_path, "mine/notes.txt", "mine")
    with pytest.raises(UsageError, match="not an earlier package"):
        prairielearn.write(kit, tmp_path / "mine", None)
    with pytest.raises(UsageError, match="not an earlier package"):
        prairielearn.write(kit, tmp_path / "mine/notes.txt", None)
    with pytest.raises(UsageError, match="inside the kit"):
        prairielearn.write(kit, kit.root / "question", None)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    assert {path.name for path in tmp_path.iterdir()} == {"kit", "out", "mine"}


# ---- what it makes of what is handed in


def test_a_right_file_has_full_marks(container, kit):
    """Exactly 1, and points on every row; the hidden checks are one, and named nowhere."""
    container.hand_in({f"{kit.slug}.py": kits.RIGHT})
    shutil.rmtree(container.results)  # as on the platform
    done = container.run()
    assert (done.returncode, done.stdout) == (0, "")
    assert SECRET not in done.stderr
    text = container.result.read_text(encoding="ascii")
    found = read("prairielearn", text)
    assert '"score": 1,' in text
    assert [(row["points"], row["max_points"]) for row in found["tests"]] == [
        *((4, 4), (2, 2), (1, 1), (3, 3))
    ]
    assert found["tests"][3]["name"] == "hidden checks"
    assert SECRET not in text


def test_a_wrong_file_has_a_share(container, kit):
    """Its points over those of all rows, which are the same."""
    found = result(container, {f"{kit.slug}.py": WRONG})
    assert found["score"] == 0.6
    assert [row["max_points"] for row in found["tests"]] == [4, 2, 1, 3]


def test_a_hostile_file_earns_nothing(container, kit):
    """It leaves no result of its own, reads nothing, and says nothing to whoever prints a log."""
    places = [container.root / name for name in ("results", "tests", "data", "data/data.json")]
    places += [container.result, container.root / "tests/kit/solutions" / kit.slug / "hidden.py"]
    text = f"PLACES = {[str(path) for path in places]!r}\n{EVERYTHING}"
    found = result(container, {f"{kit.slug}.py": text})
    assert (found["gradable"], found["score"]) == (True, 0)
    text = container.result.read_text(encoding="ascii")
    assert "PermissionError" in text
    for secret in ("GOT", "SECRETDATA", "TAKEN", SECRET):
        assert secret not in text
    assert commands(text) == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "This file could not be graded. Nothing was handed in"),
        ({"answer.py": HOSTILE["leaves"]}, "answer.py could not be loaded: "),
        ({"answer.py": HOSTILE["never ends"]}, "answer.py could not be loaded: took longer than"),
    ],
)
def test_what_cannot_be_graded_costs_no_attempt(container, files, words):
    """There is no score then, and the learner is told why."""
    found = result(container, files)
    assert "score" not in found
    assert found["format_errors"][0].startswith(words)


@pytest.mark.parametrize("broken", ["import sys\nsys.exit(3)\n", "import os\nos.abort()\n"])
def test_a_broken_grader_leaves_a_result(container, broken):
    """The exit code is 0, or PrairieLearn would not read that no attempt was used."""
    main = container.root / "tests/kit/grader/__main__.py"
    text = main.read_text(encoding="utf-8")
    main.write_text(broken, encoding="utf-8")
    try:
        found = result(container, {"answer.py": kits.RIGHT})
    finally:
        main.write_text(text, encoding="utf-8")
    assert "The fault is in the grader, not in the file" in found["format_errors"][0]
    bare = replace(container, environment={**container.environment, "KIT_PYTHON": "/nowhere"})
    assert result(bare, {"answer.py": kits.RIGHT}) == found


@pytest.mark.parametrize("lost", packages.LOST)
def test_a_package_without_its_hidden_checks_grades_nobody(container, kit, folder, lost):
    """No attempt is used, no full marks are given for what is left, and the log says why."""
    broken = packages.without(container, folder, kit, lost, "tests", "KIT_GRADE")
    broken.hand_in({f"{kit.slug}.py": kits.RIGHT})
    done = broken.run()
    assert done.returncode == 0
    assert ("hidden" in done.stderr) or lost == "the problem", done.stderr
    found = read("prairielearn", broken.result.read_text(encoding="ascii"))
    assert "score" not in found
    assert "The fault is in the grader, not in the file" in found["format_errors"][0]


def test_a_course_that_ignores_solutions_is_noticed(container, question, kit, folder, tmp_path):
    """By what the README says to ask Git; and the question, as a clone has it, grades nobody."""
    course = tmp_path / "course"
    shutil.copytree(question, course / "questions/next")
    (course / ".gitignore").write_text("solutions/\n", encoding="utf-8")
    git = functools.partial(subprocess.run, check=True, capture_output=True, encoding="utf-8")
    git(["git", "init", "-q", str(course)])
    asked = ["ls-files", "--others", "--ignored", "--exclude-standard", "questions/next"]
    assert "kit/solutions/" in git(["git", "-C", str(course), *asked]).stdout
    git(["git", "-C", str(course), "add", "."])
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    git(["git", "-C", str(course), *author, "commit", "-q", "-m", "one"])
    git(["git", "clone", "-q", str(course), str(tmp_path / "clone")])
    root = folder / "cloned"
    shutil.copytree(tmp_path / "clone/questions/next/tests", root / "tests")
    environment = {**container.environment, "KIT_GRADE": str(root)}
    cloned = Platform(root, root / "student", root / "tests/run.sh", environment)
    found = result(cloned, {f"{kit.slug}.py": kits.RIGHT})
    assert "The fault is in the grader, not in the file" in found["format_errors"][0]


@pytest.mark.parametrize("disk", full_disks.DISKS)
def test_a_disk_that_is_full_leaves_no_other_result(container, kit, disk):
    """Neither an earlier one nor an empty file; and only with a result is the exit code 0."""
    container.hand_in({f"{kit.slug}.py": kits.RIGHT})
    container.result.unlink()
    left = full_disks.left_by(
        container.argv(), container.surroundings(), disk, container.results, OLD
    )
    if full_disks.DISKS[disk].holds_fault:
        graded = full_disks.DISKS[disk].holds_result
        assert (left.code, read("prairielearn", left.result)["gradable"]) == (0, graded)
    else:
        assert (left.code, left.result) == (3, None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_it_runs_without_root(container, python, folder):
    """In an image that has another user, submissions are locked all the same."""
    root = folder / "nobodys"
    shutil.copytree(container.root, root)
    environment = {"KIT_GRADE": str(root), "KIT_PYTHON": python}
    nobodys = Platform(root, root / "student", root / "tests/run.sh", environment)
    nobodys.hand_in({"answer.py": f"PLACES = ['{root}/tests']\n{EVERYTHING}"})
    packages.give_to_nobody(root)
    done = nobodys.run(user=NOBODY)
    assert done.returncode == 0, done.stderr
    text = nobodys.result.read_text(encoding="ascii")
    assert (read("prairielearn", text)["score"], "GOT" in text) == (0, False)
