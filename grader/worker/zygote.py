"""A process with PyTorch loaded that turns each request into a worker by forking.

Control socket (SOCK_SEQPACKET, one message each way):
    b"L" + the locks of every worker, with the descriptor of Landlock's rules if they ask for it
    b"F" + number as i64, with the descriptors of reply socket and output file
                                                            ->  the same + pid as i64, with a pidfd
    b"M", before a long life: its memory is moved into huge pages, where a fork copies less
    b"R" + pid as i64, once the pidfd says it has ended     ->  the same + wait status as i32
On start it sends one JSON object with the versions it loaded. It ends when the socket closes.

It never holds the text of a submission, an input or an expected value: freed memory of this process
is inherited by every later worker, where it can be searched.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

from lifeline import die_with_parent
from lockdown import Cage, CannotLock, address_space, set_dumpable
from locks import Locks

REAP_SECONDS = 2.0
ROUNDS = 200
UNKNOWN = -1
BROKEN, OUT_OF_MEMORY, NOT_LOCKED = 71, 72, 73  # exit codes that the grader knows
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_HUGE, _MADV_HUGEPAGE, _MADV_COLLAPSE = 2 << 20, 14, 25
_LIBC = ctypes.CDLL(None)


def load_libraries() -> None:
    """Imports what workers need, on one thread and without pausing for garbage collection."""
    gc.disable()
    import numpy
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    # Whatever is set up on first use is set up here, once: a fork then starts warm.
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand((2, 3), generator=generator).clamp(min=0.1)
    torch.multinomial(weights, 1, generator=generator)
    repr(weights)
    torch.get_default_device()
    # Looked for by writing a file: PyTorch asks for it where nothing may be written.
    tempfile.tempdir = "/tmp"
    numpy.random.get_state()
    import child  # noqa: F401

    try:
        import simdevice

        simdevice.prepare()
    except Exception:
        # It stands on private parts of PyTorch: without it device checks are not run, and say so.
        sys.modules.pop("simdevice", None)

    # What was imported until now is the kit's own and PyTorch; from here on nothing is written.
    sys.dont_write_bytecode = True
    hide_the_kit()
    # Without collecting first: a tenth of the whole start, for a few megabytes of garbage.
    gc.freeze()
    gc.enable()


def hide_the_kit() -> None:
    """Takes the kit off the path, now that what is needed of it is loaded.

    In a checkout that is installed for editing, its root is on every interpreter's path, and
    `import solutions.…` would find the answers. This hides them from `import` only: keeping files
    from being opened is another matter.
    """
    worker = Path(__file__).resolve().parent
    root = worker.parent.parent
    shared = (root / "torch").is_dir()  # the root is site-packages, which is needed
    hidden = {worker} if shared else {worker, root}
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() not in hidden]
    for name in ("grader", "problems", "solutions", "templates"):
        sys.modules[name] = None  # type: ignore[assignment]


def load_what_is_looked_up_later() -> None:
    """Imports what PyTorch and NumPy import on first use: where nothing may be opened, it is now.

    Not `torch.func` and `torch.testing`, which bring a compiler: a second, and a fork half as fast.
    """
    import importlib

    for name in ("_strptime", "encodings.idna", "numpy.random", "numpy.testing"):
        importlib.import_module(name)


def serve(control_fd: int, parent: int) -> NoReturn:
    """Forks a worker per request until the control socket closes.

    parent: whose end is to be noticed while PyTorch is being loaded and nobody looks at the socket;
    0 where the thread that started this process may end before, which would count as its end.
    """
    set_dumpable(False)  # for its workers too, until they are locked
    if parent:
        die_with_parent(parent)
    load_libraries()
    if parent:
        _LIBC.prctl(_PR_SET_PDEATHSIG, 0)
    control = socket.socket(fileno=control_fd)
    control.send(json.dumps(sys.modules["child"].versions()).encode())
    own_pid = os.getpid()
    cage: Cage | None = None
    workers: set[int] = set()
    # What outlives the worker that started it becomes a child of this process, and can be ended.
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    while True:
        try:
            message, fds, _, _ = socket.recv_fds(control, 4096, 2)
        except OSError:
            message = b""
        if not message:
            end_children(but=set())
            os._exit(0)
        if message[:1] == b"L":
            cage = prepare(Locks.decode(message[1:]), fds)
            continue
        if message == b"M":
            use_huge_pages()
            continue
        if message[:1] == b"R":
            pid = struct.unpack("<q", message[1:])[0]
            workers.discard(pid)
            control.send(message + struct.pack("<i", reap(pid, workers)))
            continue
        if sum(1 for _ in Path("/proc/self/task").iterdir()) != 1:
            # A fork copies one thread only: locks held by the others would never be released.
            os._exit(70)
        assert cage is not None  # the grader says what to lock before it asks for workers
        pid = os.fork()
        if pid == 0:
            control.detach()
            if cage.locks.parent_death:
                die_with_parent(own_pid)
            os.setpgid(0, 0)  # what it starts is ended with it
            become_worker(fds[0], fds[1], cage, own_pid)
        workers.add(pid)
        pidfd = os.pidfd_open(pid)
        for fd in fds:
            os.close(fd)
        socket.send_fds(control, [message + struct.pack("<q", pid)], [pidfd])
        os.close(pidfd)


def prepare(locks: Locks, fds: list[int]) -> Cage:
    """The locks of the workers to come, and whatever has to be loaded because of them."""
    if locks.no_open:
        load_what_is_looked_up_later()
        gc.freeze()
    return Cage(locks, fds[0] if fds else None, address_space())


def use_huge_pages() -> None:
    """Moves this process's memory into huge pages (Linux 6.1 and later; else nothing happens).

    It takes as long as some ten forks, and saves a third of every one.
    """
    try:
        maps = Path("/proc/self/maps").read_text("utf-8").splitlines()
    except OSError:
        return
    for line in maps:
        span, rights, _, _, inode, *name = line.split(maxsplit=5)
        if "w" not in rights or inode != "0" or name not in ([], ["[heap]"]):
            continue
        start, end = (int(address, 16) for address in span.split("-"))
        first, last = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
        for advice in (_MADV_HUGEPAGE, _MADV_COLLAPSE):
            if first < last:
                _LIBC.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), advice)


def reap(pid: int, workers: set[int]) -> int:
    """The wait status of a worker that has ended, and the end of whatever it has left running.

    UNKNOWN where the status cannot be had in time: a process that traces the dead one keeps it.
    """
    status = UNKNOWN
    deadline = time.monotonic() + REAP_SECONDS
    while True:
        try:
            done, found = os.waitpid(pid, os.WNOHANG) if status == UNKNOWN else (0, 0)
        except ChildProcessError:  # it was waited for already: who asked did not hear the answer
            return UNKNOWN
        status = found if done else status
        end_children(but=workers | {pid})
        if status != UNKNOWN or time.monotonic() > deadline:
            return status
        time.sleep(0.002)


def end_children(but: set[int]) -> None:
    """Kills the children of this process except some, and theirs as they become its own."""
    for _ in range(ROUNDS):
        strays = [pid for pid in children() if pid not in but]
        if not strays:
            return
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError, PermissionError):
                pass
        time.sleep(0.001)


def children() -> list[int]:
    """The children of this process, ended ones that nobody has waited for among them."""
    own = os.getpid()
    try:
        listed = Path(f"/proc/self/task/{own}/children").read_text("ascii")
        return [int(pid) for pid in listed.split()]
    except OSError:
        pass  # the kernel was built without it
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = path.read_text("utf-8", "replace").rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == own:
            found.append(int(path.parent.name))
    return found


def become_worker(reply_fd: int, output_fd: int, cage: Cage, parent: int) -> NoReturn:
    """Runs one worker's life in this process and ends it without any clean-up of the parent's."""
    child = sys.modules["child"]

    child.redirect_output(output_fd)
    kept = sorted({reply_fd} if cage.ruleset is None else {reply_fd, cage.ruleset})
    for low, high in zip([2, *kept], [*kept, 4096], strict=True):
        os.closerange(low + 1, high)
    # Only now is a socket object made: one that the fork copied would close a reused number later.
    sock = socket.socket(fileno=reply_fd)
    code = 0
    try:
        child.run(sock, cage, parent)
    except MemoryError:
        code = OUT_OF_MEMORY  # so little is left that not even this can be told
    except CannotLock as error:
        print(error)
        code = NOT_LOCKED
    except BaseException:
        code = BROKEN  # the socket closed, or the submission broke what this process runs on
    os._exit(code)


def main(arguments: list[str]) -> NoReturn:
    """`zygote CONTROL_FD PARENT`, `worker LOCKS REPLY_FD OUTPUT_FD [RULES_FD]`, or `canary`, which
    takes what a worker takes, and then its targets."""
    mode, *rest = arguments
    if mode == "zygote":
        serve(*map(int, rest))
    if mode == "canary":
        import canary

        word, reply_fd, output_fd, *fds, targets = rest
        os.dup2(int(output_fd), 1)
        canary.run(Locks.decode(word), int(reply_fd), [*map(int, fds)], json.loads(targets))
    word, reply_fd, output_fd, *fds = rest
    locks, parent = Locks.decode(word), os.getppid()
    if locks.parent_death:
        die_with_parent(parent)  # and not only once it is locked: loading takes a second
    load_libraries()
    cage = prepare(locks, [*map(int, fds)])
    become_worker(int(reply_fd), int(output_fd), cage, parent)
