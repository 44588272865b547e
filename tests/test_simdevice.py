"""The simulated accelerator behaves as CUDA does for right code and catches what CUDA would catch.

The device stays in a process for good, so `simdevice_ops.py` holds the rows and runs them in a
process of its own, once; the tests here look up what became of each row.
"""

import functools
import importlib.util
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

OPS = Path(__file__).with_name("simdevice_ops.py")
TABLES = runpy.run_path(str(OPS))
NAMES = [
    "SAME",
    "IN_PLACE",
    "STATEMENTS",
    "RAISES",
    "HOLDS",
    "VERIFY_RIGHT",
    "VERIFY_WRONG",
    "STEP_RIGHT",
    "STEP_WRONG",
]


@functools.cache
def report(kind):
    """What became of every row on the device `kind`, found out in a process of its own."""
    if importlib.util.find_spec("torch") is None:
        return {"unavailable": "torch is not installed"}
    done = subprocess.run(
        [sys.executable, str(OPS), kind],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def outcome(table, row):
    if "unavailable" in report("sim"):
        pytest.skip(report("sim")["unavailable"])
    return report("sim")[table][row]


def test_tables_hold_enough_and_nothing_twice():
    """At least 300 different operations are compared with the CPU, and no row is listed twice."""
    rows = [*TABLES["SAME"], *TABLES["IN_PLACE"], *TABLES["STATEMENTS"], *TABLES["HOLDS"]]
    assert len(rows) == len(set(rows))
    assert len(rows) >= 300


@pytest.mark.parametrize("row", TABLES["SAME"])
def test_operation_gives_what_the_cpu_gives(row):
    """The answer has the CPU's values, dtype, shape, strides and offset, and is on the device."""
    assert outcome("SAME", row) is None


@pytest.mark.parametrize("row", TABLES["IN_PLACE"])
def test_in_place_operation_returns_its_object(row):
    """An in-place operation changes its tensor and returns the very same object."""
    assert outcome("IN_PLACE", row) is None


@pytest.mark.parametrize("row", TABLES["STATEMENTS"])
def test_statement_changes_what_it_changes_on_the_cpu(row):
    """Assignments to elements, rows and views reach the tensor they belong to."""
    assert outcome("STATEMENTS", row) is None


@pytest.mark.parametrize("row", TABLES["RAISES"])
def test_mistake_raises_what_cuda_raises(row):
    """Mixed devices, NumPy conversions and foreign generators raise, in CUDA's words."""
    assert outcome("RAISES", row) is None


@pytest.mark.parametrize("row", TABLES["HOLDS"])
def test_placement_rule(row):
    """What CUDA permits is permitted, and tensors end up where CUDA puts them."""
    assert outcome("HOLDS", row) is None


@pytest.mark.parametrize(
    ("table", "row"),
    [(table, row) for table in ("VERIFY_RIGHT", "STEP_RIGHT") for row in TABLES[table]],
)
def test_right_function_is_accepted(table, row):
    """A solution that is right on CUDA gives the CPU's answer, on the device."""
    assert outcome(table, row) is None


@pytest.mark.parametrize(
    ("table", "row"),
    [(table, row) for table in ("VERIFY_WRONG", "STEP_WRONG") for row in TABLES[table]],
)
def test_wrong_function_is_caught(table, row):
    """A CPU-made answer shows its device; mixtures, NumPy and CPU draws raise."""
    assert outcome(table, row) is None


@pytest.mark.parametrize("table", NAMES)
def test_cuda_says_the_same(table):
    """Where there is a CUDA device, every row holds there too: the tables describe CUDA."""
    if not report("sim").get("cuda"):
        pytest.skip("no CUDA device here (or no simulated one to compare with)")
    assert {row: text for row, text in report("cuda")[table].items() if text} == {}


@pytest.mark.parametrize("row", TABLES["PROGRAMS"])
def test_module(row):
    """install() and the functions of the module keep their promises, each in a fresh process."""
    assert outcome("PROGRAMS", row) is None
