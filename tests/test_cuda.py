"""The device checks on real CUDA hardware; elsewhere only what is said of its absence."""

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

KIT = kits.find()
SOLUTIONS = KIT.solutions or KIT.root / "solutions"
ABOUT_DEVICES = ("residual_made_on_cpu", "moves_to_cpu", "mixed_device", "numpy_roundtrip")


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


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", ABOUT_DEVICES)
def test_a_device_fault_fails_on_cuda_as_on_the_simulated_one(started, name):
    """A result made on the CPU, a NumPy round trip and a mixture fail the same checks on both."""
    path = SOLUTIONS / "verify" / "wrong" / f"{name}.py"
    on_cuda, simulated = (grade(started, path, device) for device in ("cuda", "cpu"))
    assert {"passed"} != set(device_verdicts(on_cuda).values())
    assert set(device_verdicts(on_cuda)) == set(device_verdicts(simulated))
