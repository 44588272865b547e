"""`grade run --format`: real processes, real files, and results that a platform can always read."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import CHECKS, ROOT, TOML
from tests.exports import FOR_LEARNERS, FORMATS, commands, read

NAMES = tuple(name for name in FORMATS if name != "step_summary")
PLATFORMS = tuple(name for name in FOR_LEARNERS if name != "step_summary")
RIGHT = "def double(x):\n    return 2 * x\n"
WRONG = "def double(x):\n    return abs(x) * 2\n"
TIMES = re.compile(
    r'"(datetime|started_at)": "[^"]+"|"(seconds|execution_time)": [\d.]+'
    r"|time(stamp)?=\"[^\"]+\"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
)


def write(grade, name, text):
    path = grade.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# ---- where a result goes


@pytest.mark.parametrize("name", [name for name in NAMES if name != "text"])
def test_a_result_goes_to_the_output_alone(grade, make_kit, name):
    """A platform reads the output; the screen is on the error output; the exit code stays."""
    write(grade, "double.py", WRONG)
    result = grade("--kit", make_kit(), "run", "double.py", "--format", name)
    assert result.returncode == 1
    read(name, result.stdout)
    assert "Score:        1 of 3\n" in result.stderr
    assert "Score:" not in result.stdout


@pytest.mark.parametrize("name", ["text", "html", "junit"])
def test_a_result_goes_to_a_file(grade, make_kit, name):
    """Whole, over an older one, with nothing beside it; the screen is shown as always."""
    write(grade, "double.py", RIGHT)
    out = write(grade, "out", "old")
    result = grade("--kit", make_kit(), "run", "double.py", "--format", name, "-o", "out")
    assert (result.returncode, result.stderr) == (0, "")
    assert "Score:        3 of 3\n" in result.stdout
    read(name, out.read_text(encoding="utf-8"))
    assert [path for path in grade.folder.iterdir() if path.suffix == ".tmp"] == []


def test_text_is_the_screen(grade, make_kit):
    """Said or not, it is what is printed; in a file the command can be used anywhere."""
    write(grade, "double.py", WRONG)
    run = ("--kit", make_kit(), "run", "double.py")
    screen = grade(*run).stdout
    assert grade(*run, "--format", "text").stdout == screen
    assert grade(*run, "-o", "out").stdout == screen
    assert (grade.folder / "out").read_text(encoding="utf-8").replace(
        "grade run double.py --problem double", "grade run double.py"
    ) == screen


def test_the_score_is_written_beside_a_format(grade, make_kit, valid_score):
    """One grading, a document for the instructor and a result for the platform."""
    write(grade, "double.py", WRONG)
    result = grade(
        *("--kit", make_kit(), "run", "double.py", "--json", "score.json"),
        *("--format", "gradescope", "-o", "results.json"),
    )
    assert result.returncode == 1
    assert valid_score((grade.folder / "score.json").read_text(encoding="utf-8"))["score"] == 1
    assert read("gradescope", (grade.folder / "results.json").read_text("utf-8"))["score"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "gradescop"], "'gradescop' is not one of"),
        (["--format", "html", "--json", "-"], "both write to the output; say -o PATH"),
        (["--format", "json", "-o", "a", "--json", "a"], "-o a: named twice"),
        (["--format", "html", "-o", "double.py"], "-o double.py: that is the submission itself"),
        (["--format", "html", "-o", "nowhere/a"], "-o nowhere/a: there is no folder nowhere"),
        (["--format", "html", "-o", "."], "-o .: a folder; give a file name in it"),
        (["-o", "/dev/null"], "-o /dev/null: not an ordinary file"),
    ],
)
def test_a_place_that_cannot_be_written_is_explained(grade, make_kit, arguments, words):
    """Before anything is graded, and nothing is touched."""
    write(grade, "double.py", RIGHT)
    result = grade("--kit", make_kit(), "run", "double.py", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr
    assert (grade.folder / "double.py").read_text(encoding="utf-8") == RIGHT


def test_nothing_of_the_formats_is_imported_unasked(grade, make_kit):
    """A learner's run is as light as without them."""
    write(grade, "double.py", RIGHT)
    result = subprocess.run(
        [
            *(sys.executable, "-P", "-X", "importtime", "-m", "grader"),
            *("--kit", str(make_kit()), "run", "double.py"),
        ],
        cwd=grade.folder,
        env=grade.environment,
        capture_output=True,
        encoding="utf-8",
    )
    assert result.returncode == 0
    assert "grader.export" not in result.stderr


def test_a_format_needs_a_report_alone():
    """No exporter brings in what grades: it could make a result where nothing else is."""
    names = [f"grader.export.{name}" for name in FORMATS]
    code = (
        f"import sys, {', '.join(names)}\nprint({{'pytest', 'numpy', 'torch'}} & {{*sys.modules}})"
    )
    found = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert found.stdout == "set()\n"


HIDDEN = '''\
import pytest

from grader.expect import exactly


@pytest.mark.points(4, group="values")
def test_secret(submission):
    """SECRETTITLE is asked for."""
    assert submission(21) == exactly(42)
'''


@pytest.mark.parametrize("name", ["github", "classroom", "classroom50", "junit"])
def test_a_log_that_learners_read_tells_no_hidden_check(grade, make_kit, name):
    """The screen in it counts their points; their titles and the seed are the instructor's."""
    toml = TOML.replace("torch = { public = 3, hidden = 0", "torch = { public = 3, hidden = 4")
    kit = make_kit(toml=toml, solution=RIGHT)
    (kit / "solutions/double/hidden.py").write_text(HIDDEN, encoding="utf-8")
    write(grade, "double.py", "def double(x):\n    return 4 if x == 2 else 0\n")
    run = ("--kit", kit, "run", "double.py", "--seed", "918273645")
    result = grade(*run, "--format", name, "-o", "out")
    assert "FAIL   0/4  hidden checks" in result.stdout
    text = result.stdout + result.stderr + (grade.folder / "out").read_text(encoding="utf-8")
    assert "SECRET" not in text
    assert "918273645" not in text
    assert "SECRETTITLE" in grade(*run).stdout


# ---- what cannot be graded


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_of_the_kit_is_a_result(grade, make_kit, name):
    """Exit code 3, and a file that says so in place of the last student's."""
    write(grade, "double.py", RIGHT)
    out = write(grade, "out", "the last student's")
    kit = make_kit(checks=CHECKS.replace("== exactly(4)", "== exactly(4 / 0)"))
    result = grade("--kit", kit, "run", "double.py", "--format", name, "-o", "out")
    assert (result.returncode, result.stdout) == (3, "")
    text = out.read_text(encoding="utf-8")
    read(name, text)
    assert ("ZeroDivisionError" in text) == (name in ("text", "json"))
    assert str(kit) not in text


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("gone/double.py", "double.py: no such file"),
        ("in/double.py", "double.py: has a NUL byte on line 1"),
        ("in/large/double.py", "double.py: 300,000 bytes; a submission may have 256 KiB"),
        ("in/other.py", "other.py: its name does not tell the problem"),
        ("in", "2 files for 'double': double.py, large/double.py; leave the"),
        ("in/empty", "Nothing was handed in"),
        ("in/dotted", "No file, only .double.py, hidden by its dot."),
        ("in/dotted/double.py", "double.py: no such file, only .double.py; check the name"),
        ("in/foldered", "No file, only the folder double.py, with no file in it."),
        ("in/foldered/double.py", "double.py: a folder, not a file"),
        ("in/noted", "No Python file, only notes.txt; passed over: .double.py, hidden by its dot."),
    ],
)
def test_a_file_that_cannot_be_read_is_a_result(grade, make_kit, file, reason):
    """A platform is told what the learner has to mend, without its own folders; exit code 2."""
    large = grade.folder / "in/large"
    large.mkdir(parents=True)
    (large / "double.py").write_bytes(b"#" * 300_000)
    (grade.folder / "in/double.py").write_bytes(b"x = '\0'")
    write(grade, "in/other.py", RIGHT)
    out = write(grade, "out", "the last student's")
    (grade.folder / "in/empty").mkdir()
    (grade.folder / "in/foldered/double.py").mkdir(parents=True)
    for name in ("dotted/.double.py", "noted/.double.py", "noted/notes.txt"):
        write(grade, f"in/{name}", RIGHT)
    problem = ["--problem", "double"] if (grade.folder / file).is_dir() else []
    run = ("--kit", make_kit(), "run", grade.folder / file, *problem)
    result = grade(*run, "--format", "prairielearn", "-o", "out")
    assert (result.returncode, result.stdout) == (2, "")
    document = read("prairielearn", out.read_text(encoding="utf-8"))
    (told,) = document["format_errors"]
    assert f"{told}.".startswith(f"This file could not be graded. {reason}")
    assert str(grade.folder) not in told
    # A learner of a platform may not have that command.
    assert "grade start" not in told


def handed_in(folder, kind):
    """A folder in which there is no single readable file for `double`."""
    folder.mkdir()
    file = folder / "double.py"
    match kind:
        case "not UTF-8":
            file.write_bytes(b"# \xe9\n")
        case "too large":
            file.write_bytes(b"#" * 300_000)
        case "a link":
            (folder.parent / "elsewhere.py").write_text(RIGHT, encoding="utf-8")
            file.symlink_to("../elsewhere.py")
        case "a pipe":
            os.mkfifo(file)
        case "a folder":
            file.mkdir()
        case "two files":
            file.write_text(RIGHT, encoding="utf-8")
            (folder / "double_2.py").write_text(RIGHT, encoding="utf-8")


KINDS = ("nothing", "not UTF-8", "too large", "a link", "a pipe", "a folder", "two files")


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_handed_in_has_no_points_of_the_usual_maximum(grade, make_kit, kind):
    """Whatever is wrong with it, and whether a file or a folder is named: it is the learner's."""
    handed_in(grade.folder / "in", kind)
    for place in ("in", "in/double.py"):
        if (kind, place) == ("two files", "in/double.py"):
            continue  # that is the file
        result = grade(
            *("--kit", make_kit(), "run", place, "--problem", "double"),
            *("--format", "gradescope", "-o", "out"),
        )
        assert result.returncode == 2, result.stderr
        document = read("gradescope", (grade.folder / "out").read_text(encoding="utf-8"))
        assert document["extra_data"]["state"] == "unreadable"
        assert (document["score"], document["tests"][0]["max_score"]) == (0, 3)


@pytest.mark.parametrize(
    ("options", "most"),
    [((), 7), (("--no-hidden",), 3), (("--library", "numpy"), 5)],
)
def test_the_usual_maximum_is_that_of_the_same_call(grade, make_kit, options, most):
    """With hidden checks where they would run, in the library that is asked for."""
    points = "torch = { public = 3, hidden = 0"
    toml = TOML.replace(points, points.replace("hidden = 0", "hidden = 4"))
    toml = re.sub(r"numpy = \{ public = 3, hidden = 0", "numpy = { public = 3, hidden = 2", toml)
    kit = make_kit(toml=toml, solution=RIGHT)
    (kit / "solutions/double/hidden.py").write_text(HIDDEN, encoding="utf-8")
    result = grade("--kit", kit, "run", "double.py", *options, "--format", "github")
    assert result.returncode == 2
    assert read("github", result.stdout)[1][2] == f"Points 0/{most}"


@pytest.mark.parametrize("name", ["text", "json", "gradescope", "github", "html"])
def test_a_missing_file_is_a_result_for_platforms(grade, make_kit, name):
    """Whoever reads the screen or the JSON is told on the error output, and no old file is left."""
    out = write(grade, "out", "the last student's")
    result = grade("--kit", make_kit(), "run", "double.py", "--format", name, "-o", "out")
    assert result.returncode == 2
    assert "double.py: no such file" in result.stderr
    assert out.exists() == (name in PLATFORMS)
    if name in PLATFORMS:
        read(name, out.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["json", "gradescope", "classroom50"])
@pytest.mark.parametrize(
    ("file", "arguments", "environment"),
    [
        ("double.py", ["--problem", "duoble"], {}),
        ("double.py", ["--require-hidden", "--no-hidden"], {}),
        ("double.py", ["--require-isolation", "--isolation", "process"], {}),
        ("double.py", [], {"PYTHONOPTIMIZE": "2"}),
        ("/proc/self/mem", ["--problem", "double"], {}),  # as where a disk fails
        ("double.py", ["--library", "torch", "--device", "cuda"], {}),
    ],
    ids=["problem", "options", "isolation", "Python", "disk", "device"],
)
def test_what_is_not_the_learners_is_nobodys_result(
    grade, make_kit, name, file, arguments, environment
):
    """What an instructor has set up wrongly, or a machine lacks, stands in the log; a script that
    finds no result knows that nothing was graded, and no old one is left."""
    write(grade, "double.py", RIGHT)
    out = write(grade, "out", "the last student's")
    result = grade(
        *("--kit", make_kit(), "run", file, *arguments, "--format", name, "-o", "out"),
        **environment,
    )
    if "cuda" in arguments and result.returncode == 0:
        pytest.skip("there is a CUDA device here")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("grade: ")
    assert not out.exists()


def run_with_a_broken(function, error, grade, kit):
    """A right file, graded where this function of the grader does nothing but raise."""
    module, _, name = f"grader.{function}".rpartition(".")
    site = grade.folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        f"import {module} as broken\n"
        f"def fail(*args, **kwargs): raise {error}\n"
        f"broken.{name} = fail\n",
        encoding="utf-8",
    )
    write(grade, "double.py", RIGHT)
    return grade(
        *("--kit", kit, "run", "double.py", "--format", "gradescope", "-o", "out"),
        PYTHONPATH=os.pathsep.join([str(site), str(ROOT)]),
    )


@pytest.mark.parametrize("broken", ["session.grade", "submission_file.read"])
def test_a_disk_that_is_full_is_nobodys_result(grade, make_kit, broken):
    """Wherever it is noticed: no result, rather than one which says that the kit is at fault."""
    error = "OSError(28, 'No space left on device')"
    result = run_with_a_broken(broken, error, grade, make_kit())
    assert (result.returncode, result.stdout) == (2, "")
    assert "could not be written: No space left on device" in result.stderr
    assert not (grade.folder / "out").exists()


@pytest.mark.parametrize(
    "broken",
    ["submission_file.read", "session.grade", "score.report", "export.gradescope._row"],
)
def test_a_crash_of_the_grader_is_a_result(grade, make_kit, broken):
    """Whether it crashes while loading, running, scoring or rendering: exit code 3, and no text of
    the crash, which may hold a learner's, in the result."""
    error = "ZeroDivisionError('SECRET of the learner')"
    result = run_with_a_broken(broken, error, grade, make_kit())
    assert (result.returncode, result.stdout) == (3, "")
    assert "ZeroDivisionError" in result.stderr
    text = (grade.folder / "out").read_text(encoding="utf-8")
    assert read("gradescope", text)["extra_data"]["state"] == "fault"
    assert "SECRET" not in text


# ---- nothing stale


def test_a_file_that_ends_the_process_does_not_keep_the_last_result(grade, make_kit):
    """A planted full mark is gone when the file leaves at its import."""
    write(grade, "double.py", "import os\nos._exit(0)\n")
    out = write(grade, "out", '{"score": 999}')
    result = grade("--kit", make_kit(), "run", "double.py", "--format", "gradescope", "-o", "out")
    assert result.returncode == 1
    document = read("gradescope", out.read_text(encoding="utf-8"))
    assert document["score"] == 0
    assert [row["max_score"] for row in document["tests"]] == [1, 2]


def test_a_killed_grader_leaves_no_old_result(grade, make_kit):
    """With SIGKILL in the middle there is no file, never the old one."""
    write(grade, "double.py", "import time\ndef double(x):\n    time.sleep(60)\n")
    out = write(grade, "out", '{"score": 999}')
    kit = make_kit(
        toml=TOML.replace("call = 2", "call = 60").replace("submission = 10", "submission = 60")
    )
    process = subprocess.Popen(
        grade.argv("--kit", kit, "run", "double.py", "--format", "gradescope", "-o", "out"),
        cwd=grade.folder,
        env=grade.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while out.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(2)  # into the grading
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=20)
    assert not out.exists()


def test_a_submission_writes_no_result(grade, make_kit):
    """It sees no variable that names a platform's file, changes none of them, earns nothing."""
    output, results = write(grade, "github_output", ""), write(grade, "results.json", "{}")
    write(
        grade,
        "double.py",
        "import os, sys\n"
        "print(sorted(name for name in os.environ if 'GITHUB' in name or 'RESULT' in name))\n"
        "for path in ('results.json', '../results.json', 'out', "
        f"{str(results)!r}, {str(output)!r}):\n"
        "    try:\n"
        "        with open(path, 'w') as file:\n"
        "            file.write('status=success')\n"
        "    except OSError:\n"
        "        pass\n"
        "def double(x):\n"
        "    return None\n",
    )
    result = grade(
        *("--kit", make_kit(), "run", "double.py", "--format", "gradescope", "-o", "out"),
        GITHUB_OUTPUT=str(output),
        GITHUB_ENV=str(output),
        KIT_RESULTS="x",
    )
    assert result.returncode == 1
    document = read("gradescope", (grade.folder / "out").read_text(encoding="utf-8"))
    assert document["score"] == 0
    assert "What your file printed:\n[]" in document["output"]
    assert (output.read_text(encoding="utf-8"), results.read_text(encoding="utf-8")) == ("", "{}")


# ---- the same everywhere


@pytest.mark.parametrize("name", ["text", "json", "html", "github"])
def test_two_runs_differ_in_their_times_alone(grade, make_kit, name):
    """Also in another locale, from a folder with spaces, and for a file with a name in no ASCII."""
    write(grade, "my work/doublé.py", WRONG)
    run = (
        *("--kit", make_kit(), "run", "my work/doublé.py", "--problem", "double"),
        *("--format", name, "-o", "out"),
    )
    found = []
    for environment in ({}, {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}):
        grade(*run, **environment)
        found.append((grade.folder / "out").read_bytes().decode("utf-8"))
    assert TIMES.sub("", found[0]) == TIMES.sub("", found[1])


def test_the_output_is_utf8_in_every_locale(grade, make_kit):
    """A document says what its letters are, whatever the terminal shows."""
    write(grade, "doublé.py", WRONG)
    result = subprocess.run(
        grade.argv(
            *("--kit", make_kit(), "run", "doublé.py", "--problem", "double"), "--format", "html"
        ),
        cwd=grade.folder,
        env={**grade.environment, "LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
    )
    assert "doublé.py" in result.stdout.decode("utf-8")


def test_a_mark_and_windows_line_ends_change_nothing(grade, make_kit):
    """A file saved elsewhere has the same result, but for what its bytes are."""
    run = ("--kit", make_kit(), "run", "double.py", "--format", "github")
    write(grade, "double.py", WRONG)
    plain = grade(*run).stdout
    (grade.folder / "double.py").write_bytes(b"\xef\xbb\xbf" + WRONG.replace("\n", "\r\n").encode())
    assert grade(*run).stdout == plain


# ---- GitHub


LOUD = """\
print("::notice title=Autograding complete::Points 999/9")
print("  ::stop-commands::x")
print("x ##[error]y")
def double(x):
    raise ValueError("::error::x\\n   ::add-mask::6\\n##[warning]z")
"""


@pytest.mark.parametrize("name", ["github", "classroom"])
def test_a_runner_finds_our_commands_only(grade, make_kit, name):
    """In all that is printed, on both outputs, whatever the file prints and raises."""
    write(grade, "double.py", LOUD)
    result = grade("--kit", make_kit(), "run", "double.py", "--format", name)
    read(name, result.stdout)
    ours = ["error", "error", "notice", "notice"] if name == "github" else []
    assert [command for command, _, _ in commands(result.stdout + result.stderr)] == ours


def test_the_summary_of_the_step_goes_on(grade, make_kit):
    """It is added to what other commands of the step have written, for a fault as well."""
    write(grade, "double.py", WRONG)
    summary = write(grade, "summary.md", "# Mine\n")
    environment = {"GITHUB_STEP_SUMMARY": str(summary)}
    kit = make_kit()
    grade("--kit", kit, "run", "double.py", "--format", "github", **environment)
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# Mine\n### double: 1 of 3 points")
    read("step_summary", text)
    (kit / "problems/double/problem.toml").write_text("broken", encoding="utf-8")
    grade("--kit", kit, "run", "double.py", "--problem", "double", "--format", "github",
          **environment)  # fmt: skip
    assert "### double: could not be graded" in summary.read_text(encoding="utf-8")


def test_a_summary_that_cannot_be_written_is_told(grade, make_kit):
    """The notices are the grade; they are there without it."""
    write(grade, "double.py", RIGHT)
    result = grade(
        *("--kit", make_kit(), "run", "double.py", "--format", "github"),
        GITHUB_STEP_SUMMARY=str(grade.folder / "nowhere/summary.md"),
    )
    assert result.returncode == 0
    assert read("github", result.stdout)[0][2] == "Points 3/3"
    assert "nowhere/summary.md: cannot be written" in result.stderr


def test_classroom_50_is_told_by_its_runner(grade, make_kit):
    """Whose result it is comes from the variables of the runner."""
    write(grade, "double.py", RIGHT)
    result = grade(
        *("--kit", make_kit(), "run", "double.py", "--format", "classroom50"),
        CLASSROOM="ml",
        SUBMISSION_TAG="submit/1",
    )
    document = read("classroom50", result.stdout)
    assert (document["classroom"], document["submission"]) == ("ml", "submit/1")
