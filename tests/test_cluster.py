"""The Dask engine: a real scheduler and real workers on loopback, and what becomes of a batch."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits_found
from grader import submission_file
from grader.batch import cluster as engine
from grader.batch.cluster import Cluster
from grader.faults import UsageError
from grader.lanes import Job
from grader.report import FaultReport, Report
from tests import kits
from tests.conftest import ROOT, Command
from tests.test_batch import rows, timeless

RIGHT = kits.RIGHT
WRONG = RIGHT.replace("+ 1", "+ 2")
SLOW = "import time\n\ndef plus_one(number):\n    time.sleep(0.2)\n    return number + 1\n"
HANGS = "def plus_one(number):\n    while True:\n        pass\n"
CRASHES = "import os\n\ndef plus_one(number):\n    os.abort()\n"
UNREADABLE = "def plus_one(number:\n"
NO_FAILURE = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}


@dataclass(frozen=True)
class Worker:
    """A Dask worker's process."""

    process: subprocess.Popen[bytes]
    log: Path

    def lanes(self) -> list[int]:
        """The lanes it keeps, or its nanny's worker does."""
        found = kits.processes()
        own = {self.process.pid} | {p.pid for p in found if p.parent == self.process.pid}
        return [p.pid for p in found if p.parent in own and "grader.lane" in p.command]


class Dask:
    """A scheduler and its workers, which end with the test."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self._environment = os.environ | {"PYTHONUTF8": "1"} | environment
        self._processes: list[subprocess.Popen[bytes]] = []
        told = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "scheduler", "--port=0", f"--scheduler-file={told}"
        ).process
        until(lambda: _address(folder))
        self.address = _address(folder)

    def worker(self, *options: str, before: str = "", path: Path = ROOT) -> Worker:
        """Starts a worker of one thread, unless options say more, and waits until it is one.

        before: what its process does first. path: where it imports the grader from.
        """
        name = f"w{len(self._processes)}"
        nanny = [] if "--nanny" in options else ["--no-nanny"]
        words = [self.address, "--nthreads=1", f"--name={name}", *nanny, *options]
        worker = self._start("worker", name, *words, before=before, path=path)
        until(lambda: "Registered to" in worker.log.read_text("utf-8"))
        return worker

    def _start(
        self, what: str, name: str, *words: str, before: str = "", path: Path = ROOT
    ) -> Worker:
        module = f"distributed.cli.dask_{what}"
        code = ["-c", f"{before}\nfrom {module} import main; main()"] if before else ["-m", module]
        log = self.folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-P", *code, "--host=127.0.0.1", "--no-dashboard", *words],
                cwd=self.folder,
                env=self._environment | {"PYTHONPATH": str(path)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._processes.append(process)
        return Worker(process, log)

    def close(self) -> None:
        """Ends all of it, the scheduler last."""
        for process in reversed(self._processes):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()


@pytest.fixture(name="start_dask")
def _start_dask(tmp_path: Path) -> Iterator[Callable[..., Dask]]:
    """Starts a scheduler of the test's own."""
    started = []

    def start(**environment: str) -> Dask:
        started.append(Dask(tmp_path, **environment))
        return started[-1]

    yield start
    for dask in started:
        dask.close()


@pytest.fixture(name="two", scope="module")
def _two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    """A scheduler with two workers, for tests that leave them as they are."""
    dask = Dask(tmp_path_factory.mktemp("dask"))
    try:
        dask.worker()
        dask.worker()
        yield dask
    finally:
        dask.close()


@pytest.fixture(name="tiny", scope="module")
def _tiny(tmp_path_factory: pytest.TempPathFactory) -> kits.TinyKit:
    """One kit for all tests, so that the workers keep their lanes."""
    return kits.write_kit(tmp_path_factory.mktemp("kit"))


@pytest.fixture(name="batch")
def _batch(grade: Command, tiny: kits.TinyKit, tmp_path: Path) -> Callable[..., list[str]]:
    """The words of `grade batch` for a class of learners: name=text of their file."""

    def batch(dask: Dask | None, out: Path, **files: str) -> list[str]:
        place = tmp_path / "class"
        for learner, text in files.items():
            (place / learner).mkdir(parents=True, exist_ok=True)
            (place / learner / "answer.py").write_text(text, encoding="utf-8")
        words = ["--kit", tiny.root, "batch", place, "--out", out, "--problem", tiny.slug]
        words += ["--engine", "dask", "--scheduler", dask.address] if dask else []
        return [str(word) for word in (*words, "--seed", 3)]

    return batch


def many(text: str, count: int) -> dict[str, str]:
    return {f"learner{n:02}": text for n in range(count)}


def job(tiny: kits.TinyKit, text: str) -> Job:
    source = submission_file.of_bytes("answer.py", text.encode(), "answer.py")
    return Job(tiny.slug, source, "torch", 1)


def started(grade: Command, words: list[str]) -> subprocess.Popen[bytes]:
    """The command in the background."""
    return subprocess.Popen(
        grade.argv(*words),
        cwd=grade.folder,
        env=grade.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background jobs ignore Ctrl-C, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def scores(out: Path) -> int:
    return len([*out.glob("scores/*.json")])


def until(known: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not known():
        assert time.monotonic() < end, "this never came"
        time.sleep(0.02)


# ---- the same results


def test_a_cluster_gives_what_this_machine_gives(grade, batch, two, tmp_path):
    """Rows and scores are those of the local engine, times aside, whatever a file does."""
    here, there = tmp_path / "here", tmp_path / "there"
    files = {"ann": RIGHT, "bob": WRONG, "carl": CRASHES, "dora": HANGS, "ed": UNREADABLE}
    grade(*batch(None, here, **files))

    done = grade(*batch(two, there))

    expected = {"ann": 7, "bob": 0, "carl": 0, "dora": 0, "ed": 0}
    assert done.stdout.startswith("5 graded; 5 of them now"), done.stderr
    assert {name: row["score"] for name, row in rows(there).items()} == expected
    assert timeless(there) == timeless(here)
    manifests = [json.loads((out / "manifest.json").read_text("utf-8")) for out in (here, there)]
    assert [found["engine"] for found in manifests] == ["local", "dask"]
    assert manifests[1]["lanes"] == 2
    for name in ("versions", "isolation", "seed", "problems", "kit"):
        assert manifests[0][name] == manifests[1][name]


def test_a_cluster_goes_on_with_what_this_machine_began(grade, batch, two, tmp_path):
    """What was graded here is not graded again there, and the other way round."""
    out = tmp_path / "R"
    grade(*batch(None, out, ann=RIGHT, bob=WRONG))

    there = grade(*batch(two, out, carl=RIGHT))
    here = grade(*batch(None, out))

    assert there.stdout.startswith("3 graded; 1 of them now"), there.stderr
    assert here.stdout.startswith("3 graded; 0 of them now")


def test_a_worker_grades_with_as_many_lanes_as_it_has_threads(start_dask, tiny):
    """Two threads are two lanes, and nothing is graded anywhere before it is asked for."""
    worker = start_dask().worker("--nthreads=2")
    with _cluster(tiny, worker) as cluster:
        assert (cluster.count, worker.lanes()) == (2, [])

        waiting = [cluster.submit(job(tiny, SLOW)) for _ in range(4)]
        until(lambda: len(worker.lanes()) == 2)

        assert [_score(each) for each in waiting] == [7] * 4


def test_what_was_graded_is_known_wherever_the_same_kit_lies(grade, batch, tiny, tmp_path):
    """A batch goes on at another machine, with the same files elsewhere; an edited check does not
    count as the same."""
    words = batch(None, tmp_path / "R", ann=RIGHT)
    moved = kits.TinyKit(tmp_path / "home" / tiny.root.name, tiny.slug)
    shutil.copytree(tiny.root, moved.root)
    there = [str(moved.root) if word == str(tiny.root) else word for word in words]
    grade(*words)

    assert grade(*there).stdout.startswith("1 graded; 0 of them now")
    with moved.checks.open("a", encoding="utf-8") as edited:
        edited.write("# another\n")
    assert grade(*there).stdout.startswith("1 graded; 1 of them now")


# ---- workers that come and go


def test_a_worker_that_is_killed_loses_nothing(grade, batch, start_dask, tmp_path):
    """Killed in the middle, its files are graded by the other, and its lanes end with it."""
    dask, out = start_dask(), tmp_path / "R"
    victim, _ = dask.worker(), dask.worker()
    running = started(grade, batch(dask, out, **many(SLOW, 10)))
    until(lambda: scores(out) >= 3)
    lanes = victim.lanes()
    victim.process.kill()

    told, _ = running.communicate(timeout=120)

    assert told.startswith(b"10 graded; 10 of them now")
    assert {row["score"] for row in rows(out).values()} == {7}
    assert lanes
    until(lambda: not {p.pid for p in kits.processes()} & {*lanes})


def test_a_worker_that_comes_later_is_used(grade, batch, start_dask, tmp_path):
    """A batch grows with its cluster."""
    dask, out = start_dask(), tmp_path / "R"
    dask.worker()
    running = started(grade, batch(dask, out, **many(SLOW, 60)))
    until(lambda: scores(out) >= 1)

    second = dask.worker()

    until(second.lanes)
    assert running.poll() is None
    running.kill()
    running.communicate()


def test_a_file_at_which_worker_after_worker_dies_is_told_and_the_next_is_graded(start_dask, tiny):
    """Once the cluster gives a file up, and again, it is a fault; the others are graded."""
    worker = start_dask(**NO_FAILURE).worker("--nanny")
    with _cluster(tiny, worker) as cluster:
        first = cluster.submit(job(tiny, HANGS))
        for _ in range(2):
            until(worker.lanes)
            _kill_worker_under_nanny(worker)
        told = first.result(60)
        second = cluster.submit(job(tiny, RIGHT))

        assert _score(second) == 7
    assert isinstance(told, FaultReport)
    assert "worker after worker died while this file was graded" in told.message


def test_files_that_waited_beside_it_are_graded(start_dask, tiny):
    """What was at a worker that died is tried again, though the cluster has given it up."""
    worker = start_dask(**NO_FAILURE).worker("--nanny")
    with _cluster(tiny, worker) as cluster:
        waiting = [cluster.submit(job(tiny, text)) for text in (SLOW, RIGHT)]
        until(worker.lanes)
        _kill_worker_under_nanny(worker)

        assert [_score(each) for each in waiting] == [7, 7]


def test_without_any_worker_a_batch_gives_up_in_the_end(start_dask, tiny, monkeypatch):
    """A cluster whose workers are all gone and do not come back is told, not waited for."""
    monkeypatch.setattr(engine, "GONE_SECONDS", 1.0)
    worker = start_dask().worker()
    with _cluster(tiny, worker) as cluster:
        waiting = cluster.submit(job(tiny, HANGS))
        until(worker.lanes)
        worker.process.kill()

        with pytest.raises(UsageError, match=r"no workers for 1 s; what was graded is kept"):
            waiting.result(60)


def test_a_scheduler_that_is_gone_is_told(grade, batch, start_dask, tmp_path):
    """What was graded until then is kept, and a line says that the same command goes on."""
    dask, out = start_dask(), tmp_path / "R"
    dask.worker()
    running = started(grade, batch(dask, out, **many(SLOW, 10)))
    until(lambda: scores(out) >= 2)
    dask.scheduler.kill()

    _, told = running.communicate(timeout=60)

    assert running.returncode == 2
    assert b"the connection was lost; what was graded is kept" in told
    assert len(told.splitlines()) == 1, told.decode()
    assert 2 <= len(rows(out)) == scores(out) < 10


def test_ctrl_c_takes_back_what_was_not_graded(grade, batch, two, tmp_path):
    """Few files are on the scheduler at once, and none of a stopped batch; the next run goes on."""
    from distributed import Client

    out = tmp_path / "R"
    words = batch(two, out, **many(SLOW, 20))
    running = started(grade, words)
    with Client(two.address, set_as_default=False) as client:
        until(lambda: scores(out) >= 2)
        assert 0 < client.run_on_scheduler(_tasks) <= 8
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)

        assert running.returncode == 130
        assert told.startswith(b"Stopped. What was graded is kept")
        until(lambda: not client.run_on_scheduler(_tasks))
    assert grade(*words).stdout.startswith("20 graded; ")


def test_lanes_of_a_batch_that_is_over_are_closed(start_dask, tiny):
    """Nobody has to tell a worker: after a while without a file its lanes end by themselves."""
    dask = start_dask()
    worker = dask.worker(before="from grader.batch import station; station.IDLE_SECONDS = 3")
    with _cluster(tiny, worker) as cluster:
        assert _score(cluster.submit(job(tiny, RIGHT))) == 7
        assert worker.lanes()

        until(lambda: not worker.lanes())

        assert _score(cluster.submit(job(tiny, WRONG))) == 0


# ---- workers that would grade otherwise


def test_another_grader_on_a_worker_is_refused(grade, batch, start_dask, tmp_path):
    """Where one file of the grader differs, worker and file are named, and nothing is graded."""
    other = tmp_path / "other"
    shutil.copytree(ROOT / "grader", other / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "grader" / "expect.py").open("a", encoding="utf-8") as edited:
        edited.write("# more tolerant than it was\n")
    dask = start_dask()
    dask.worker("--name=node7", path=other)

    done = grade(*batch(dask, tmp_path / "R", ann=RIGHT))

    assert done.returncode == 2
    assert "worker node7 on " in done.stderr
    assert "it has no kit that is the same" in done.stderr
    assert "(not the same: grader/expect.py)" in done.stderr
    assert not (tmp_path / "R" / "results.jsonl").read_text("utf-8")


def test_another_kit_at_the_same_path_is_refused(two, tiny, tmp_path):
    """A worker grades with exactly the files that whoever asks has, or not at all."""
    edited = kits.TinyKit(tmp_path / "kit", tiny.slug)
    shutil.copytree(tiny.root, edited.root)
    edited.checks.write_text(edited.checks.read_text("utf-8") + "\n# another\n", encoding="utf-8")
    here = replace(kits_found.find(edited.root), root=tiny.root)  # as if on a disk of its own

    with pytest.raises(UsageError) as told, Cluster(here, [tiny.slug], two.address):
        pass

    assert f"neither at {tiny.root} nor installed" in str(told.value)
    assert f"(not the same: problems/{tiny.slug}/checks.py) (and 1 more)" in str(told.value)


def test_a_worker_with_other_locks_is_refused(start_dask, tiny):
    """One kind of isolation for a class: a worker without Landlock stands out, and is named."""
    dask = start_dask()
    worker = dask.worker()
    without = "from grader.worker import landlock; landlock.version = lambda: 0"
    with _cluster(tiny, worker) as cluster:
        other = dask.worker(before=without)
        worker.process.terminate()
        worker.process.wait(30)
        late = cluster.submit(job(tiny, RIGHT))

        with pytest.raises(UsageError, match=r"worker w2 on .*without landlock.*\(level no-open\)"):
            late.result(60)
    dask.worker()
    with pytest.raises(UsageError, match="it keeps submissions apart otherwise than the rest"):
        _cluster(tiny, other)


def test_files_that_nobody_vouches_for_need_locks_there(grade, batch, start_dask, tmp_path):
    """What counts is the workers' isolation, not that of the machine that asks."""
    dask = start_dask()
    dask.worker(
        before="from grader.worker import landlock, seccomp; "
        "landlock.version = lambda: 0; seccomp.supported = lambda: False"
    )
    words = batch(dask, tmp_path / "R", ann=RIGHT)

    refused, vouched = grade(*words), grade(*words, "--i-trust-these-files")

    assert refused.returncode == 2
    assert "say --i-trust-these-files if you vouch for all of them" in refused.stderr
    assert vouched.stdout.startswith("1 graded")
    manifest = json.loads((tmp_path / "R" / "manifest.json").read_text("utf-8"))
    assert (manifest["isolation"]["level"], manifest["isolation"]["on_trust"]) == ("process", True)


# ---- requests that cannot be met


def test_an_address_without_a_scheduler_is_told(grade, batch, two, tmp_path):
    """Nothing there, something else there, or no address at all: one line, and exit code 2."""
    words = batch(None, tmp_path / "R", ann=RIGHT)
    for address in ("tcp://127.0.0.1:9", "nonsense", two.address.replace("tcp:", "tls:")):
        done = grade(*words, "--engine", "dask", "--scheduler", address)

        assert done.returncode == 2
        assert f"--scheduler {address}: no Dask scheduler can be reached there" in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_scheduler_without_workers_is_told(start_dask, tiny, monkeypatch):
    """Nobody waits for ever for a cluster that was not started."""
    monkeypatch.setattr(engine, "WORKER_SECONDS", 0.5)
    address = start_dask().address

    with pytest.raises(UsageError, match=f"start some first: dask worker {address}"):
        Cluster(kits_found.find(tiny.root), [tiny.slug], address)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--engine", "dask"], "say --scheduler ADDRESS as well"),
        (["--scheduler", "tcp://h:1"], "say --engine dask as well"),
        (["--engine", "dask", "--scheduler", "tcp://h:1", "--jobs", "2"], "--jobs is of the other"),
    ],
)
def test_options_that_do_not_go_together_are_told(grade, batch, tmp_path, options, told):
    """An option of the other engine is a mistake, not ignored."""
    done = grade(*batch(None, tmp_path / "R", ann=RIGHT), *options)

    assert done.returncode == 2
    assert told in done.stderr


def test_without_dask_the_extra_is_named(grade, batch, two, tmp_path):
    """Where Dask is not installed a line says how it is."""
    hidden = (
        "import sys; sys.modules['distributed'] = None; from grader.__main__ import main; main()"
    )

    done = subprocess.run(
        [sys.executable, "-P", "-c", hidden, *batch(two, tmp_path / "R", ann=RIGHT)],
        cwd=grade.folder,
        env=grade.environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )

    assert done.returncode == 2
    assert 'pip install "speculative-exercises[cluster]"' in done.stderr


# ---- an encrypted cluster


@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl")
def test_an_encrypted_cluster_is_reached_by_dasks_own_settings(grade, batch, start_dask, tmp_path):
    """With the certificates in Dask's configuration, tls:// works as tcp:// does."""
    subject = ["-subj", "/CN=test", "-days", "2", "-nodes"]
    names = ["-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", *subject, *names],
        check=True,
        capture_output=True,
    )
    settings = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(tmp_path / "cert.pem")}
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        settings[f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT"] = str(tmp_path / "cert.pem")
        settings[f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY"] = str(tmp_path / "key.pem")
    dask = start_dask(
        **settings,
        DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME="tls",
        DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION="true",
    )
    dask.worker("--protocol=tls")
    words = batch(dask, tmp_path / "R", ann=RIGHT)

    assert dask.address.startswith("tls://")
    assert grade(*words).returncode == 2
    assert grade(*words, **settings).stdout.startswith("1 graded; 1 of them now")


def _cluster(tiny: kits.TinyKit, worker: Worker) -> Cluster:
    """The engine, at the scheduler of a worker."""
    return Cluster(kits_found.find(tiny.root), [tiny.slug], _address(worker.log.parent))


def _address(folder: Path) -> str:
    """Of the scheduler that tells it in this folder; empty until it is told in full."""
    try:
        told = json.loads((folder / "scheduler.json").read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return ""
    address: str = told["address"]
    return address


def _score(waiting: Future[Report | FaultReport]) -> int:
    report = waiting.result(60)
    assert isinstance(report, Report)
    return report.score


def _kill_worker_under_nanny(worker: Worker) -> None:
    """Kills the process that grades, and waits until its lanes have ended."""
    lanes = worker.lanes()
    [victim] = {p.parent for p in kits.processes() if p.pid in lanes}
    assert victim != worker.process.pid
    os.kill(victim, signal.SIGKILL)
    until(lambda: not {p.pid for p in kits.processes()} & {*lanes})


def _tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)
