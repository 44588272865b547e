"""The ordinary way to grade: pytest runs the check files and calls the submission beside itself.

This is what every bench here compares the grader with: a pytest plugin that gives the same check
files the same fixtures, with no process between a check and the submission. PyTorch is imported
here, arguments are tensors at once, an answer is compared as soon as it is there, and the first
wrong one ends the check. It is meant to be as quick as such a thing is: nothing is observed that a
check does not ask for, nothing is guarded, and checks of an accelerator are skipped.

    python tests/bench/ordinary.py solutions/verify/solution.py
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import measuring
import numpy as np
import pytest
import torch

from grader import kit, problem, submission_file
from grader.expect import Expectation, Mismatch, changed
from grader.submission import Case, Outcome, Tally
from grader.values import FLOATING, Array, Generator, NumpyScalar, Other, Value

TORCH_DTYPE = {
    name: getattr(torch, name)
    for name in "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool".split()
}
NAME = {dtype: name for name, dtype in TORCH_DTYPE.items()}


# ---- values


def given(value: Value) -> Any:
    """The object that a check's value stands for."""
    if isinstance(value, Array):
        return _tensor(value) if value.library == "torch" else _ndarray(value)
    if isinstance(value, Generator):
        return torch.Generator().manual_seed(value.seed)
    if type(value) in (tuple, list):
        return type(value)(given(item) for item in value)
    return value


def _tensor(a: Array) -> torch.Tensor:
    if not a.data:
        return torch.empty(a.shape, dtype=TORCH_DTYPE[a.dtype])
    plain = torch.frombuffer(bytearray(a.data), dtype=TORCH_DTYPE[a.dtype]).reshape(a.shape)
    if a.layout == "column" and plain.dim() == 1:
        return torch.stack([plain, plain, plain], dim=1)[:, 1]
    if a.layout == "column":
        axes = tuple(reversed(range(plain.dim())))
        return plain.permute(axes).contiguous().permute(axes)
    if a.layout == "every_second":
        return plain.repeat_interleave(2, dim=-1)[..., ::2]
    if a.layout == "expanded":
        return plain[..., :1].clone().expand(plain.shape)
    if a.layout == "read_only":
        with torch.inference_mode():
            return plain.clone()
    return plain


def _ndarray(a: Array) -> np.ndarray[Any, Any]:
    plain = np.frombuffer(bytearray(a.data), dtype=a.dtype).reshape(a.shape)
    if a.layout == "column":
        return np.stack([plain, plain, plain], axis=-1)[..., 1]
    if a.layout == "every_second":
        return np.repeat(plain, 2, axis=-1)[..., ::2]
    if a.layout == "expanded":
        return np.lib.stride_tricks.as_strided(plain[:1].copy(), plain.shape, (0,))
    plain.flags.writeable = a.layout != "read_only"
    return plain


def taken(answer: Any) -> Value:
    """An answer as the expectations compare it."""
    kind = type(answer)
    if kind is torch.Tensor:
        plain = answer.detach()
        raw = plain.view(torch.uint16) if plain.dtype is torch.bfloat16 else plain
        return Array(
            "torch",
            NAME[answer.dtype],
            str(answer.device),
            tuple(answer.shape),
            raw.numpy().tobytes(),
            strides=answer.stride(),
            requires_grad=answer.requires_grad,
        )
    if kind is np.ndarray:
        strides = tuple(s // answer.itemsize for s in answer.strides)
        writeable = answer.flags.writeable
        return Array(
            "numpy", answer.dtype.name, "cpu", answer.shape, answer.tobytes(),
            strides=strides, writeable=writeable,
        )  # fmt: skip
    if kind in (tuple, list):
        return kind(taken(item) for item in answer)
    if kind is dict:
        return {key: taken(item) for key, item in answer.items()}
    if isinstance(answer, np.generic):
        return NumpyScalar(answer.dtype.name, answer.item())
    if answer is None or kind in (bool, int, float, str):
        return answer
    return Other(kind.__name__)


def _memory(value: Any) -> set[int]:
    """The addresses of the storages that an answer or an argument lies in."""
    if isinstance(value, torch.Tensor):
        return {value.untyped_storage().data_ptr()} - {0}
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        return {value.__array_interface__["data"][0]}
    if isinstance(value, dict):
        value = list(value.values())
    return set[int]().union(*map(_memory, value)) if isinstance(value, tuple | list) else set()


def _global_states() -> tuple[Any, ...]:
    legacy: Any = np.random.get_state()
    _, keys, *rest = legacy
    return torch.get_rng_state().numpy().tobytes(), keys.tobytes(), *rest, random.getstate()


# ---- the fixtures


class Function:
    """What checks call a submission: the same methods, with the function in this process."""

    def __init__(self, module: ModuleType, entry: str, parameters: Sequence[str]) -> None:
        self.function: Callable[..., Any] = getattr(module, entry)
        self.parameters = parameters

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return taken(self._call(Case(args, _NONE, kwargs), {})[0])

    def check(
        self,
        cases: Iterable[Case] | Callable[[], Iterable[Case]],
        *,
        unchanged: bool = False,
        private: bool = False,
        globals_untouched: bool = False,
    ) -> None:
        """Calls and compares one case after another; the first that is wrong ends the check."""
        shared: dict[int, torch.Generator] = {}
        kept: list[tuple[Case, Any]] = []
        before = _global_states() if globals_untouched else None
        for number, case in enumerate(cases() if callable(cases) else cases, 1):
            answer, args = self._call(case, shared)
            difference = case.expects.difference(taken(answer))
            if difference is not None:
                raise Mismatch(f"case {number} ({case.note}): {difference}")
            if unchanged:
                self._unchanged(case, args)
            if case.state_after is not None:
                (generator,) = (arg for arg in args if isinstance(arg, torch.Generator))
                state = generator.get_state().numpy().tobytes()
                assert state == case.state_after, f"case {number}: the generator's state"
            if private:
                own = _memory(answer)
                assert own.isdisjoint(_memory(args)), f"case {number}: memory of an argument"
                assert all(own.isdisjoint(_memory(other)) for _, other in kept), "shared memory"
                kept.append((case, answer))
        for case, answer in kept:
            assert taken(answer) == case.expects, f"{case.note}: changed by a later call"
        if globals_untouched:
            assert _global_states() == before, "a global generator was used"

    def outcomes(self, cases: Sequence[Case], observe: Sequence[str] = ()) -> list[Outcome]:
        """All answers, with the generator's state where it is asked for."""
        shared: dict[int, torch.Generator] = {}
        outcomes = []
        for case in cases:
            answer, args = self._call(case, shared)
            states = [
                arg.get_state().numpy().tobytes()
                for arg in args
                if "generator" in observe and isinstance(arg, torch.Generator)
            ]
            outcomes.append(Outcome(taken(answer), generator=states[0] if states else None))
        return outcomes

    def answers(self, cases: Sequence[Case]) -> list[Value]:
        """The answers to all calls."""
        return [outcome.value for outcome in self.outcomes(cases)]

    def repeat(self, times: int, *args: Value) -> Tally:
        """The same call many times; a generator streams on."""
        passed = [given(arg) for arg in args]
        numbers: dict[Any, int] = {}
        values: list[Value] = []
        order = np.empty(times, dtype="u4")
        for number in range(times):
            answer = self.function(*passed)
            key = _key(answer)
            if key not in numbers:
                numbers[key] = len(values)
                values.append(taken(answer))
            order[number] = numbers[key]
        counts = Counter(order.tolist())
        return Tally(values, [counts[i] for i in range(len(values))], order)

    def _call(self, case: Case, shared: dict[int, torch.Generator]) -> tuple[Any, list[Any]]:
        args = [
            shared.setdefault(arg.seed, given(arg))
            if isinstance(arg, Generator) and arg.shared
            else given(arg)
            for arg in case.args
        ]
        named = {name: given(arg) for name, arg in case.kwargs.items()}
        if case.global_seed is not None:
            torch.manual_seed(case.global_seed)
        if case.default_dtype is None:
            return self.function(*args, **named), args
        torch.set_default_dtype(TORCH_DTYPE[case.default_dtype])
        try:
            return self.function(*args, **named), args
        finally:
            torch.set_default_dtype(torch.float32)

    def _unchanged(self, case: Case, args: Sequence[Any]) -> None:
        for before, after, name in zip(case.args, args, self.parameters, strict=False):
            text = changed(before, taken(after), name) if isinstance(before, Array) else None
            assert not text, text


_NONE = Expectation()


def _key(answer: Any) -> Any:
    """What tells one answer of a sample from another."""
    if isinstance(answer, tuple | list):
        return tuple(map(_key, answer))
    return tuple(answer.tolist()) if isinstance(answer, torch.Tensor) else answer


class Setting:
    """The problem and the modules of one run."""

    def __init__(self, config: pytest.Config) -> None:
        path: Path = config.getoption("submission")
        folder = Path(config.args[0].partition("::")[0]).resolve().parent
        found = kit.find(folder.parents[1])
        sys.path.insert(0, str(found.root))  # check files import problems.<slug>.cases
        self.problem = problem.load(found, folder.name)
        source = submission_file.read(path)
        self.library: Any = submission_file.chosen_library(
            config.getoption("library"), source, folder.name, self.problem.libraries
        )
        self.path = path
        self.seed = config.getoption("grading_seed")

    def function(self, path: Path) -> Function:
        return Function(_module(path), self.problem.entry, self.problem.parameters)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_SETTING = pytest.StashKey[Setting]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--submission", type=Path, required=True)
    parser.addoption("--library", default="auto")
    parser.addoption("--grading-seed", type=int, default=1)


def pytest_configure(config: pytest.Config) -> None:
    for name in ("points", "hint", "library", "fresh"):
        config.addinivalue_line("markers", f"{name}: of the grader")
    config.stash[_SETTING] = Setting(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    setting = metafunc.config.stash[_SETTING]
    if "dtype" in metafunc.fixturenames:
        metafunc.parametrize("dtype", FLOATING[setting.library])
    if "example" in metafunc.fixturenames:
        examples = setting.problem.decoded_examples(setting.library)
        metafunc.parametrize("example", examples, ids=[e.title for e in examples])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    library = config.stash[_SETTING].library
    items[:] = [
        item
        for item in items
        if (marker := item.get_closest_marker("library")) is None or library in marker.args
    ]


@pytest.fixture(scope="session")
def setting(request: pytest.FixtureRequest) -> Setting:
    return request.config.stash[_SETTING]


@pytest.fixture(scope="session")
def submission(setting: Setting) -> Function:
    return setting.function(setting.path)


@pytest.fixture(scope="session")
def reference(setting: Setting) -> Function:
    path = setting.problem.solution(setting.library)
    assert path is not None
    return setting.function(path)


@pytest.fixture(scope="session")
def ahead(submission):
    """The calls themselves, made when their answers are wanted: there is no process beside."""
    return lambda times, *args: lambda: submission.repeat(times, *args)


@pytest.fixture(scope="session")
def draws(setting: Setting) -> Callable[..., Value]:
    path = setting.problem.draws
    assert path is not None
    module = _module(path)
    return lambda name, *args: taken(getattr(module, name)(*map(given, args)))


@pytest.fixture(scope="session")
def library(setting: Setting) -> str:
    name: str = setting.library
    return name


@pytest.fixture
def rng(request: pytest.FixtureRequest, setting: Setting) -> random.Random:
    return random.Random(f"{setting.seed}:{request.node.name}")


@pytest.fixture
def accelerator() -> str:
    pytest.skip("no accelerator here")


def main() -> None:
    """Grades one file in the ordinary way and leaves with pytest's exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="the submission")
    parser.add_argument("--slug", help="its problem (default: the folder it is in)")
    parser.add_argument("--library", default="auto", help="auto, torch or numpy")
    parser.add_argument("--no-hidden", action="store_true", help="leave the hidden checks out")
    parser.add_argument("--json", default="none", metavar="PATH", help="where the report goes")
    options = parser.parse_args()
    file = options.file.resolve()
    slug = options.slug or file.relative_to(measuring.ROOT / "solutions").parts[0]
    command = measuring.ordinary(
        slug, file, options.json, hidden=not options.no_hidden, library=options.library
    )
    with measuring.surroundings() as environment:
        sys.exit(subprocess.run(command, cwd=measuring.ROOT, env=environment).returncode)


if __name__ == "__main__":
    main()
