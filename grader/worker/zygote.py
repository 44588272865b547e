"""A process with PyTorch loaded that turns each request into a worker by forking.

Control socket (SOCK_SEQPACKET, one message each way):
    b"F" with two descriptors (reply socket, output file)  ->  b"F" + pid as i64, with a pidfd
    b"R" + pid as i64, once the pidfd says it has ended     ->  b"R" + wait status as i32
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
import time
from pathlib import Path
from typing import NoReturn

CPU_SECONDS = 120  # a backstop only: the clock that counts is the grader's
OPEN_FILES = 64
FILE_BYTES = 1 << 20
REAP_SECONDS = 2.0
ROUNDS = 200
UNKNOWN = -1
OUT_OF_MEMORY, BROKEN = 72, 71  # exit codes that the grader knows
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
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


def address_space() -> int | None:
    """Bytes of address space this process has mapped; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def limit_resources(files: int) -> None:
    """No core files, few open files, small files, and a last bound on processor time."""
    import resource

    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, files),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
    ):
        resource.setrlimit(limit, (value, value))


def limit_memory(base: int | None, mebibytes: int) -> None:
    """Lets this process map `mebibytes` more than `base`.

    By difference: how much address space PyTorch alone takes varies by gigabytes between builds.
    """
    if base is None:
        return
    import resource

    most = base + (mebibytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def serve(control_fd: int) -> NoReturn:
    """Forks a worker per request until the control socket closes."""
    load_libraries()
    base = address_space()
    control = socket.socket(fileno=control_fd)
    control.send(json.dumps(sys.modules["child"].versions()).encode())
    own_pid = os.getpid()
    workers: set[int] = set()
    # What outlives the worker that started it becomes a child of this process, and can be ended.
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    while True:
        try:
            message, fds, _, _ = socket.recv_fds(control, 64, 2)
        except OSError:
            message = b""
        if not message:
            end_children(but=set())
            os._exit(0)
        if message[:1] == b"R":
            pid = struct.unpack("<q", message[1:])[0]
            workers.discard(pid)
            control.send(b"R" + struct.pack("<i", reap(pid, workers)))
            continue
        if sum(1 for _ in Path("/proc/self/task").iterdir()) != 1:
            # A fork copies one thread only: locks held by the others would never be released.
            os._exit(70)
        pid = os.fork()
        if pid == 0:
            control.detach()
            die_with_parent()
            if os.getppid() != own_pid:
                os._exit(0)
            os.setpgid(0, 0)  # what it starts is ended with it
            become_worker(fds[0], fds[1], base)
        workers.add(pid)
        pidfd = os.pidfd_open(pid)
        for fd in fds:
            os.close(fd)
        socket.send_fds(control, [b"F" + struct.pack("<q", pid)], [pidfd])
        os.close(pidfd)


def reap(pid: int, workers: set[int]) -> int:
    """The wait status of a worker that has ended, and the end of whatever it has left running.

    UNKNOWN where the status cannot be had in time: a process that traces the dead one keeps it.
    """
    status = UNKNOWN
    deadline = time.monotonic() + REAP_SECONDS
    while True:
        done, found = os.waitpid(pid, os.WNOHANG) if status == UNKNOWN else (0, 0)
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


def die_with_parent() -> None:
    """Lets the kernel end this process as soon as the one that started it is gone (Linux)."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def become_worker(
    reply_fd: int, output_fd: int, base: int | None, *, cuda: bool = False
) -> NoReturn:
    """Runs one worker's life in this process and ends it without any clean-up of the parent's.

    cuda: without limits on memory and open files, since the driver maps and opens far more.
    """
    child = sys.modules["child"]

    child.redirect_output(output_fd)
    os.closerange(3, reply_fd)
    os.closerange(reply_fd + 1, 4096)
    limit_resources(files=4096 if cuda else OPEN_FILES)
    # Only now is a socket object made: one that the fork copied would close a reused number later.
    sock = socket.socket(fileno=reply_fd)
    code = 0
    try:
        child.run(sock, lambda mebibytes: limit_memory(None if cuda else base, mebibytes))
    except MemoryError:
        code = OUT_OF_MEMORY  # so little is left that not even this can be told
    except BaseException:
        code = BROKEN  # the socket closed, or the submission broke what this process runs on
    os._exit(code)


def main(arguments: list[str]) -> NoReturn:
    """`zygote CONTROL_FD`, or `fresh` or `cuda` with REPLY_FD OUTPUT_FD."""
    mode, *fds = arguments
    if mode == "zygote":
        serve(int(fds[0]))
    die_with_parent()  # before the source is here: it is sent once this process has answered
    load_libraries()
    become_worker(int(fds[0]), int(fds[1]), address_space(), cuda=mode == "cuda")
