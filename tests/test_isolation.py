"""Levels as users meet them: what is asked for, refused and told, and what honest code may do."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

import pytest

from grader import isolation
from grader.report import Report
from grader.workers import Launcher, launcher
from tests import kits
from tests.conftest import ROOT

LOCKED = [level for level in isolation.LEVELS[:2] if isolation.offered().seccomp]
if not isolation.offered().landlock:
    LOCKED = LOCKED[1:]
VERIFY = ROOT / "solutions/verify/solution.py"

pytestmark = pytest.mark.skipif(not LOCKED, reason="this system has no locks")


# ---- the command


def test_the_score_says_how_far_the_file_was_kept_apart(grade, tmp_path, valid_score):
    """Level, layers and proof are in the score, and the level is on the screen."""
    done = grade("run", VERIFY, "--problem", "verify", "--json", tmp_path / "score.json")

    told = valid_score((tmp_path / "score.json").read_text("utf-8"))["isolation"]
    assert done.returncode == 0
    assert (told["level"], told["canary"], told["on_trust"]) == (LOCKED[0], "passed", False)
    assert "seccomp" in told["layers"]
    assert f"Isolation:    {LOCKED[0]} (" in done.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--require-isolation"], "and --require-isolation asks for more"),
        (["--require-isolation", "--no-hidden"], "and --require-isolation asks for more"),
        (["--require-isolation", "--i-trust-this-file"], "and --require-isolation asks for more"),
        ([], "say --no-hidden, or --i-trust-this-file if you vouch for it"),
    ],
)
def test_too_little_isolation_is_refused_and_nothing_is_written(grade, tmp_path, options, told):
    """Hidden checks, and whoever asks for it, need more than a process: exit code 2, no score."""
    score = tmp_path / "score.json"
    arguments = ["--problem", "verify", "--isolation", "process", "--json", score, *options]

    done = grade("run", VERIFY, *arguments)

    assert done.returncode == 2
    assert told in done.stderr
    assert not score.exists()


@pytest.mark.parametrize(
    ("option", "trusted"), [("--i-trust-this-file", True), ("--no-hidden", False)]
)
def test_a_vouched_file_and_public_checks_may_do_without(
    grade, tmp_path, valid_score, option, trusted
):
    """With a word for it hidden checks run at level process, and the score tells it."""
    score = tmp_path / "score.json"

    done = grade(
        "run", VERIFY, "--problem", "verify", "--isolation", "process", "--json", score, option
    )

    told = valid_score(score.read_text("utf-8"))["isolation"]
    assert done.returncode == 0
    assert (told["level"], told["on_trust"]) == ("process", trusted)
    assert ("on trust" in done.stdout) is trusted


# ---- honest code


@pytest.fixture(scope="module", name="started", params=LOCKED)
def _started(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    made = launcher("auto", level=request.param)
    yield made
    made.close()


@pytest.fixture(name="graded")
def _graded(started, tmp_path) -> Callable[[str], Report]:
    """The report on a source text for the tiny kit: `plus_one` is called with 1, 13 and 2."""
    kit = kits.write_kit(tmp_path / "kit")

    def graded(source: str) -> Report:
        file = tmp_path / "answer.py"
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        return kit.grade(file, started)

    return graded


HONEST = {
    "much of Python's library": """
        import abc, argparse, array, ast, asyncio, base64, bisect, calendar, cmath, codecs
        import collections.abc, concurrent.futures, contextlib, copy, csv, ctypes, dataclasses
        import datetime, decimal, difflib, dis, doctest, enum, fractions, functools, gc, getpass
        import glob, gzip, hashlib, heapq, hmac, html, http.client, importlib.metadata, inspect
        import io, ipaddress, itertools, json, keyword, linecache, locale, logging, lzma, math
        import multiprocessing, numbers, operator, os, pathlib, pdb, pickle, platform, pprint
        import profile, queue, random, re, reprlib, secrets, shutil, signal, socket, sqlite3, ssl
        import statistics, string, struct, subprocess, sys, tempfile, textwrap, threading, time
        import timeit, traceback, types, typing, unicodedata, unittest, urllib.request, uuid
        import warnings, weakref, xml.etree.ElementTree, zipfile, zlib

        def plus_one(number):
            datetime.datetime.strptime("2026-11-30", "%Y-%m-%d")
            decimal.Decimal(number).sqrt()
            hashlib.sha256(b"x").hexdigest()
            uuid.uuid4(), secrets.token_hex(4), random.random(), tuple(os.urandom(4))
            json.loads(json.dumps({"a": [1, 2]})), pickle.loads(pickle.dumps([1]))
            zlib.decompress(zlib.compress(b"x" * 100)), lzma.compress(b"x")
            time.sleep(0.001), time.perf_counter(), threading.Lock().acquire()
            inspect.signature(plus_one), inspect.getsource(plus_one)
            return number + 1
    """,
    "much of NumPy": """
        import numpy as np
        import numpy.linalg, numpy.fft, numpy.polynomial, numpy.testing, numpy.random, numpy.ma

        def plus_one(number):
            a = np.random.default_rng(0).normal(size=(20, 20))
            np.linalg.svd(a), np.linalg.solve(a, a), np.fft.fft(a), np.einsum("ij,ij", a, a)
            np.testing.assert_allclose(a @ np.linalg.inv(a), np.eye(20), atol=1e-6)
            np.polynomial.Polynomial([1, 2])(3), np.ma.masked_array([1, 2], [0, 1]).sum()
            np.vectorize(abs)(a), np.random.rand(3), str(a), np.array2string(a)
            return number + 1
    """,
    "much of PyTorch": """
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        from torch import distributions
        from torch.utils.data import DataLoader, TensorDataset

        def plus_one(number):
            torch.set_num_threads(4)
            model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 2))
            loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(2, (8,))), 4)
            for rows, labels in loader:
                F.cross_entropy(model(rows), labels).backward()
            distributions.Categorical(torch.ones(3)).sample(), torch.multinomial(torch.ones(3), 2)
            torch.linalg.svd(torch.randn(5, 5)), torch.fft.fft(torch.randn(8)), str(rows)
            torch.vmap(torch.dot)(torch.randn(2, 3), torch.randn(2, 3)), torch.tensor(1.0).item()
            nn.MultiheadAttention(8, 2)(*[torch.randn(1, 3, 8)] * 3), torch.testing
            return number + 1
    """,
    "much output, recursion and warnings": """
        import logging, sys, warnings

        def depth(n):
            return 0 if n == 0 else 1 + depth(n - 1)

        def plus_one(number):
            for row in range(2000):
                print("a row of some length", row, file=sys.stderr if row % 2 else sys.stdout)
            warnings.warn("look at this")
            logging.warning("and at this")
            sys.stdout.flush()
            sys.stdout.buffer.write(b"and bytes")
            sys.setrecursionlimit(3000)
            return number + 1 + depth(2000) - 2000
    """,
    "large rows": """
        import torch

        def plus_one(number):
            rows = torch.rand(16, 128_000)
            torch.multinomial(rows.softmax(-1), 1), rows.sort(), rows.topk(50), rows.cumsum(-1)
            return number + 1
    """,
    "its own clean-up": """
        import atexit, signal, sys, threading

        atexit.register(print, "never told")
        signal.signal(signal.SIGALRM, lambda *_: None)
        sys.settrace(None)
        state = threading.local()

        def plus_one(number):
            state.last = number
            try:
                open("/nonexistent/notes.txt")
            except OSError:
                pass
            return number + 1
    """,
}


@pytest.mark.parametrize("what", HONEST)
def test_honest_code_is_not_punished(graded, what):
    """Whatever computes and reads no file of its own has full marks under every lock."""
    report = graded(HONEST[what])

    assert report.load_error is None
    assert [check.message for check in report.checks] == [None] * 3


def test_what_pytorch_loads_late_works_or_is_explained(started, tmp_path):
    """An optimiser loads a compiler on first use: it does, or the message says what to import."""
    limits = kits.TOML.replace("call = 1", "call = 30").replace("ion = 10", "ion = 60")
    file = tmp_path / "answer.py"
    file.write_text(
        "import torch\n\ndef plus_one(number):\n"
        "    torch.optim.Adam([torch.zeros(2, requires_grad=True)])\n    return number + 1\n",
        encoding="utf-8",
    )

    report = kits.write_kit(tmp_path / "kit", toml=limits).grade(file, started)

    if report.isolation.level == "no-open":
        assert "'torch._dynamo' (nothing can be loaded once" in str(report.checks[0].message)
    else:
        assert report.passed


REFUSED = "(a graded submission cannot use files, the network, processes or threads)"
BARRED = {
    "reading a file": ("open('/etc/hostname').read()", "PermissionError"),
    "writing a file": ("open('/tmp/notes.txt', 'w')", "PermissionError"),
    "a temporary file": ("__import__('tempfile').TemporaryFile()", "Error"),
    "the network": ("socket.create_connection(('127.0.0.1', 80))", "PermissionError"),
    "a thread": ("threading.Thread(target=print).start()", "RuntimeError: can't start new thread"),
    "a pool of threads": (
        "list(concurrent.futures.ThreadPoolExecutor().map(abs, [1]))",
        "RuntimeError: can't start new thread",
    ),
    "a command": ("subprocess.run(['ls'])", "PermissionError"),
    "a process": ("os.fork()", "PermissionError"),
}


@pytest.mark.parametrize("what", BARRED)
def test_what_is_barred_says_so_and_why(graded, what):
    """An attempt fails as an ordinary exception, and the message says what is not to be had."""
    attempt, error = BARRED[what]

    report = graded(
        f"""
        import concurrent.futures, os, socket, subprocess, tempfile, threading

        def plus_one(number):
            if number == 13:
                {attempt}
            return number + 1
        """
    )

    passed, failed, other = report.checks
    assert (passed.outcome, failed.outcome, other.outcome) == ("passed", "error", "passed")
    assert error in str(failed.message)
    assert REFUSED in str(failed.message)


def test_a_barred_attempt_at_load_says_so_too(graded):
    """A file that needs another file to load is told why it did not load."""
    report = graded("table = open('/etc/hostname').read()\n\ndef plus_one(number):\n    return 2\n")

    assert report.load_error is not None
    assert report.load_error.message.endswith(REFUSED)


def test_where_nothing_opens_a_late_import_is_explained(tmp_path):
    """At level no-open a module that is not named in an import statement cannot be had any more."""
    kit = kits.write_kit(tmp_path / "kit")
    file = tmp_path / "answer.py"
    file.write_text(
        "def plus_one(number):\n"
        "    if number == 13:\n        __import__('colorsys')\n"
        "    from wave import open\n    return number + 1\n",
        encoding="utf-8",
    )
    made = launcher("auto", level="no-open")

    report = kit.grade(file, made)

    made.close()
    assert [check.outcome for check in report.checks] == ["passed", "error", "passed"]
    assert "ModuleNotFoundError: No module named 'colorsys' (nothing can be loaded once" in str(
        report.checks[1].message
    )
