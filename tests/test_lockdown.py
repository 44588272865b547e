"""The locks of a worker: what each of them stops, and that nothing is graded where one does not.

The filters are run here instruction by instruction as well, so that both processors' lists are
tried on one machine. Whatever an attack gets hold of, it answers with; with every lock on that is
an error, with the matching lock off it is the loot.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from grader import canary, isolation
from grader.expect import Mismatch
from grader.faults import KitFault, UsageError
from grader.problem import Limits
from grader.submission import Submission
from grader.worker import landlock, seccomp
from grader.worker.locks import Locks
from grader.workers import Forked, Launcher
from tests import kits
from tests.hostile_places import readable_python

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Limits(load=20, call=20, submission=60, memory=64)
ALL = isolation.offered()
PID = 4321

needs_filter = pytest.mark.skipif(not ALL.seccomp, reason="this system has no seccomp filters")
needs_landlock = pytest.mark.skipif(not ALL.landlock, reason="this kernel has no Landlock")


# ---- the filter, run by hand


def judged(program: bytes, number: int, arguments: tuple[int, ...] = (), *, machine: str) -> int:
    """What a filter answers for one system call, by the rules of the kernel's filter machine."""
    architecture = seccomp.ARCHITECTURES[machine][1] if machine in seccomp.ARCHITECTURES else 0x28
    padded = (*arguments, *[0] * (6 - len(arguments)))
    record = struct.pack("=IIQ6Q", number & 0xFFFF_FFFF, architecture, 0, *padded)
    code = list(struct.iter_unpack("=HBBI", program))
    at, word = 0, 0
    while True:
        what, if_true, if_false, k = code[at]
        at += 1
        if what == 0x20:
            word = struct.unpack_from("=I", record, k)[0]
        elif what == 0x15:
            at += if_true if word == k else if_false
        elif what == 0x35:
            at += if_true if word >= k else if_false
        elif what == 0x45:
            at += if_true if word & k else if_false
        else:
            assert what == 0x06
            return k


def names(machine: str) -> dict[int, str]:
    """Every number of a processor's calls, from the kernel's own header where it is installed."""
    place = {
        "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "aarch64": "/usr/include/asm-generic/unistd.h",
    }[machine]
    if not Path(place).exists():
        pytest.skip(f"the kernel's header {place} is not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(place).read_text("utf-8"))
    return {int(number): name for name, number in found}


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_the_lists_have_the_kernels_own_numbers(machine):
    """Every call on the lists has the number that the kernel's header gives it."""
    which = seccomp.ARCHITECTURES[machine][0]
    header = names(machine)
    listed = {name: numbers[which] for name, numbers in (seccomp.COMPUTING | seccomp.PATHS).items()}
    listed |= {name: call.numbers[which] for name, call in seccomp.NARROWED.items()}
    listed["prlimit64"] = seccomp.PRLIMIT[which]

    wrong = {
        name: (number, header.get(number))
        for name, number in listed.items()
        if number is not None and header.get(number, "").removeprefix("new") not in (
            name, name.removeprefix("new"),
        )
    }  # fmt: skip

    assert wrong == {}


@pytest.mark.parametrize("paths", [True, False], ids=["paths", "no paths"])
@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_a_filter_allows_its_list_and_nothing_else(machine, paths):
    """Listed calls pass; others are refused, as unknown to this kernel if they are newer."""
    which = seccomp.ARCHITECTURES[machine][0]
    program = seccomp.program(machine, PID, paths=paths, another=False)
    table = seccomp.COMPUTING | seccomp.PATHS if paths else seccomp.COMPUTING
    allowed = {numbers[which] for numbers in table.values()}
    narrowed = {call.numbers[which] for call in seccomp.NARROWED.values() if paths or not call.path}

    for number in {*range(1024)} - narrowed - {seccomp.PRLIMIT[which]}:
        expected = seccomp.REFUSE if number < seccomp.FIRST_NEW else seccomp.UNKNOWN
        expected = seccomp.ALLOW if number in allowed else expected
        assert judged(program, number, machine=machine) == expected, number


# call: (place of the argument, values that pass, values that do not)
OTHERS = (PID + 1, 1, 0xFFFF_FFFF)
ARGUMENTS = {
    "futex": (1, [0x80, 0x81, 0x180, 0x189], [0, 1, 3, 9, 0x100]),
    "sendto": (3, [0, 0x4000], [1, 0x40, 0x4001]),
    "clock_gettime": (0, [0, 1, 2, 3, 11], [0xFFFF_FFF2, 0xFFFF_7A3E, 0x8000_0002, 16]),
    "clock_getres": (0, [0, 1, 2, 3], [0xFFFF_FFF2]),
    "clock_nanosleep": (0, [0, 1, 2], [0xFFFF_FFF2]),
    "openat": (2, [0, 0x8_0000, 0x1_0000, 0x800], [1, 2, 3, 0x40, 0x241, 0x200, 0x203, 0x40_0000]),
    "open": (1, [0, 0x8_0000], [1, 2, 3, 0x40, 0x200, 0x40_0002]),
    "kill": (0, [PID], [0, *OTHERS]),
    "tgkill": (0, [PID], [0, *OTHERS]),
    "sched_getaffinity": (0, [0, PID], OTHERS),
    "fcntl": (1, [0, 1, 2, 3, 4, 1030, 1034], [8, 10, 1033, 1024, 6]),
    "ioctl": (1, [0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451], [0x5412, 0x8901, 0x5452]),
    "prctl": (0, [15, 16, 0x5356_4D41], [1, 4, 22, 38]),
}


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
@pytest.mark.parametrize("name", seccomp.NARROWED)
def test_a_narrowed_call_passes_with_its_own_arguments_only(machine, name):
    """Signals go to the process itself, files are read, clocks and futexes are its own, and
    descriptors and terminals are asked, never steered."""
    number = seccomp.NARROWED[name].numbers[seccomp.ARCHITECTURES[machine][0]]
    place, passing, refused = ARGUMENTS[name]
    if number is None:
        pytest.skip("this processor has no such call")
    program = seccomp.program(machine, PID, paths=True, another=False)

    for value in (*passing, *refused):
        arguments = (*[PID] * place, value)
        wanted = seccomp.ALLOW if value in passing else seccomp.REFUSE
        assert judged(program, number, arguments, machine=machine) == wanted, value


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_limits_can_be_read_and_not_set(machine):
    """prlimit64 passes for the process itself, with a null pointer for new limits."""
    number = seccomp.PRLIMIT[seccomp.ARCHITECTURES[machine][0]]
    program = seccomp.program(machine, PID, paths=True, another=False)

    verdicts = {
        (pid, pointer): judged(program, number, (pid, 7, pointer, 1), machine=machine)
        for pid in (0, PID, *OTHERS)
        for pointer in (0, 1, 1 << 32, 0x7FFF_0000_0000)
    }

    allowed = {facts for facts, verdict in verdicts.items() if verdict == seccomp.ALLOW}
    assert allowed == {(0, 0), (PID, 0)}
    assert {*verdicts.values()} == {seccomp.ALLOW, seccomp.REFUSE}


def test_another_processors_numbers_end_the_process():
    """A call by another processor's numbering is not looked up in this list: it kills."""
    program = seccomp.program("x86_64", PID, paths=True, another=False)

    assert judged(program, 0, machine="i386") == seccomp.KILL
    assert judged(program, 0, machine="aarch64") == seccomp.KILL
    assert judged(program, 0x4000_0000, machine="x86_64") == seccomp.UNKNOWN


def test_only_the_first_of_two_filters_lets_another_follow():
    """Where a second filter is to come, the first allows it to be installed, and it forbids."""
    call = (157, (22, 2, 0x1000))
    verdicts = [
        judged(seccomp.program("x86_64", PID, paths=p, another=p), *call, machine="x86_64")
        for p in (True, False)
    ]

    assert verdicts == [seccomp.ALLOW, seccomp.REFUSE]


# ---- Landlock, at every version


_RESTRICTED = """
import json, os, socket, sys
sys.path.insert(0, sys.argv[1])
import ctypes, landlock
version, folder, port, other, name = int(sys.argv[2]), sys.argv[3], *sys.argv[4:]
rules = landlock.ruleset([folder + "/open"], version)
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
landlock.restrict(rules)
def connect(): socket.socket().connect(("127.0.0.1", int(port)))
def abstract(): socket.socket(socket.AF_UNIX).connect("\\0" + name)
found = {}
for what, attempt in {
    "granted": lambda: open(folder + "/open/file").read(),
    "read": lambda: open(folder + "/closed").read(),
    "list": lambda: os.listdir(folder),
    "write": lambda: open(folder + "/open/file", "w"),
    "make": lambda: open(folder + "/open/new", "w"),
    "remove": lambda: os.remove(folder + "/open/file"),
    "rename": lambda: os.rename(folder + "/open/file", folder + "/open/other"),
    "link": lambda: os.link(folder + "/open/file", folder + "/linked"),
    "truncate": lambda: os.truncate(folder + "/open/file", 0),
    "tcp": connect,
    "signal": lambda: os.kill(int(other), 0),
    "abstract": abstract,
}.items():
    try:
        attempt()
        found[what] = "done"
    except OSError as error:
        found[what] = type(error).__name__
print(json.dumps(found))
"""


@needs_landlock
@pytest.mark.parametrize("version", range(1, landlock.NEWEST + 1))
def test_each_version_of_landlock_stops_what_it_knows(version, tmp_path):
    """Files are closed from version 1, truncation from 3, TCP from 4, other processes from 6."""
    if version > landlock.version():
        pytest.skip(f"this kernel's Landlock has version {landlock.version()}")
    (tmp_path / "open").mkdir()
    for path in (tmp_path / "open" / "file", tmp_path / "closed"):
        path.write_text("text", encoding="utf-8")
    bystander = subprocess.Popen(["sleep", "30"])
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0lockdown-{os.getpid()}-{version}")
        unix.listen()
        where = [ROOT / "grader/worker", version, tmp_path, tcp.getsockname()[1], bystander.pid]
        name = unix.getsockname()[1:].decode()
        done = subprocess.run(
            [sys.executable, "-c", _RESTRICTED, *map(str, where), name],
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
    bystander.kill()
    bystander.wait()
    found = json.loads(done.stdout)

    since = {"truncate": 3, "tcp": 4, "signal": 6, "abstract": 6}
    assert found.pop("granted") == "done"
    assert {what for what, how in found.items() if how == "done"} == {
        what for what, first in since.items() if version < first
    }


# ---- each lock off in its turn


@pytest.fixture(name="asked")
def _asked(tmp_path) -> Iterator[Callable[..., object]]:
    """What `f` of a source text answers under certain locks, or the failure it is told by."""
    opened: list[Launcher] = []

    def asked(source: str, locks: Locks, **names: object) -> object:
        launcher = Forked(locks)
        opened.append(launcher)
        text = "".join(f"{name} = {value!r}\n" for name, value in names.items())
        submission = Submission(
            launcher, (text + textwrap.dedent(source)).encode(), ["f"], [], LIMITS
        )
        try:
            return submission()
        except Mismatch as mismatch:
            return mismatch
        finally:
            submission.close()

    yield asked
    for launcher in opened:
        launcher.close()


READS = """
def f():
    try:
        return open(path).read()
    except OSError as error:
        return type(error).__name__
"""

SENDS = """
import socket

def f():
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            return sock.sendto(b"loot", ("127.0.0.1", port)) == 4 and "loot"
    except OSError as error:
        return type(error).__name__
"""

STATS = """
import os

def f():
    try:
        return "loot" if os.stat(path).st_size else ""
    except OSError as error:
        return type(error).__name__
"""

OPENS_MANY = """
import os

def f():
    try:
        for _ in range(100):
            os.dup(0)
        return "loot"
    except OSError as error:
        return type(error).__name__
"""

TAKES_MEMORY = """
def f():
    try:
        return "loot" if bytearray(100 << 20) else ""
    except MemoryError as error:
        return type(error).__name__
"""

# lock: (what is on beside it, source, what it answers while the lock is on)
BARE = replace(ALL, landlock=False, seccomp=False, no_open=False)
ATTACKS = {
    "landlock": (ALL, READS, "PermissionError"),
    "seccomp": (ALL, SENDS, "PermissionError"),
    "no_open": (replace(ALL, landlock=False, no_open=True), STATS, "PermissionError"),
    "limits": (ALL, OPENS_MANY, "OSError"),
    "memory": (ALL, TAKES_MEMORY, "MemoryError"),
    "capabilities": (replace(BARE, own_user=0, user_range=0), READS, "PermissionError"),
}


@needs_filter
@pytest.mark.parametrize("lock", ATTACKS)
def test_an_attack_succeeds_once_its_lock_is_off(lock, asked, tmp_path):
    """With every lock on an attack gets an error; with the one that stops it off, the loot."""
    on, source, stopped = ATTACKS[lock]
    if not getattr(on, lock):
        pytest.skip("this lock cannot be had here")
    path = tmp_path / "secret"
    path.write_text("loot", encoding="utf-8")
    if lock == "capabilities":  # what only an administrator can read
        path.chmod(0)
        os.chown(path, 12345, 12345)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        names = {"path": str(path), "port": udp.getsockname()[1]}

        assert asked(source, on, **names) == stopped
        assert asked(source, replace(on, **{lock: False}), **names) == "loot"


SPIES = """
def f():
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for line in open(f"/proc/{pid}/maps"):
                first, last = (int(at, 16) for at in line.split()[0].split("-"))
                if "[heap]" in line:
                    memory.seek(first)
                    return "loot" if memory.read(last - first) else ""
        return "no heap"
    except OSError as error:
        return type(error).__name__
"""


@needs_filter
def test_a_worker_that_is_not_dumpable_cannot_be_read_by_its_neighbour():
    """Without the other locks one worker reads another's memory, unless that is closed."""
    for dumpable, expected in ((False, "PermissionError"), (True, "loot")):
        locks = replace(BARE, own_user=0, user_range=0, dumpable=dumpable)
        launcher = Forked(locks)
        victim = Submission(
            launcher, b"import os\ndef f():\n    return os.getpid()\n", ["f"], [], LIMITS
        )
        source = f"pid = {victim()}\n{SPIES}".encode()
        spy = Submission(launcher, source, ["f"], [], LIMITS)

        found = spy()

        spy.close()
        victim.close()
        launcher.close()
        assert found == expected


@needs_filter
@pytest.mark.parametrize("bound", [True, False], ids=["bound", "not bound"])
def test_a_worker_ends_with_the_process_that_made_it(bound):
    """A worker that is bound to its parent is gone once that is killed; else it lives on."""
    launcher = Forked(replace(ALL, parent_death=bound))
    submission = Submission(
        launcher, b"import os\ndef f():\n    return os.getpid()\n", ["f"], [], LIMITS
    )
    pid = submission()
    [zygote] = [p for p in kits.zygotes() if p.pid == launcher._zygote.pid]
    os.kill(zygote.pid, signal.SIGKILL)
    launcher._zygote.wait()

    end = time.monotonic() + (5 if bound else 1)
    while time.monotonic() < end and pid in {p.pid for p in kits.processes()}:
        time.sleep(0.02)
    alive = pid in {p.pid for p in kits.processes()}
    if alive:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(KitFault, match="worker process"):
        submission.close()
    launcher.close()

    assert alive is not bound


_OWN_USER = """
import sys
from dataclasses import replace
from grader import isolation
from grader.problem import Limits
from grader.submission import Submission
from grader.workers import Forked

best = isolation.offered()
bare = replace(best, landlock=False, seccomp=False, no_open=False, capabilities=False)
source = b'''import os
def f():
    try:
        os.kill(%d, 0)
        return "loot"
    except OSError as error:
        return type(error).__name__
''' % int(sys.argv[1])
for locks in (bare, replace(bare, own_user=0, user_range=0)):
    launcher = Forked(locks)
    submission = Submission(launcher, source, ["f"], [], Limits(20, 20, 60, 64))
    print(bool(locks.own_user), submission())
    submission.close()
    launcher.close()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give workers users of their own")
def test_a_worker_with_a_user_of_its_own_cannot_signal_its_makers(tmp_path):
    """Where everybody can read Python, root's workers are somebody else; else they are root."""
    home = Path(tempfile.mkdtemp(prefix="own_user_"))
    home.chmod(0o755)
    try:
        done = subprocess.run(
            [readable_python(home), "-P", "-c", _OWN_USER, str(os.getpid())],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
    finally:
        shutil.rmtree(home)

    assert done.stdout == "True PermissionError\nFalse loot\n"


def test_every_lock_is_among_those_turned_off():
    """No lock can be added without a test that turns it off."""
    tried = {*ATTACKS, "dumpable", "parent_death", "own_user"}
    details = {"open_files", "user_range"}

    assert {field.name for field in fields(Locks)} == tried | details


# ---- the canary


@needs_landlock
def test_rules_that_grant_too_much_stop_everything(monkeypatch):
    """Landlock that is on and lets a file be read is found out before anything is graded."""
    monkeypatch.setattr(isolation, "readable", lambda: iter([Path("/")]))
    launcher = Forked()

    with pytest.raises(KitFault, match=r"the lock 'landlock' is on, yet .* could: read \(done\)"):
        launcher.isolation()
    launcher.close()


@needs_landlock
def test_a_lock_that_cannot_be_put_on_grades_nobody(monkeypatch):
    """A worker that cannot lock itself ends before a submission is there, and that is a fault."""
    monkeypatch.setattr(isolation, "rules", lambda locks: os.open("/dev/null", os.O_RDONLY))
    launcher = Forked()
    submission = Submission(launcher, b"def f():\n    return 1\n", ["f"], [], LIMITS)

    with pytest.raises(KitFault, match="could not put its locks on, so nothing was graded"):
        submission()
    with pytest.raises(KitFault, match=r"the locks cannot be tried \(locked\): landlock: "):
        launcher.isolation()
    submission.close()
    launcher.close()


ON = Locks(landlock=True, seccomp=True, no_open=True, own_user=1000, user_range=10)
EVERYTHING = {attempt for attempts, _ in canary._EXPECTED.values() for attempt in attempts}
UNLOCKED = dict.fromkeys(EVERYTHING, "done") | {"user": "0", "CapEff": "ff"}
LOCKED = dict.fromkeys(EVERYTHING, "EPERM") | {
    "thread": "EAGAIN", "files": "EMFILE", "memory": "ENOMEM", "output": "EPERM",
    "user": "1004", "CapEff": "0",
}  # fmt: skip


def test_locks_that_all_bite_are_believed():
    """Where everything worked without locks and nothing with them, the locks are proved."""
    assert canary.judge(ON, UNLOCKED, LOCKED, "").untried == ()


@pytest.mark.parametrize("attempt", sorted(EVERYTHING))
@pytest.mark.parametrize("how", ["done", "ENOENT", None])
def test_one_attempt_that_is_not_refused_stops_everything(attempt, how):
    """An attempt that succeeds under the locks, fails otherwise or is missing is a fault."""
    found = {name: value for name, value in (LOCKED | {attempt: how}).items() if value}

    with pytest.raises(KitFault, match="nothing is graded like this"):
        canary.judge(ON, UNLOCKED, found, "")


def test_an_attempt_that_cannot_succeed_proves_nothing_and_is_told():
    """Where something fails without locks too, that it fails with them is no proof."""
    unlocked = UNLOCKED | {"tcp": "ENETUNREACH"}

    assert canary.judge(ON, unlocked, LOCKED, "").untried == ("tcp",)


@pytest.mark.parametrize("lock", canary._EXPECTED)
def test_a_lock_of_which_nothing_could_be_tried_is_not_believed(lock):
    """Where all that a lock has to stop fails without it as well, nobody is graded under it."""
    attempts, _ = canary._EXPECTED[lock]
    locks = replace(Locks(limits=False, memory=False), **{lock: True})
    unlocked = UNLOCKED | dict.fromkeys(attempts, "EACCES")

    with pytest.raises(KitFault, match=f"'{lock.replace('_', '-')}' cannot be proved here"):
        canary.judge(locks, unlocked, LOCKED, "")


@pytest.mark.parametrize(
    ("locks", "found", "arrived", "told"),
    [
        (ON, LOCKED, "udp", "something came out of a locked process: udp"),
        (ON, LOCKED | {"user": "0"}, "", "a worker still runs as user 0"),
        (replace(ON, capabilities=True), LOCKED | {"CapEff": "3f"}, "", "keeps capabilities"),
        (ON, LOCKED | {"output": "done"}, "", "output can be made longer"),
    ],
)
def test_what_is_seen_from_outside_counts_as_well(locks, found, arrived, told):
    """Something that arrived, a user that stayed, privileges that are left: each is a fault."""
    with pytest.raises(KitFault, match=told):
        canary.judge(locks, UNLOCKED, found, arrived)


# ---- levels


@pytest.mark.parametrize(
    ("has_landlock", "has_filter", "level"),
    [(7, True, "locked"), (0, True, "no-open"), (7, False, "process"), (0, False, "process")],
)
def test_the_best_level_is_what_the_machine_has(monkeypatch, has_landlock, has_filter, level):
    """Landlock and seccomp make `locked`, seccomp alone `no-open`, anything else `process`."""
    monkeypatch.setattr(landlock, "version", lambda: has_landlock)
    monkeypatch.setattr(seccomp, "supported", lambda: has_filter)

    assert isolation.level_of(isolation.of_level("auto")) == level
    for asked in isolation.LEVELS[isolation.LEVELS.index(level) :]:
        assert isolation.level_of(isolation.of_level(asked)) == asked
    for asked in isolation.LEVELS[: isolation.LEVELS.index(level)]:
        with pytest.raises(UsageError, match=f"--isolation {asked} cannot be had here"):
            isolation.of_level(asked)


def test_other_systems_have_limits_alone_and_say_so(monkeypatch):
    """Where there is no Linux, level `process` is told together with what is missing."""
    monkeypatch.setattr(sys, "platform", "darwin")
    locks = isolation.of_level("auto")

    told = isolation.told(locks, fresh=True, canary="not tried", untried=())

    assert told.level == "process"
    assert told.layers == ("process", "wall clock", "output cap", "limits", "fresh interpreter")
    assert told.missing == ("this system has neither Landlock nor seccomp, which are Linux's",)


def test_no_folder_is_readable_in_which_other_things_are_installed():
    """What a locked worker may read holds neither the kit nor any package beside PyTorch's."""
    granted = [path.resolve() for path in isolation.readable() if path.exists()]
    closed = [
        ROOT,
        Path(isolation.__file__),
        Path(pytest.__file__),
        Path.home(),
        Path("/etc/passwd"),
    ]

    for path in closed:
        assert not [each for each in granted if path.resolve().is_relative_to(each)], path
