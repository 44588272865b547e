"""The test runner for Exercism: its scripts, run in the layout that Exercism mounts."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader import kit as kits
from grader.faults import UsageError
from tests import full_disks, planted
from tests import learner_packages as packages
from tests.conftest import ROOT
from tests.exports import read
from tests.kits import processes
from tests.learner_packages import BROKEN, WRONG, submissions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these platforms run on Linux")

CHECKS = ["Two follows one.", "Fourteen follows thirteen.", "Three follows two."]


class Image:
    """The package as an image would hold it, with the kit installed beside it."""

    def __init__(self, folder: Path) -> None:
        self.kit = packages.kit(folder / "kit")
        self.slug = self.kit.slug
        self.root = folder / "test-runner"
        result = packages.export_package(self.kit.root, "exercism", self.root)
        assert result.exception is None, result.exception
        self.told = result.output
        self.site = folder / "site"
        shutil.copytree(self.root / "kit", folder / "copy")
        environment = packages.site_environment(self.site) | packages.install_environment(self.site)
        done = packages.run(
            ["pip", "install", "--quiet", "-c", "copy/constraints.txt", "./copy"],
            folder,
            environment | {"HOME": str(folder)},
        )
        assert done.returncode == 0, done.stderr

    def solution(self, folder: Path, source: str | None, **files: str) -> Path:
        """A solution's folder and an empty one for the output; the folder of both."""
        (folder / "solution").mkdir(parents=True)
        (folder / "output").mkdir()
        if source is not None:
            files[f"{self.slug}.py"] = source
        for name, text in files.items():
            (folder / "solution" / name).write_text(text, encoding="utf-8")
        return folder

    def run(self, folder: Path, *before: str, slug: str | None = None, **environment: str):
        """Exercism's call of the entry point, after the words that start it otherwise."""
        return packages.run(
            [
                *(*before, str(self.root / "bin/run.sh"), slug or self.slug),
                *(f"{folder / 'solution'}/", f"{folder / 'output'}/"),
            ],
            self.root,
            {**packages.site_environment(self.site), "SECRETTOKEN": "SECRET", **environment},
        )


def result(folder: Path):
    """The one file that is left, as Exercism's rules have it."""
    assert [path.name for path in (folder / "output").iterdir()] == ["results.json"]
    return read("exercism", (folder / "output/results.json").read_text(encoding="utf-8"))


@pytest.fixture(name="image", scope="module")
def _image(tmp_path_factory) -> Image:
    return Image(tmp_path_factory.mktemp("image"))


# ---- the package


def test_it_has_the_layout_of_a_test_runner(image):
    """Scripts that can be executed, an image, and the kit."""
    for name in ("run.sh", "run-in-docker.sh", "run-tests.sh"):
        assert os.access(image.root / "bin" / name, os.X_OK)
    dockerfile = (image.root / "Dockerfile").read_text(encoding="utf-8")
    assert "WORKDIR /opt/test-runner" in dockerfile
    assert 'ENTRYPOINT ["/opt/test-runner/bin/run.sh"]' in dockerfile
    for folder in re.findall(r"^COPY (\S+)", dockerfile, re.MULTILINE):
        assert (image.root / folder).exists()


def test_nothing_secret_is_in_it(image):
    """Neither a reference nor a hidden check; and no gap of a page is left open."""
    held = packages.files_under(image.root)
    assert f"kit/problems/{image.slug}/checks.py" in held
    assert [name for name, data in held.items() if b"SECRET" in data or "solutions" in name] == []
    texts = [data for name, data in held.items() if not name.startswith("kit/")]
    assert not re.search(rb"\{\{ \w+ \}\}", b"".join(texts))


def test_it_holds_all_problems_or_the_one_named(tmp_path):
    """And says how Exercism is to call them."""
    first, second = packages.kit(tmp_path / "kit").slug, packages.kit(tmp_path / "kit").slug
    for out, options, slugs in (
        ("all", (), [first, second]),
        ("one", ("--problem", second), [second]),
    ):
        made = packages.export_package(tmp_path / "kit", "exercism", tmp_path / out, *options)
        assert made.exception is None
        assert f"It grades {', '.join(slugs)}." in made.output
        folders = (tmp_path / out / "kit/problems").iterdir()
        assert sorted(path.name for path in folders) == slugs


def test_the_same_kit_makes_the_same_bytes(image, tmp_path):
    """Wherever it lies, whatever the age and the rights of its files."""
    kit = packages.copy_of(kits.find(image.kit.root), tmp_path / "elsewhere")
    packages.export_package(kit, "exercism", tmp_path / "out")
    assert packages.files_under(tmp_path / "out") == packages.files_under(image.root)


def test_a_folder_of_somebody_elses_is_refused(image, tmp_path):
    """Nothing is overwritten but an earlier package."""
    (tmp_path / "precious.txt").write_text("mine", encoding="utf-8")
    made = packages.export_package(image.kit.root, "exercism", tmp_path)
    assert isinstance(made.exception, UsageError)
    assert "not an earlier package" in str(made.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


# ---- its results


@pytest.mark.parametrize("kind", submissions())
def test_a_solution_has_the_result_it_earned(image, tmp_path, kind):
    """Exit code 0 and one valid file, whatever it does; the same checks in the same order."""
    paths = [tmp_path / "output/results.json", tmp_path / "solution/results.json"]
    submission = submissions(*paths)[kind]
    folder = image.solution(tmp_path, submission.source)
    (folder / "output/results.json").write_text('{"version": 3, "status": "pass"}', "utf-8")
    done = image.run(folder)
    assert done.returncode == 0, done.stderr
    document = result(folder)
    if not submission.loads:
        assert document["status"] == "error"
        assert document["message"].startswith(f"<solution-dir>/{image.slug}.py: ")
        return
    assert document["status"] == ("pass" if submission.earned == 7 else "fail")
    assert [row["name"] for row in document["tests"]] == CHECKS
    passed = [row["status"] == "pass" for row in document["tests"]]
    assert sum(points for points, won in zip((4, 2, 1), passed, strict=True) if won) == (
        submission.earned
    )
    text = json.dumps(document) + done.stdout + done.stderr
    assert "SECRET" not in text
    assert "WROTE" not in text


def test_a_missing_file_is_an_error_of_the_learners(image, tmp_path):
    """The learner is told, and the run went well."""
    folder = image.solution(tmp_path, None)
    assert image.run(folder).returncode == 0
    document = result(folder)
    assert document["status"] == "error"
    assert f"{image.slug}.py: no such file" in document["message"]


@pytest.mark.parametrize("fault", ["slug", "Python", "folder"])
def test_what_is_not_the_learners_is_no_result_of_theirs(image, tmp_path, fault):
    """A slug that is no problem's, a Python that checks nothing, a folder that is not mounted."""
    folder = image.solution(tmp_path, submissions()["right"].source)
    (folder / "output/results.json").write_text('{"version": 3, "status": "pass"}', "utf-8")
    if fault == "folder":
        shutil.rmtree(folder / "solution")
    elif fault == "slug":
        (folder / "solution/two_fer.py").write_text(submissions()["right"].source, "utf-8")
    done = image.run(
        folder,
        slug="two-fer" if fault == "slug" else None,
        PYTHONOPTIMIZE="2" if fault == "Python" else "",
    )
    assert done.returncode == 3
    document = result(folder)
    assert document["status"] == "error"
    assert "The fault is in the grader, not in the file" in document["message"]


@pytest.mark.parametrize("place", ["solution", "output"])
def test_a_folder_in_the_place_of_a_file_is_told_or_removed(image, tmp_path, place):
    """That of the solution is the learner's error; that of an old result gives way."""
    folder = image.solution(tmp_path, submissions()["right"].source if place == "output" else None)
    planted = f"solution/{image.slug}.py" if place == "solution" else "output/results.json"
    (folder / planted / "deep").mkdir(parents=True)
    done = image.run(folder)
    assert done.returncode == 0, done.stderr
    document = result(folder)
    assert document["status"] == ("pass" if place == "output" else "error")
    assert place == "output" or f"{image.slug}.py: a folder, not a file" in document["message"]


@pytest.mark.parametrize("disk", full_disks.DISKS)
def test_a_disk_that_is_full_leaves_no_other_result(image, tmp_path, disk):
    """Whatever is missing on it, neither an earlier result is left nor an empty file."""
    folder = image.solution(tmp_path, submissions()["right"].source)
    left = full_disks.left_by(
        [str(image.root / "bin/run.sh"), image.slug, f"{folder}/solution/", f"{folder}/output/"],
        packages.site_environment(image.site) | {"HOME": str(tmp_path)},
        disk,
        folder / "output",
        '{"version": 3, "status": "pass", "tests": []}',
    )
    if full_disks.DISKS[disk].holds_result:
        assert (left.code, read("exercism", left.result)["status"]) == (0, "pass")
    elif full_disks.DISKS[disk].holds_fault:
        assert (left.code, read("exercism", left.result)["status"]) == (3, "error")
    else:
        assert (left.code, left.result) == (3, None)


@pytest.mark.parametrize("kind", planted.KINDS)
def test_what_lies_in_the_way_of_a_result_is_removed(image, tmp_path, kind):
    """Whatever it is: a platform may give one folder as that of the solution and of the result."""
    folder = image.solution(tmp_path, submissions()["right"].source)
    spared = planted.plant(kind, folder / "output", tmp_path)
    assert image.run(folder).returncode == 0
    assert result(folder)["status"] == "pass"
    assert not (folder / "output/results.json").is_symlink()
    assert spared.read_text(encoding="utf-8") == "mine"
    assert [path.name for path in (folder / "output").iterdir()] == ["results.json"]


def test_of_two_files_the_one_named_like_the_exercise_counts(image, tmp_path):
    """What else lies there is neither graded nor imported."""
    right = submissions()["right"].source
    files = {f"{image.slug}_2.py": right, "torch.py": "raise Boom\n"}
    folder = image.solution(tmp_path / "my wörk", WRONG, **files)
    assert image.run(folder).returncode == 0
    assert result(folder)["status"] == "fail"


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_grader_is_told(image, tmp_path, kind):
    """A valid result that says who is at fault, never an older one, and an exit code of its own."""
    folder = image.solution(tmp_path, submissions()["right"].source)
    (folder / "output/results.json").write_text('{"version": 3, "status": "pass"}', "utf-8")
    done = image.run(folder, PATH=packages.broken_path(tmp_path / "bin", kind))
    assert done.returncode == 3
    document = result(folder)
    assert document["status"] == "error"
    assert "The fault is in the grader, not in the file" in document["message"]


def test_a_grader_that_is_killed_leaves_no_older_result(image, tmp_path):
    """With SIGKILL in the middle of a grading there is the result that says so."""
    folder = image.solution(tmp_path, submissions()["never ends"].source)
    (folder / "output/results.json").write_text('{"version": 3, "status": "pass"}', "utf-8")
    command = [
        *(str(image.root / "bin/run.sh"), image.slug),
        *(f"{folder / 'solution'}/", f"{folder / 'output'}/"),
    ]
    started = subprocess.Popen(
        command,
        env=packages.site_environment(image.site),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    graders = []
    deadline = time.monotonic() + 60
    while not graders and time.monotonic() < deadline:
        time.sleep(0.02)
        graders = [
            p.pid for p in processes() if p.parent == started.pid and "grade run" in p.command
        ]
    os.kill(graders[0], signal.SIGKILL)
    assert started.wait(timeout=60) == 3
    assert "The fault is in the grader" in result(folder)["message"]


def test_a_slug_with_hyphens_is_a_file_with_underscores(image, tmp_path):
    """Exercism has the one, Python the other."""
    script = tmp_path / "bin/grade"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n', encoding="utf-8")
    script.chmod(0o755)
    folder = image.solution(tmp_path / "it", None)
    image.run(folder, slug="two-words", PATH=f"{script.parent}:/usr/bin:/bin")
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert "/two_words.py --problem two_words --require-isolation --format exercism" in asked


def test_its_own_cases_have_the_status_they_should(image):
    """A file that is missing, one that is no Python, and the stub; a wrong one is noticed."""
    run = [str(image.root / "bin/run-tests.sh")]
    done = packages.run(run, image.root, packages.site_environment(image.site))
    assert (done.returncode, done.stdout) == (
        0,
        f"ok    {image.slug}/missing: error\n"
        f"ok    {image.slug}/not_python: error\n"
        f"ok    {image.slug}/stub: fail\n",
    )


def test_a_case_with_another_status_is_told(image, tmp_path):
    """A folder of one's own is a case like those that came with it."""
    root = tmp_path / "runner"
    shutil.copytree(image.root, root)
    for case in (root / "tests" / image.slug).iterdir():
        (case / "expected_status").write_text("pass\n", encoding="utf-8")
    done = packages.run([str(root / "bin/run-tests.sh")], root, {"PATH": "/usr/bin:/bin"})
    assert done.returncode == 1
    assert f"FAIL  {image.slug}/stub: error, expected pass" in done.stdout


# ---- in a container


_CLOSED = """\
set -e
for place in "$@"; do
  mount --bind "$place" "$place"
  mount -o remount,ro,bind "$place"
  ! touch "$place/written" 2>/dev/null
done
exec "$RUN" "$SLUG" "$SOLUTION/" "$OUTPUT/"
"""


def test_it_needs_no_network_and_writes_to_its_output_alone(image, tmp_path):
    """On a file system that can only be read, apart from any network, a right file passes."""
    if subprocess.run(["unshare", "-mn", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).returncode:
        pytest.skip("no mounts and networks of its own can be made here")
    folder = image.solution(tmp_path, submissions()["right"].source)
    home = tmp_path / "home"
    home.mkdir()
    closed = [image.root, image.site, folder / "solution", home, ROOT, Path(sys.prefix)]
    done = packages.run(
        ["unshare", "-mn", "bash", "-c", _CLOSED, "bash", *map(str, closed)],
        Path("/"),
        {
            **packages.site_environment(image.site),
            "RUN": str(image.root / "bin/run.sh"),
            "SLUG": image.slug,
            "SOLUTION": str(folder / "solution"),
            "OUTPUT": str(folder / "output"),
            "HOME": str(home),
        },
    )
    assert done.returncode == 0, done.stderr
    assert result(folder)["status"] == "pass"


def test_docker_is_asked_for_the_same(image, tmp_path):
    """No network, a file system that can only be read, and three places mounted."""
    docker = tmp_path / "bin/docker"
    docker.parent.mkdir()
    docker.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n', encoding="utf-8")
    docker.chmod(0o755)
    folder = image.solution(tmp_path / "it", None)
    done = packages.run(
        [str(image.root / "bin/run-in-docker.sh"), "next-one", "solution", "new/output"],
        folder,
        {"PATH": f"{docker.parent}:/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    build, run = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    assert build.endswith(f" {image.root}")
    assert "--network none --read-only" in run
    assert f"type=bind,src={folder}/solution,dst=/solution,readonly" in run
    assert f"type=bind,src={folder}/new/output,dst=/output" in run
    assert "type=tmpfs,dst=/tmp" in run
    assert run.endswith(" next-one /solution/ /output/")
