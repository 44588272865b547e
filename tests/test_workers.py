"""Worker processes: what they inherit, what stays in memory, and that none is left behind."""

from __future__ import annotations

import gc
import os
import re
import secrets
import signal
import socket
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader import interpreter, kit, session, submission_file
from grader.expect import Mismatch, exactly
from grader.faults import KitFault
from grader.problem import Limits
from grader.submission import Case, NotRun, Submission
from grader.values import Other, array, seeded
from grader.worker import wire
from grader.workers import Forked, Fresh, Launcher, launcher
from tests import kits

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Limits(load=10, call=2, submission=20, memory=512)


@pytest.fixture(scope="module", name="started")
def _started() -> Iterator[Forked]:
    made = Forked()
    yield made
    made.close()


@pytest.fixture(name="open_source")
def _open_source(started) -> Iterator[Callable[[str], Submission]]:
    """Source text as a submission whose entry is `f()`."""
    opened: list[Submission] = []

    def open_source(text: str) -> Submission:
        source = textwrap.dedent(text).encode()
        opened.append(Submission(started, source, ["f"], [], LIMITS))
        return opened[-1]

    yield open_source
    for submission in opened:
        submission.close()


def test_linux_forks_unless_told_otherwise():
    """`auto` and `fork` mean forked workers on Linux, `fresh` a new interpreter for each."""
    assert [type(made) for made in map(_closed, ["auto", "fork", "fresh"])] == [
        Forked,
        Forked,
        Fresh,
    ]


def test_cuda_never_forks():
    """With CUDA every worker is a new interpreter: a process that touched it cannot be forked."""
    assert type(launcher("auto", "cuda")) is Fresh


def test_versions_are_those_of_the_workers(started):
    """What a launcher says it loaded is what a submission sees."""
    assert started.versions()["python"] == ".".join(map(str, sys.version_info[:3]))
    assert set(started.versions()) == {"python", "torch", "numpy", "platform", "capability"}


@pytest.mark.parametrize("name", ["grader", "solutions.verify.solution", "problems.verify.cases"])
def test_a_submission_cannot_import_the_kit(open_source, name):
    """Neither the answers nor the grader can be imported beside a submission."""
    submission = open_source(
        f"""
        import importlib
        def f():
            try:
                importlib.import_module({name!r})
            except ImportError:
                return "not found"
        """
    )
    assert submission() == exactly("not found")


def test_what_is_printed_while_loading_is_told_once(open_source):
    """A submission that is loaded again in a new worker does not print its first lines again."""
    submission = open_source("print('loading')\ndef f():\n    print('call')\n    return 1")
    submission()
    submission.retire()
    submission()
    assert submission.close().text == "loading\ncall\ncall\n"


def test_environment_is_made_from_nothing(open_source):
    """No variable of whoever runs the grader reaches a submission, and it runs on one thread."""
    submission = open_source(
        """
        import os, sys, torch
        def f():
            return [sorted(os.environ), os.environ["HOME"], os.getcwd(), sys.argv,
                    torch.get_num_threads(),
                    [path for path in sys.path if "grader" in path or path == ""]]
        """
    )

    names, home, folder, argv, threads, paths = submission()

    assert "PYTEST_CURRENT_TEST" in os.environ
    assert not [name for name in names if name.startswith(("PYTEST", "XDG", "PYTHONPATH"))]
    assert home == "/nonexistent"
    assert (folder, argv, threads, paths) == ("/", ["submission.py"], 1, [])


def test_only_the_reply_socket_is_inherited(open_source):
    """A worker has its input, output and error, one socket, and nothing else open."""
    submission = open_source(
        """
        import os
        def f():
            found = {}
            for fd in range(4096):
                try:
                    found[fd] = os.readlink(f"/proc/self/fd/{fd}").partition(":")[0]
                except OSError:
                    pass
            return found
        """
    )

    found = submission()

    assert sorted(fd for fd in found if fd < 3) == [0, 1, 2]
    assert found[0] == "/dev/null"
    assert found[1] == found[2]
    assert [kind for fd, kind in sorted(found.items()) if fd > 2] == ["socket"]


def test_workers_start_with_random_states_of_their_own(open_source):
    """Two calls, and two workers, do not repeat each other's global random numbers."""
    text = """
        import random, torch, numpy
        FIRST = [random.random(), float(torch.rand(())), float(numpy.random.rand())]
        def f():
            return [float(torch.rand(())), float(numpy.random.rand()), *FIRST]
        """
    submission = open_source(text)

    first, second = submission(), submission()

    assert first[0] != second[0]
    assert first[1] != second[1]
    assert first[2:] == second[2:]


def test_what_one_worker_changes_no_other_sees(open_source):
    """Every worker begins with PyTorch as it was loaded, whatever an earlier one did to it."""
    spoiler = open_source(
        """
        import torch
        def f():
            torch.rand = lambda *args, **kwargs: 4
            torch.marker = "left behind"
            return torch.rand()
        """
    )
    other = open_source(
        """
        import torch
        def f():
            return [type(torch.rand(())).__name__, hasattr(torch, "marker")]
        """
    )

    assert spoiler() == exactly(4)
    assert other() == exactly(["Tensor", False])


def test_many_calls_can_be_begun_ahead(open_source):
    """What is begun runs by itself and is told when it is wanted, as if it had been waited for."""
    text = """
        import random
        def f():
            return random.randrange(3)
        """
    waited, begun = open_source(text), open_source(text)

    tally = begun.begin_repeat(600)
    expected = waited.repeat(600)

    assert tally().order.tolist() == expected.order.tolist()
    assert sorted(expected.values) == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import nowhere", "the submission could not be loaded"),
        ("def f():\n    raise KeyError(3)", "your code raised KeyError: 3"),
        ("import os\ndef f():\n    os._exit(1)", "ended the process during a call"),
        ("def f():\n    while True: pass", "took longer than 2 s for one call"),
    ],
)
def test_what_goes_wrong_ahead_is_told_when_it_is_wanted(open_source, text, told):
    """Beginning never fails; whoever asks for the answers is told what happened."""
    submission = open_source(text)

    tally = submission.begin_repeat(600)

    with pytest.raises((Mismatch, NotRun), match=told):
        tally()


def test_nothing_of_a_submission_is_left_in_the_zygote(started, tmp_path):
    """After a grading the memory that later workers inherit holds no text of the submission."""
    marker = f"marker_{secrets.token_hex(16)}"
    file = tmp_path / "answer.py"
    text = f"# {marker}\n" * 300 + kits.RIGHT
    file.write_text(text, encoding="utf-8")

    report = kits.write_kit(tmp_path / "kit").grade(file, started)

    assert report.score == 7
    [zygote] = [p for p in kits.zygotes() if p.pid == started_pid(started)]
    assert _memory_holds(zygote.pid, b"set_num_interop_threads")  # the search finds what is there
    assert not _memory_holds(zygote.pid, marker.encode())


@pytest.mark.parametrize("level", ["auto", "process"])
@pytest.mark.parametrize("mode", ["fork", "fresh"])
def test_everything_ends_with_the_grading_process(mode, level, tmp_path):
    """When the process that grades is killed, what it started is gone at once."""
    file = tmp_path / "answer.py"
    file.write_text("import time\n\ndef plus_one(number):\n    time.sleep(30)\n", encoding="utf-8")
    limits = kits.TOML.replace("call = 1", "call = 40").replace("ion = 10", "ion = 40")
    tiny = kits.write_kit(tmp_path / "kit", toml=limits)
    command = [sys.executable, "-P", "-m", "grader", "--kit", tiny.root, "run", file]
    grading = subprocess.Popen(
        [*command, "--problem", tiny.slug, "--workers", mode, "--isolation", level],
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
    )
    wanted = 2 if mode == "fork" else 1
    try:
        family = _settled(grading.pid, wanted)
    finally:
        grading.kill()
        grading.communicate()

    assert len(family) == wanted
    _wait(lambda: not family & {p.pid for p in kits.processes()}, 2)
    assert not family & {p.pid for p in kits.processes()}


def test_closing_a_launcher_ends_its_zygote(tmp_path):
    """A grading leaves no process behind, zygote included."""
    file = tmp_path / "answer.py"
    file.write_text(kits.RIGHT, encoding="utf-8")
    before = {p.pid for p in kits.zygotes()}
    tiny = kits.write_kit(tmp_path / "kit")

    report = session.grade(
        kit.find(tiny.root), tiny.problem, submission_file.read(file), library="torch"
    )

    assert report.passed
    assert {p.pid for p in kits.zygotes()} == before


def test_a_launcher_that_nobody_needed_leaves_nothing():
    """Closed before PyTorch is loaded, as where a file cannot be read, it leaves no process, and
    does not wait until one leaves by itself."""
    before = kits.descendants()
    made = Forked()
    started = kits.descendants() - before

    made.close()

    assert started
    assert made._zygote.returncode == -signal.SIGKILL
    _wait(lambda: not started & {p.pid for p in kits.processes()}, 10)
    assert not started & {p.pid for p in kits.processes()}


def test_descriptors_are_given_back(started, tmp_path):
    """Grading a file that dies in every check leaves as many files open as before."""
    file = tmp_path / "answer.py"
    file.write_text("import os\n\ndef plus_one(number):\n    os._exit(3)\n", encoding="utf-8")
    tiny = kits.write_kit(tmp_path / "kit")
    tiny.grade(file, started)
    gc.collect()
    before = _open_files()

    for _ in range(3):
        tiny.grade(file, started)

    gc.collect()
    assert _open_files() == before


def test_a_zygote_that_is_gone_is_a_fault_of_the_kit(tmp_path):
    """If the process that makes workers is lost, the grading says so and scores nobody."""
    made = Forked()
    made.versions()
    [zygote] = [p for p in kits.zygotes() if p.pid == started_pid(made)]
    os.kill(zygote.pid, signal.SIGKILL)
    file = tmp_path / "answer.py"
    file.write_text(kits.RIGHT, encoding="utf-8")

    with pytest.raises(KitFault, match="worker process"):
        kits.write_kit(tmp_path / "kit").grade(file, made)
    made.close()


def test_a_submission_that_ends_the_zygote_gets_no_score(tmp_path):
    """Losing the process that makes workers in the middle of a grading is a fault as well.

    Only at the lowest level can a submission do that.
    """
    file = tmp_path / "answer.py"
    file.write_text(
        "import os\n\ndef plus_one(number):\n    os.kill(os.getppid(), 9)\n    return number + 1\n",
        encoding="utf-8",
    )
    made = launcher("fork", level="process")

    with pytest.raises(KitFault, match="worker process"):
        kits.write_kit(tmp_path / "kit").grade(file, made)
    made.close()


def test_pytorch_that_cannot_be_imported_is_a_fault_that_says_what_to_try(monkeypatch):
    """Where the worker process cannot load PyTorch the fault tells the command that shows why."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    broken = Forked()

    with pytest.raises(KitFault, match=r"Is PyTorch installed\? Try `false -c 'import torch'`"):
        broken.versions()
    broken.close()


def test_fresh_and_forked_workers_draw_the_same_bits(started):
    """Sampled answers are the same to the last bit whichever way a worker starts."""
    source = (ROOT / "solutions/step/solution.py").read_bytes()
    rows = [array([[0.1, 0.2, 0.7]] * 3), array([[0.5, 0.3, 0.2]] * 4)]
    calls = [
        Case((*rows, array([2, 0, 1], "int64"), seeded(seed)), exactly(None)) for seed in range(50)
    ]
    fresh = Fresh()

    answers = []
    for way in (started, fresh):
        names = ["draft_probs", "target_probs", "draft_tokens", "generator"]
        submission = Submission(way, source, ["speculative_decode_step"], names, LIMITS)
        outcomes = submission.outcomes(calls, observe=("generator",))
        answers.append([(o.value[0].data, o.value[1], o.generator) for o in outcomes])
        submission.close()

    fresh.close()
    assert answers[0] == answers[1]
    assert len({tokens for tokens, _, _ in answers[0]}) > 3


def test_a_frame_that_is_never_finished_is_late(started):
    """Half a reply counts as none: the deadline ends the wait."""
    worker = started.start()
    nonce = worker.send({"do": "versions"}, b"", time.monotonic() + 5)
    worker.reply(nonce, time.monotonic() + 5)

    with pytest.raises(wire.Late):
        worker.reply(nonce, time.monotonic() + 0.1)
    worker.close()


def test_a_reply_to_another_request_is_refused(started):
    """A reply has to carry the nonce of the request it answers."""
    worker = started.start()
    worker.send({"do": "versions"}, b"", time.monotonic() + 5)

    with pytest.raises(wire.WireError, match="not asked"):
        worker.reply(b"\0" * wire.NONCE_BYTES, time.monotonic() + 5)
    worker.close()


def test_an_answer_nobody_waited_for_is_not_taken_for_another():
    """After a Ctrl-C between a request and its answer the next worker is still the right one."""
    made = Forked()
    made.versions()
    for _ in range(2):
        ours, theirs = socket.socketpair()
        output = interpreter.output_file()
        socket.send_fds(made._control, [b"F" + struct.pack("<q", 0)], [theirs.fileno(), output])
        for each in (ours, theirs):
            each.close()
        os.close(output)
    made._control.send(b"R" + struct.pack("<q", 1))  # its answer is not waited for either
    submission = Submission(
        made, b"import os\ndef f():\n    return os.getpid()\n", ["f"], [], LIMITS
    )

    pid = submission()

    assert pid in {process.pid for process in kits.processes()}
    submission.close()
    assert pid not in {process.pid for process in kits.processes()}
    made.close()


def test_closing_a_worker_twice_is_no_harm(started):
    """`close` ends the process once and tells the same ending again."""
    worker = started.start()

    first = worker.close()

    assert first.signal == signal.SIGKILL
    assert worker.close() is first
    assert worker.printed() == b""


def test_answers_are_compared_after_the_worker_died_as_well(started):
    """A call that kills its worker costs that case; the cases after it run in a new one."""
    submission = Submission(
        started,
        b"import os\ndef f(n):\n    return n if n != 2 else os._exit(0)\n",
        ["f"],
        ["n"],
        LIMITS,
    )

    outcomes = submission.outcomes([Case((n,), exactly(n)) for n in range(5)])

    submission.close()
    assert [o.value for o in outcomes] == [0, 1, None, 3, 4]
    assert [o.failure and o.failure.kind for o in outcomes] == [None, None, "exit", None, None]


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def started_pid(made: Forked) -> int:
    return made._zygote.pid


def _closed(mode) -> Launcher:
    made = launcher(mode)
    made.close()
    return made


def _memory_holds(pid: int, wanted: bytes) -> bool:
    """Whether any readable page of a process holds these bytes."""
    maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in maps.splitlines():
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) r\S* .*?(\S*)$", line)
            if found is None or found[3].startswith("[v"):
                continue
            if found[3].endswith(".so") or ".so." in found[3]:
                continue  # the libraries' own code and constants
            at, end = int(found[1], 16), int(found[2], 16)
            tail = b""
            while at < end:
                try:
                    memory.seek(at)
                    piece = memory.read(min(end - at, 1 << 24))
                except (OSError, ValueError):
                    break
                if not piece:
                    break
                if wanted in tail + piece:
                    return True
                tail = piece[-len(wanted) :]
                at += len(piece)
    return False


def _settled(pid: int, wanted: int) -> set[int]:
    """The descendants of a process once there have been so many for a second."""
    end = time.monotonic() + 30
    found, since = set[int](), time.monotonic()
    while time.monotonic() < end:
        now = kits.descendants(pid)
        if now != found:
            found, since = now, time.monotonic()
        elif len(found) == wanted and time.monotonic() - since > 1:
            break
        time.sleep(0.05)
    return found


def _wait(until: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        time.sleep(0.05)


def test_arguments_are_refilled_where_reuse_is_asked_for(open_source):
    """With `reuse` a call gets the objects of the call before, holding its own values."""
    submission = open_source(
        """
        seen = []
        def f(x=None):
            seen.append(x)
            return (x is seen[0], x.tolist())
        """
    )
    rows = [array([1.0, 2.0]), array([3.0, 4.0]), array([5.0, 6.0, 7.0])]
    answers = [(True, [1.0, 2.0]), (True, [3.0, 4.0]), (False, [5.0, 6.0, 7.0])]
    cases = [Case((row,), exactly(answer)) for row, answer in zip(rows, answers, strict=True)]
    submission.check(cases, reuse=True)


def test_global_generators_go_on_where_a_case_continues(open_source):
    """`continues` leaves the default generator where the last call left it; its state is seen."""
    submission = open_source("import torch\ndef f():\n    return torch.rand(()).item()")
    anything = exactly(None)
    first = Case((), anything, global_seed=3)
    again = Case((), anything, global_seed=3)
    further = Case((), anything, continues=True)
    outcomes = submission.outcomes([first, further, again], ["generator"])
    values = [outcome.value for outcome in outcomes]
    assert values[0] == values[2] != values[1]
    assert outcomes[0].generator == outcomes[2].generator != outcomes[1].generator


@pytest.mark.parametrize(("limit", "code"), [("-S -n 20", 0), ("-n 20", 2)])
def test_few_open_files_are_raised_or_refused(limit, code, tmp_path):
    """A soft limit that is too low is raised; a hard one is told, with what to do about it."""
    tiny = kits.write_kit(tmp_path / "kit")
    file = tmp_path / "next.py"
    file.write_text(kits.RIGHT, encoding="utf-8")
    words = f"--kit {tiny.root} run {file} --problem {tiny.slug}"
    ran = subprocess.run(
        ["bash", "-c", f"ulimit {limit}; exec {sys.executable} -m grader {words}"],
        capture_output=True,
        text=True,
    )

    assert ran.returncode == code, ran.stderr
    if code:
        assert "grading needs 128: say `ulimit -n 128`" in ran.stderr


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("numpy", "np.random.random_sample()"),
        ("numpy", "s = np.random.get_state(); np.random.set_state((*s[:3], 1, 0.5))"),
        ("random", "random.random()"),
        ("random", "random._inst.gauss_next = 0.5"),
        ("torch", "torch.rand(())"),
    ],
)
def test_a_global_generator_that_was_moved_is_named(open_source, name, line):
    """A number drawn, or one laid in wait for the next normal draw, is seen; nothing else is."""
    text = f"import random, numpy as np, torch\ndef f():\n    {line}\n"
    found = open_source(text).outcomes([Case((), exactly(None))] * 2, ["globals"])
    assert [outcome.moved for outcome in found] == [(name,)] * 2
    still = open_source("def f():\n    pass\n").outcomes([Case((), exactly(None))] * 2, ["globals"])
    assert [outcome.moved for outcome in still] == [()] * 2


@pytest.mark.parametrize("count", [1, 2, 3, 4, 626])
def test_numbers_drawn_from_numpy_are_seen_in_every_call(open_source, count):
    """However many: normal numbers are drawn by rejection, so that these alone miss some."""
    text = f"import numpy as np\ndef f():\n    np.random.rand({count})\n"
    found = open_source(text).outcomes([Case((), exactly(None))] * 120, ["globals"])
    assert {outcome.moved for outcome in found} == {("numpy",)}


def test_what_is_made_of_a_numpy_scalar_is_none(open_source):
    """A subclass crosses as the name of its type, whatever its methods say."""
    text = (
        "import numpy as np\nclass Mine(np.float64):\n"
        "    def item(self):\n        return self\n"
        '    def hex(self):\n        return \'0x0p+0"],"x":["\'\n'
        "def f():\n    return Mine(1)\n"
    )
    (found,) = open_source(text).outcomes([Case((), exactly(None))])
    assert isinstance(found.value, Other)
    assert repr(found.value) == "Mine"


@pytest.mark.parametrize("accelerator", ["", "sim"])
@pytest.mark.parametrize("equal_to", ["np.float64", "torch.Tensor", "list", "dict", "bool"])
def test_a_type_is_told_by_what_it_is(started, accelerator, equal_to):
    """One that says of itself that it equals any other crosses as its own name."""
    made_of = "torch.Tensor" if equal_to == "torch.Tensor" else "object"
    source = f"""
        import numpy as np
        import torch

        class Claims(type({made_of})):
            def __eq__(cls, other):
                return True
            def __hash__(cls):
                return hash({equal_to})

        class Mine({made_of}, metaclass=Claims):
            dtype = np.dtype("float64")
            def item(self):
                return 1.5
            def __len__(self):
                return 0
            def __iter__(self):
                return iter(())

        def f():
            return Mine()
    """
    text = textwrap.dedent(source).encode()
    submission = Submission(started, text, ["f"], [], LIMITS, accelerator=accelerator)
    outcomes = submission.outcomes([Case((), exactly(None))] * 2, ["private"])
    submission.close()
    assert [outcome.failure for outcome in outcomes] == [None] * 2
    assert {(type(outcome.value), repr(outcome.value)) for outcome in outcomes} == {(Other, "Mine")}


PATCHED = {
    "builtins.bool": "Mine()",
    "builtins.float": "Mine(1.5)",
    "builtins.int": "Mine(1)",
    "builtins.str": "Mine('a')",
    "builtins.tuple": "Mine((1, 2))",
    "builtins.list": "Mine((1, 2))",
    "builtins.dict": "Mine(a=1)",
    "torch.Tensor": "torch.zeros(2).as_subclass(Mine)",
    "np.ndarray": "np.zeros(2).view(Mine)",
}


@pytest.mark.parametrize("accelerator", ["", "sim"])
@pytest.mark.parametrize("name", PATCHED)
def test_a_type_in_the_place_of_another_is_none(started, accelerator, name):
    """Whatever a submission makes of the names of types, an answer crosses as what it is."""
    made = "object" if name == "builtins.bool" else name  # of which nothing can be made
    source = f"""
        import builtins
        import numpy as np
        import torch

        class Mine({made}):
            pass

        def f():
            {name} = Mine
            return {PATCHED[name]}
    """
    text = textwrap.dedent(source).encode()
    submission = Submission(started, text, ["f"], [], LIMITS, accelerator=accelerator)
    (found,) = submission.outcomes([Case((), exactly(None))])
    submission.close()
    assert (type(found.value), repr(found.value)) == (Other, "Mine")


# What a private check is asked of, each with what is kept and returned: `kept` is made once.
KEPT = {
    "a tensor": "torch.arange(3.0)",
    "a part of one": "torch.arange(9.0)[2:5]",
    "a transposed one": "torch.arange(6.0).reshape(2, 3).T",
    "one expanded": "torch.tensor([4.0]).expand(3)",
    "one expanded along an axis": "torch.arange(3.0).expand(2, 3)",
    "rows that overlap": "torch.arange(5.0).unfold(0, 3, 1)",
    "an inference tensor": "torch.inference_mode()(torch.arange)(3.0)",
    "one number": "torch.tensor(4.0)",
    "an empty one": "torch.zeros(0)",
    "bfloat16": "torch.arange(3, dtype=torch.bfloat16)",
    "int64": "torch.arange(3)",
    "bool": "torch.tensor([True, False])",
    "ndarray": "numpy.arange(3.0)",
    "part of an ndarray": "numpy.arange(9.0)[::2]",
    "an ndarray of nothing but one number": "numpy.array(4.0)",
    "a read-only ndarray": "numpy.frombuffer(bytes(24))",
    "a broadcast ndarray": "numpy.broadcast_to(numpy.array([4.0]), (3,))",
    "rows of an ndarray that overlap": "numpy.lib.stride_tricks.as_strided("
    "numpy.arange(4.0), (3, 2), (8, 8))",
    "several": "{'a': [torch.arange(3.0), numpy.arange(2.0)], 'b': (torch.ones(2),)}",
    "one twice": "(lambda one: (one, one[1:], one))(torch.arange(3.0))",
}


@pytest.mark.parametrize("kept", KEPT)
def test_answers_that_are_kept_are_put_back(open_source, kept):
    """A cache of answers fails the check of private memory, and answers as before in the worker."""
    submission = open_source(f"import numpy, torch\nKEPT = {KEPT[kept]}\ndef f():\n    return KEPT")
    expected = exactly(submission())
    worker = submission._worker

    def private() -> str:
        try:
            submission.check([Case((), expected)] * 2, private=True)
        except Mismatch as error:
            return error.message
        return ""

    told = private()
    assert ("share memory" in told) == (kept != "an empty one"), told
    assert private() == told
    submission.check([Case((), expected)] * 2)
    assert submission._worker is worker


@pytest.mark.parametrize("kept", KEPT)
def test_answers_of_which_copies_are_returned_are_put_back(open_source, kept):
    """An answer that was kept and is copied for the next call is right after a private check."""
    submission = open_source(
        f"""
        import copy, numpy, torch
        KEPT = []
        def f():
            KEPT.append(copy.deepcopy(KEPT[0]) if KEPT else {KEPT[kept]})
            return KEPT[-1]
        """
    )
    expected = exactly(submission())
    worker = submission._worker
    for _ in range(2):
        submission.check([Case((), expected)] * 2, private=True)
        submission.check([Case((), expected)] * 2)
    assert submission._worker is worker


def test_an_answer_that_is_expanded_has_memory_of_its_own(open_source):
    """It is right where its numbers are, and nothing that a private check asks breaks on it."""
    submission = open_source("import torch\ndef f():\n    return torch.zeros(1).expand(3)")
    submission.check([Case((), exactly(array([0.0, 0.0, 0.0])))] * 2, private=True)


def test_answers_on_an_accelerator_are_put_back(started):
    """So are those that lie in the memory of a simulated device."""
    source = b"KEPT = {}\ndef f(row):\n    return KEPT.setdefault(0, row + 1)"
    submission = Submission(started, source, ["f"], ["row"], LIMITS, accelerator="sim")
    row = array([1.0, 2.0], device="sim:0")
    case = Case((row,), exactly(array([2.0, 3.0], device="sim:0")))
    try:
        submission.check([case] * 2)
        worker = submission._worker
        for _ in range(2):
            with pytest.raises(Mismatch, match="share memory"):
                submission.check([case] * 2, private=True)
            submission.check([case] * 2)
        assert submission._worker is worker
    finally:
        submission.close()


def test_an_argument_that_is_returned_is_put_back(started):
    """An argument that is an answer as well is what it was, for a submission that has kept it."""
    source = b"KEPT = []\ndef f(row):\n    KEPT.append(row)\n    return KEPT[0]"
    submission = Submission(started, source, ["f"], ["row"], LIMITS)
    case = Case((array([1.0, 2.0]),), exactly(array([1.0, 2.0])))
    try:
        with pytest.raises(Mismatch, match="shares memory with row"):
            submission.check([case], private=True)
        submission.check([case, case])
    finally:
        submission.close()
