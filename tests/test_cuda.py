"""The device checks on real CUDA hardware; elsewhere only what is said of its absence.

Every file is graded on both kinds of device once, side by side; `tests/bench/devices.py` prints the
same comparison as a table.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import kit as kits
from grader import problem as problems
from grader import session, submission_file
from grader.faults import UsageError
from grader.grading import Grading, Request
from grader.report import Report
from grader.workers import Forked, launcher
from tests.bench import devices
from tests.bench.devices import Compared

KIT = kits.find()
SOLUTIONS = KIT.solutions or KIT.root / "solutions"
PATHS = devices.files() if KIT.solutions else []
FILES = [path.relative_to(SOLUTIONS).as_posix() for path in PATHS]
ABOUT_DEVICES = ("residual_made_on_cpu", "moves_to_cpu", "mixed_device", "numpy_roundtrip")


needs_solutions = pytest.mark.skipif(KIT.solutions is None, reason="this kit has no solutions")


@pytest.fixture(scope="module", name="started")
def _started():
    started = launcher("auto")
    yield started
    started.close()


def grade(started: Forked, path: Path, device: str) -> Report:
    """A torch submission's report, its device checks run on `device`'s accelerator."""
    problem = problems.load(KIT, path.relative_to(SOLUTIONS).parts[0])
    source = submission_file.read(path)
    return session.grade(
        KIT, problem, source, library="torch", device=device, seed=1, started=started
    )


def device_verdicts(report: Report) -> dict[str, str]:
    """The outcome of every check that looks at devices."""
    return {check.id: check.outcome for check in report.checks if check.group == "device"}


@pytest.fixture(scope="module", name="cuda")
def _cuda(started):
    """Skips, with the worker's own reason, where there is no CUDA device."""
    problem = problems.load(KIT, "verify")
    source = problem.template("torch").read_bytes()
    request = Request(KIT, problem, source, "torch", "cuda", seed=0, hidden=False)
    with Grading(request, started) as grading:
        try:
            grading.require_device()
        except UsageError as error:
            pytest.skip(str(error))


def test_asking_for_a_device_that_is_not_here_is_a_usage_error(started):
    """`--device cuda` without CUDA grades nothing and says why."""
    problem = problems.load(KIT, "verify")
    path = problem.template("torch")
    request = Request(KIT, problem, path.read_bytes(), "torch", "cuda", seed=0, hidden=False)
    with Grading(request, started) as grading:
        reason = grading.submission_on("cuda").unavailable()
    if reason is None:
        pytest.skip("there is a CUDA device here")
    with pytest.raises(UsageError, match="sees no CUDA device here"):
        session.grade(
            KIT,
            problem,
            submission_file.read(path),
            library="torch",
            device="cuda",
            hidden=False,
            started=started,
        )


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("*/solution.py")), ids=lambda p: p.parts[-2])
def test_a_reference_passes_its_device_checks_on_cuda(started, path):
    """What is right on the simulated accelerator is right on CUDA."""
    report = grade(started, path, "cuda")
    assert set(device_verdicts(report).values()) == {"passed"}
    assert report.passed


@pytest.fixture(scope="module", name="compared")
def _compared(cuda) -> dict[str, Compared]:
    """The device outcomes of every file in PyTorch on the simulated accelerator and on CUDA."""
    return {each.file: each for each in devices.compare(PATHS)}


@pytest.fixture(scope="module", name="versions")
def _versions(cuda) -> dict[str, str | int | None]:
    return devices.versions()


@needs_solutions
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("file", FILES)
def test_a_file_has_the_same_device_verdicts_on_cuda(compared, versions, record_property, file):
    """Right, wrong or of other draws: both kinds of device pass and fail the same checks."""
    for name, version in versions.items():
        record_property(name, version)
    found = compared[file]
    print(f"{found} ({versions})")
    assert found.same, f"{found} ({versions})"


@needs_solutions
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", ABOUT_DEVICES)
def test_a_device_fault_fails_on_cuda(compared, name):
    """A result made on the CPU, a NumPy round trip and a mixture do not pass."""
    assert "failed" in compared[f"verify/wrong/{name}.py"].cuda.values()


@needs_solutions
def test_the_comparison_looks_at_every_device_check():
    """Graded twice on the simulated accelerator, a file has the same outcome of every one."""
    paths = [SOLUTIONS / "verify" / "solution.py", SOLUTIONS / "verify/wrong/moves_to_cpu.py"]
    right, wrong = sorted(
        devices.compare(paths, ("cpu", "cpu"), lanes=1), key=lambda each: each.file
    )
    assert set(right.simulated) == {
        "test_residual_stays_on_the_device",
        "test_fresh_rows_on_the_device",
    }
    assert right.simulated == right.cuda == dict.fromkeys(right.simulated, "passed")
    assert "failed" in wrong.simulated.values()
    assert right.same
    assert wrong.same


@pytest.mark.parametrize(
    ("simulated", "cuda"),
    [
        ({"test_a": "passed"}, {"test_a": "failed"}),
        ({"test_a": "failed"}, {"test_a": "passed"}),
        ({"test_a": "not_run"}, {"test_a": "not_run"}),
        ({"test_a": "passed"}, {}),
        ({}, {}),
    ],
)
def test_outcomes_that_differ_or_say_nothing_are_not_the_same(simulated, cuda):
    """A check that was not run on either kind of device proves nothing about the other."""
    assert not Compared("verify/right/a.py", simulated, cuda).same
