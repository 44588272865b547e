"""A small sound kit of an instructor, file by file, to be broken in one place.

The one problem, `halve`, is offered in both libraries. Nothing of it is run by the rules that read.
"""

from __future__ import annotations

from pathlib import Path

from grader import kit as kits
from grader.kit import Kit

TOML = """\
format = 1
title = "Halve a row"
summary = "Return half of every number of a row."
entry = "halve"
parameters = ["row", "times"]
libraries = ["torch", "numpy"]
sampled = false
hints = [
  "Half of a number is the number times 0.5.",
  "Do it as often as `times` says.",
]

[limits]
load = 10
call = 2
submission = 10
memory = 1024

[points]
torch = { public = 5, hidden = 4, extra = 1 }
numpy = { public = 3, hidden = 4, extra = 1 }

[[examples]]
title = "Two numbers"
args = [{ array = [2.0, 5.0] }, 1]
returns = { tuple = [{ array = [1.0, 2.5] }, 1] }

[[examples]]
title = "Twice"
args = [{ array = [1.0, 0.0] }, 2]
returns = { tuple = [{ array = [0.25, 0.0] }, 2] }
"""

STATEMENT = """\
# Halve a row

Write `halve(row, times)`: it returns $x / 2$ for every number $x$ of `row`, done `times` times, and
`times` itself. [Why](learn.md) is told elsewhere.

| `row` | `times` | answer |
|---|---|---|
| [2, 5] | 1 | ([1, 2.5], 1) |

Another one, as code:

```python
import torch

row = torch.tensor([1.0, 0.0])
print(halve(row, 2))
# (tensor([0.2500, 0.0000]), 2)
```
"""

LEARN = """\
# Why half is half

It follows from $\\frac{x}{2} + \\frac{x}{2} = x$.
"""

CHECKS = '''\
"""What `halve` asks for."""

import pytest

from problems.halve import cases


@pytest.mark.points(3, group="values")
@pytest.mark.hint("Times 0.5.")
def test_numbers_are_halved(submission, library):
    """Every number comes out as its half."""
    submission.check(cases.halves(library))


@pytest.mark.points(2, group="device")
@pytest.mark.library("torch")
def test_device_is_kept(submission):
    """The answer is on the device of the row.

    That is asked of PyTorch alone.
    """
    submission.check(cases.on_device())


@pytest.mark.points(1, group="edges", extra=True)
def test_empty_row(submission):
    """A row without numbers has no halves."""
    submission.check(cases.empty())
'''

CASES = '"""The cases of `halve`."""\n'

HIDDEN = '''\
"""What `halve` asks for on fresh rows."""

import pytest

from problems.halve import cases


@pytest.mark.points(4, group="values")
def test_fresh_numbers_are_halved(submission, reference, rng):
    """Every fresh number comes out as its half."""
    submission.check(cases.fresh(reference, rng))
'''

STUB = '''\
"""`halve` with PyTorch."""

import torch


def halve(row: torch.Tensor, times: int = 1) -> tuple[torch.Tensor, int]:
    """Halve every number of a row.

    >>> halve(torch.tensor([2.0, 5.0]), 1)
    (tensor([1.0000, 2.5000]), 1)
    """
    raise NotImplementedError("write halve here")
'''

NUMPY_STUB = '''\
"""`halve` with NumPy."""

import numpy as np


def halve(row: np.ndarray, times: int = 1) -> tuple[np.ndarray, int]:
    """Halve every number of a row.

    >>> halve(np.array([2.0, 5.0], dtype=np.float32), times=1)
    (array([1. , 2.5], dtype=float32), 1)
    """
    raise NotImplementedError("write halve here")
'''

_UNWRITTEN = 'raise NotImplementedError("write halve here")'
_WRITTEN = "return row / 2**times, times"

RIGHT = '''\
"""Halves by a product."""


def halve(row, times=1):
    return row * 0.5**times, times
'''

WRONG = '''\
"""Halves nothing.

hear: You return the row as it came.
fails: all
"""


def halve(row, times=1):
    return row, times
'''

FILES = {
    "problems/halve/problem.toml": TOML,
    "problems/halve/statement.md": STATEMENT,
    "problems/halve/learn.md": LEARN,
    "problems/halve/checks.py": CHECKS,
    "problems/halve/cases.py": CASES,
    "templates/halve.py": STUB,
    "templates/halve_numpy.py": NUMPY_STUB,
    "solutions/halve/solution.py": STUB.replace(_UNWRITTEN, _WRITTEN),
    "solutions/halve/solution_numpy.py": NUMPY_STUB.replace(_UNWRITTEN, _WRITTEN),
    "solutions/halve/hidden.py": HIDDEN,
    "solutions/halve/right/product.py": RIGHT,
    "solutions/halve/wrong/as_it_came.py": WRONG,
    "solutions/halve/wrong/as_it_came_numpy.py": WRONG,
}


def write(folder: Path) -> Kit:
    """Writes the kit, as sound as it is above."""
    for name, text in FILES.items():
        add(folder, name, text)
    return kits.find(folder)


def add(folder: Path, name: str, content: str | bytes = "") -> None:
    """Writes one file, with the folders that it lies in."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def edit(folder: Path, name: str, old: str, new: str) -> None:
    """Replaces what stands in a file exactly once."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{name}: {old!r} stands there {text.count(old)} times"
    path.write_text(text.replace(old, new), encoding="utf-8")
