"""The template repository for GitHub: its workflow's own commands, run in bash as a runner does."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from grader.faults import UsageError
from grader.kit import find
from tests import learner_packages as packages
from tests.exports import commands, read
from tests.learner_packages import BROKEN, RUNNER_FILES, WRONG, submissions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these platforms run on Linux")

WORKFLOW = ".github/workflows/classroom.yml"
SCORE = [
    ("notice", {"title": "Autograding complete"}, "Points {0}/7"),
    ("notice", {"title": "Autograding report"}, '{{"totalPoints":{0},"maxPoints":7}}'),
]


class Course:
    """A template, the grader that its workflow installed, and copies of it for learners."""

    def __init__(self, folder: Path) -> None:
        self.kit = packages.kit(folder / "kit")
        self.slug = self.kit.slug
        self.template = folder / "template"
        self.with_reporter = folder / "with reporter"
        for out, options in ((self.template, ()), (self.with_reporter, ("--reporter",))):
            result = packages.export_package(self.kit.root, "github", out, *options)
            assert result.exception is None, result.exception
        self.site = folder / "site"
        self.folder, self._graded = folder, {}
        done = Runner(self, folder / "installing", {}).step("Install the grader")
        assert done.returncode == 0, done.stderr

    def graded(self, kind: str):
        """A runner that has graded a submission, and what it printed."""
        if kind not in self._graded:
            folder = self.folder / kind
            places = (*RUNNER_FILES, "checkout/result.json", "temp/result")
            source = submissions(*(folder / name for name in places))[kind].source
            runner = Runner(self, folder, {f"{self.slug}.py": source})
            self._graded[kind] = runner, runner.grade()
        return self._graded[kind]

    def workflow(self, template: Path | None = None):
        return yaml.safe_load(((template or self.template) / WORKFLOW).read_text("utf-8"))


class Runner:
    """One learner's checkout, and a runner of GitHub that goes through the steps."""

    def __init__(self, course: Course, folder: Path, files: dict[str, str | None], *,
                 reporter: bool = False) -> None:  # fmt: skip
        self.course = course
        self.template = course.with_reporter if reporter else course.template
        self.checkout, self.temp = folder / "checkout", folder / "temp"
        self.files = {name: folder / name for name in (*RUNNER_FILES, "GITHUB_STEP_SUMMARY")}
        self.temp.mkdir(parents=True)
        for name, data in packages.files_under(self.template).items():
            path = self.checkout / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for name, text in files.items():
            if text is None:
                (self.checkout / name).unlink()
            else:
                (self.checkout / name).write_text(text, encoding="utf-8")
        for path in self.files.values():
            path.touch()

    def step(self, name: str, **environment: str):
        """The commands of one step, with bash and the variables that a runner has."""
        (job,) = self.course.workflow(self.template)["jobs"].values()
        (step,) = [step for step in job["steps"] if step.get("name") == name]
        assert job["defaults"]["run"]["shell"] == "bash"
        script = self.temp / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        return packages.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            self.checkout / step.get("working-directory", ""),
            {
                **packages.site_environment(self.course.site),
                **packages.install_environment(self.course.site),
                **{name: str(path) for name, path in self.files.items()},
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_TOKEN": "SECRETTOKEN",
                "GITHUB_WORKSPACE": str(self.checkout),
                "RUNNER_TEMP": str(self.temp),
                "HOME": str(self.temp),
                **job["env"],
                **environment,
            },
        )

    def grade(self, **environment: str):
        return self.step(f"Grade {self.course.slug}.py", **environment)

    def written(self) -> dict[str, str]:
        return {name: path.read_text(encoding="utf-8") for name, path in self.files.items()}


def notices(done) -> list[tuple[str, dict[str, str], str]]:
    """What is no error of the commands that a runner finds in all that was printed."""
    return [found for found in commands(done.stdout + done.stderr) if found[0] != "error"]


def score(points: int):
    return [(name, about, told.format(points)) for name, about, told in SCORE]


@pytest.fixture(name="course", scope="module")
def _course(tmp_path_factory) -> Course:
    return Course(tmp_path_factory.mktemp("course"))


# ---- the repository


def test_the_workflow_has_the_names_that_classroom_looks_for(course):
    """One job of the one name, which may read and nothing else, and needs no secret."""
    workflow = course.workflow()
    assert workflow["name"] == "Autograding Tests"
    assert [*workflow["jobs"]] == ["run-autograding-tests"]
    assert workflow["permissions"] == {"contents": "read"}
    assert "${{" not in (course.template / WORKFLOW).read_text(encoding="utf-8")


def test_a_learner_has_the_stub_the_pages_and_the_grader(course):
    """And an instructor a note; nothing else lies there."""
    slug = course.slug
    assert {*packages.files_under(course.template)} == {
        *(".github/grader/kit.tar.gz", ".github/grader/constraints.txt", ".github/INSTRUCTOR.md"),
        *(WORKFLOW, ".gitignore", "PACKAGE.sha256", "README.md"),
        *("docs/statement.md", "docs/learn.md", f"{slug}.py"),
    }
    stub = course.kit.root / f"templates/{slug}.py"
    assert (course.template / f"{slug}.py").read_bytes() == stub.read_bytes()
    note = (course.template / ".github/INSTRUCTOR.md").read_text(encoding="utf-8")
    assert "Hidden checks cannot run there: 3 more points" in note
    assert "Whoever has a copy of this repository can read" in note


def test_all_gaps_are_filled(course):
    """No page or script of a package says what its author left open."""
    for template in (course.template, course.with_reporter):
        for name, data in packages.files_under(template).items():
            if not name.endswith(".gz"):
                assert not re.search(rb"\{\{ \w+ \}\}", data), name


def test_nothing_secret_is_in_it(course):
    """Neither a reference nor a hidden check, nor words of them, in any file or archive."""
    held = packages.unpacked(packages.files_under(course.template))
    assert any(name.endswith(f"/problems/{course.slug}/checks.py") for name in held)
    assert [name for name, data in held.items() if b"SECRET" in data or "solutions" in name] == []


def test_nothing_of_this_repositorys_solutions_is_in_it(tmp_path):
    """No file of them, under any name, and no other problem, where one of several is exported."""
    kit = packages.own_kit()
    if kit.solutions is None:
        pytest.skip("a learner's kit has no solutions")
    result = packages.export_package(kit, "github", tmp_path / "out", "--problem", "verify")
    assert result.exception is None
    assert "for 60 (55 with NumPy) points" in result.output
    held = packages.unpacked(packages.files_under(tmp_path / "out"))
    secret = {path.read_bytes() for path in kit.solutions.rglob("*") if path.is_file()}
    assert [name for name, data in held.items() if data and data in secret] == []
    assert [name for name in held if "/solutions/" in name or "/step/" in name] == []


def test_a_leak_is_refused(course, tmp_path):
    """A copy of the reference beside the checks is found before anything is written."""
    kit = packages.kit(tmp_path / "kit")
    body = " ".join(f"word{number}" for number in range(40))
    (kit.root / f"solutions/{kit.slug}/solution.py").write_text(f"x = '{body}'\n", "utf-8")
    (kit.root / f"problems/{kit.slug}/learn.md").write_text(f"# Next\n\n{body}\n", "utf-8")
    result = packages.export_package(kit.root, "github", tmp_path / "out")
    assert isinstance(result.exception, UsageError)
    assert "nothing was written: problems/" in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_the_same_kit_makes_the_same_bytes(course, tmp_path):
    """Wherever it lies, whatever the age and the rights of its files."""
    kit = packages.copy_of(find(course.kit.root), tmp_path / "elsewhere")
    packages.export_package(kit, "github", tmp_path / "out")
    assert packages.files_under(tmp_path / "out") == packages.files_under(course.template)


def test_an_earlier_export_alone_is_written_over(course, tmp_path):
    """What somebody has changed, or put there, is nobody's to delete."""
    out = tmp_path / "out"
    shutil.copytree(course.template, out)
    assert packages.export_package(course.kit.root, "github", out, "--reporter").exception is None
    assert packages.files_under(out) == packages.files_under(course.with_reporter)
    (out / "README.md").write_text("mine", encoding="utf-8")
    result = packages.export_package(course.kit.root, "github", out)
    assert "README.md was changed since" in str(result.exception)
    assert (out / "README.md").read_text(encoding="utf-8") == "mine"


def test_a_kit_of_several_problems_needs_one_named(tmp_path):
    """An assignment is one problem, and the complaint says how to name it."""
    result = packages.export_package(packages.own_kit(), "github", tmp_path / "out")
    assert isinstance(result.exception, UsageError)
    assert "say --problem step or --problem verify" in str(result.exception)


def test_an_installed_grader_has_no_project_to_hand_out(course, tmp_path):
    """Only a checkout has what pip needs; the complaint says so."""
    done = packages.run(
        ["grade", "dev", "export", "github", "out"],
        tmp_path,
        packages.site_environment(course.site),
    )
    assert done.returncode == 2
    assert "run grade from a checkout" in done.stderr


# ---- its workflow


@pytest.mark.parametrize("name", ["kit.tar.gz", "constraints.txt"])
def test_another_grader_is_not_installed(course, tmp_path, name):
    """The workflow knows the grader by its hash."""
    runner = Runner(course, tmp_path, {})
    with (runner.checkout / ".github/grader" / name).open("ab") as file:
        file.write(b"\n")
    done = runner.step("Install the grader", PIP_TARGET=str(tmp_path / "site"))
    assert done.returncode != 0
    assert f"{name}: FAILED" in done.stdout
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("kind", submissions())
def test_a_submission_has_the_points_it_earned(course, kind):
    """Two notices last, whatever it does, and a red step unless all points are there."""
    runner, done = course.graded(kind)
    earned = submissions()[kind].earned
    assert done.returncode == (0 if earned == 7 else 1), done.stderr
    assert notices(done) == score(earned)
    assert [name for name, _, _ in commands(done.stdout)[-2:]] == ["notice", "notice"]
    read("github", (runner.temp / "result").read_text(encoding="utf-8"))
    read("step_summary", runner.written()["GITHUB_STEP_SUMMARY"])


def test_a_learner_writes_no_file_of_the_runners(course):
    """Neither the step's outputs nor the variables and the path of later steps."""
    runner, _ = course.graded("writes verdicts")
    summary = runner.written()
    text = summary.pop("GITHUB_STEP_SUMMARY")
    assert {*summary.values()} == {""}
    assert "tried" in text
    assert "WROTE" not in text


def test_a_learner_has_no_variable_of_the_runner(course):
    """None that names a file of the runner's, a token or a platform."""
    runner, done = course.graded("writes verdicts")
    text = runner.written()["GITHUB_STEP_SUMMARY"]
    names = packages.learner_variables(text)
    assert [name for name in names if re.match("GITHUB|RUNNER|PIP|CI$|KIT", name)] == []
    assert "SECRET" not in text + done.stdout + done.stderr


def test_a_missing_file_has_no_points(course, tmp_path):
    """The notices say so, or the grade of an earlier push would stay; the learner is told why, and
    the step is red."""
    runner = Runner(course, tmp_path, {f"{course.slug}.py": None})
    (runner.temp / "result/old").mkdir(parents=True)
    done = runner.grade()
    assert done.returncode == 2
    (name, _, told), *others = commands(done.stdout)
    assert name == "error"
    assert f"{course.slug}.py: no such file; check the name" in told
    assert others == score(0)


def test_of_two_files_the_named_one_counts(course, tmp_path):
    """A second one earns nothing, also where it is right."""
    right = submissions()["right"].source
    files = {f"{course.slug}.py": WRONG, f"{course.slug}_2.py": right, "torch.py": "raise Boom\n"}
    done = Runner(course, tmp_path, files).grade()
    assert (done.returncode, notices(done)) == (1, score(0))


@pytest.mark.parametrize("reporter", [False, True], ids=["notices", "reporter"])
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_grader_grades_nobody(course, tmp_path, kind, reporter):
    """No notice and no output, not even an older one; a red step, and who is at fault."""
    source = submissions()["right"].source
    runner = Runner(course, tmp_path, {f"{course.slug}.py": source}, reporter=reporter)
    (runner.temp / "result").write_text(
        "::notice title=Autograding complete::Points 7/7\n", "utf-8"
    )
    done = runner.grade(PATH=packages.broken_path(tmp_path / "bin", kind))
    assert done.returncode > 1
    ((name, about, told),) = commands(done.stdout + done.stderr)
    assert (name, about["title"].partition(": ")[2]) == ("error", "could not be graded")
    assert "The fault is in the grader, not in the file" in told
    assert {*runner.written().values()} == {""}


# ---- with Classroom's own reporter


@pytest.mark.parametrize(
    ("kind", "status"),
    [("right", "pass"), ("partly right", "fail"), ("ends the process", "error")],
)
def test_the_reporter_is_given_a_result(course, tmp_path, kind, status):
    """The step sets the one output, and leaves it to the reporter to be red."""
    submission = submissions()[kind]
    runner = Runner(course, tmp_path, {f"{course.slug}.py": submission.source}, reporter=True)
    done = runner.grade()
    assert (done.returncode, commands(done.stdout + done.stderr)) == (0, [])
    written = runner.written()
    document = read("classroom", written.pop("GITHUB_OUTPUT"))
    assert (document["status"], document["max_score"]) == (status, 7)
    assert sum(row["score"] for row in document["tests"]) == submission.earned
    assert {*written.values()} == {""}


def test_the_reporter_reads_the_output_of_the_step(course):
    """By the step's name in capitals, which has neither hyphens nor anything else in it."""
    (job,) = course.workflow(course.with_reporter)["jobs"].values()
    *_, grade, report = job["steps"]
    assert grade["id"].isalnum()
    assert report["uses"] == "classroom-resources/autograding-grading-reporter@v1"
    variable = f"{grade['id'].upper()}_RESULTS"
    assert report["env"] == {variable: f"${{{{ steps.{grade['id']}.outputs.result }}}}"}
    assert report["with"] == {"runners": grade["id"]}


def test_the_reporter_hears_of_a_missing_file(course, tmp_path):
    """No points of the usual maximum, as of a file that earns nothing."""
    runner = Runner(course, tmp_path, {f"{course.slug}.py": None}, reporter=True)
    assert runner.grade().returncode == 0
    document = read("classroom", runner.written()["GITHUB_OUTPUT"])
    assert (document["status"], document["max_score"]) == ("error", 7)
    assert json.dumps(document).count("could not be graded") == 1
