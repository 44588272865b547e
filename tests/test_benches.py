"""The benches of whole classes run at their smallest size, and say what they are there to say.

What they measure is not looked at: that depends on the machine and on whatever else it does.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader import kit as kits

BENCH = Path(__file__).resolve().parent / "bench"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="they count in /proc"),
    pytest.mark.skipif(kits.find().solutions is None, reason="this kit has no known files"),
]

SMALLEST = {
    "grade.py": ["--slug", "verify", "--kind", "right", "--runs=1", "--files=1", "--gradings=1"],
    "batch_scale.py": ["--large=6", "--small=2", "--hanging=6", "--jobs=1"],
    "course.py": ["--submissions=30"],
    "class_of_300.py": ["--size=4", "--compare=1", "--kills=1"],
}
SAYS = {
    "grade.py": [r"ordinary ÷ warm +wall +\d+\.\d\d .*must ≥ 30"],
    "batch_scale.py": [
        r"a late submission ÷ an early one +wall +\d+\.\d\d .*must ≤ 1\.1",
        r"whole command, a file: large ÷ small +wall +\d+\.\d\d .*must ≤ 1\.1",
        r"trusted side: .* MiB over \d+  must ≤ 5",
        r"what forks workers: .* MiB over \d+  must ≤ 5",
    ],
    "course.py": [
        r"the same batch again +\d+\.\d\d s .*nothing was graded",
        r"results.jsonl, grades.csv +\d+\.\d\d s ",
        r"grade report +\d+\.\d\d s .* page",
        r"the page in a browser +(\d+\.\d\d s +\d+ MiB .*must < 3 s|not measured)",
    ],
    "class_of_300.py": [r"1 of them alone: the same", r"its results: the same"],
}


def bench(name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs a bench."""
    return subprocess.run(
        [sys.executable, BENCH / name, *options], capture_output=True, encoding="utf-8", timeout=240
    )


@pytest.mark.parametrize("name", SMALLEST)
def test_a_bench_runs_and_says_what_it_is_for(name):
    """At its smallest size it comes to its end, and prints each of its ratios or outcomes."""
    done = bench(name, *SMALLEST[name])

    assert done.returncode == 0, done.stdout + done.stderr
    for line in SAYS[name]:
        assert re.search(f"^{line}", done.stdout, re.MULTILINE), done.stdout


def test_without_otter_the_comparison_says_what_is_missing(tmp_path):
    """The comparison with otter-grader needs it, and says so before it measures anything."""
    done = bench("batch.py", "--otter", str(tmp_path / "nobody"))

    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"batch\.py: --otter \S+nobody: No such file or directory\n", done.stderr)
