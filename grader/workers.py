"""Starting, talking to and ending worker processes. Light to import: a grading begins here.

Two launchers give the same workers. `Forked` keeps one process with PyTorch loaded (the zygote) and
forks it, in milliseconds; `Fresh` starts a whole new interpreter for each worker, for systems where
forking after PyTorch is not safe, and for accelerators.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from grader import interpreter, isolation
from grader.canary import Canary
from grader.faults import KitFault, UsageError
from grader.interpreter import OUTPUT_BYTES
from grader.report import Isolation
from grader.worker import wire
from grader.worker.locks import Locks

START_SECONDS = 120.0  # importing PyTorch from a cold disk; not a limit on anybody's code

MOST_DOZED = 0.004  # seconds
OPEN_FILES = 128  # may be open at once: what the locks are tried with, and several workers
ANSWER_SECONDS = 10.0  # for what takes the zygote milliseconds
_UNKNOWN = -1  # the wait status of a process that could not be waited for

Mode = Literal["auto", "fork", "fresh"]


@dataclass(frozen=True)
class Ending:
    """How a process ended: by a signal, or with an exit code."""

    signal: int | None
    code: int | None

    @classmethod
    def of(cls, status: int) -> Ending:
        """From a wait status."""
        if os.WIFSIGNALED(status):
            return cls(os.WTERMSIG(status), None)
        return cls(None, os.WEXITSTATUS(status))


class Process(Protocol):
    """A running worker process, as its launcher knows it."""

    def kill(self) -> None:
        """Kills the process if it still runs; does not wait."""

    def ended(self, seconds: float) -> bool:
        """Waits up to so long for the process to end by itself."""

    def end(self) -> Ending:
        """Kills the process if it still runs, and says how it ended."""


class Buffered:
    """A stream socket read in large pieces: many small replies then cost one system call."""

    PIECE = 64 << 10

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._timeout: float | None = None
        self._piece = memoryview(bytearray(self.PIECE))
        self._ready = self._piece[:0]

    def settimeout(self, value: float | None, /) -> None:
        """The timeout of the next read that has to wait."""
        self._timeout = value

    def recv_into(self, buffer: memoryview, /) -> int:
        """As a socket's, from what has been read ahead if there is any."""
        if not self._ready:
            self._sock.settimeout(self._timeout)
            if len(buffer) >= self.PIECE:
                return self._sock.recv_into(buffer)
            self._ready = self._piece[: self._sock.recv_into(self._piece)]
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def frame(self) -> tuple[bytes, bytes, memoryview] | None:
        """The next frame (`wire.receive_frame`) if all of it has been read ahead."""
        found = wire.first_frame(self._ready)
        if found is None:
            return None
        nonce, text, payload, end = found
        self._ready = self._ready[end:]
        return nonce, text, payload

    def ready(self) -> bool:
        """Whether something has been read ahead."""
        return bool(self._ready)

    def sendall(self, data: bytes, /) -> None:
        """As a socket's."""
        self._sock.settimeout(self._timeout)
        self._sock.sendall(data)

    def close(self) -> None:
        """As a socket's."""
        self._sock.close()


class Worker:
    """One worker: its socket, its output, its process. Closed exactly once, by `close`."""

    def __init__(self, sock: socket.socket, output_fd: int, process: Process) -> None:
        self._sock = Buffered(sock)
        self._output_fd = output_fd
        self._process = process
        self._ending: Ending | None = None
        self._forgotten = 0

    def send(self, header: dict[str, Any] | bytes, payload: bytes, deadline: float) -> bytes:
        """Sends a request and returns its nonce, which each reply must repeat.

        header: may be encoded already.
        """
        text = header if isinstance(header, bytes) else wire.encode(header)
        nonce = secrets.token_bytes(wire.NONCE_BYTES)
        self._sock.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            self._sock.sendall(wire.frame(nonce, text, payload))
        except TimeoutError:
            raise wire.Late("the request was not read in time") from None
        except OSError as error:
            raise wire.Closed(f"connection lost ({error.strerror})") from None
        return nonce

    def doze(self, seconds: float) -> None:
        """Sleeps for so long, MOST_DOZED at most, unless a reply is here already: woken for every
        small reply two processes spend more time on that than on the calls."""
        if not self._sock.ready():
            time.sleep(min(seconds, MOST_DOZED))

    def reply(self, nonce: bytes, deadline: float) -> tuple[dict[str, Any], memoryview]:
        """The next reply to that request; a frame with another nonce is a WireError."""
        text, payload = self.reply_as_it_came(nonce, deadline)
        return wire.parse(text), payload

    def reply_as_it_came(self, nonce: bytes, deadline: float) -> tuple[bytes, memoryview]:
        """As `reply`, with the bytes of the header."""
        found, text, payload = self._sock.frame() or wire.receive_frame(self._sock, deadline)
        if found != nonce:
            raise wire.WireError("a reply to something that was not asked")
        return text, payload

    def ended_by_itself(self, seconds: float) -> bool:
        """Whether the process ends on its own within so many seconds."""
        return self._process.ended(seconds)

    def kill(self) -> None:
        """Ends the process without waiting for it; `close` later tidies up."""
        self._process.kill()

    def close(self) -> Ending:
        """Ends the process and says how it ended. What it printed can be read from then on."""
        if self._ending is None:
            self._ending = Ending(signal.SIGKILL, None)  # stays so only where the next line fails
            try:
                self._ending = self._process.end()
            finally:
                self._sock.close()
                self._printed = self._read_output()[self._forgotten :]
                os.close(self._output_fd)
        return self._ending

    def forget_output(self) -> None:
        """Leaves out of `printed` what the process has printed until now."""
        self._forgotten = len(self._read_output())

    def printed_so_far(self) -> bytes:
        """What a process that still runs has printed."""
        return self._read_output()[self._forgotten :]

    def _read_output(self) -> bytes:
        return os.pread(self._output_fd, OUTPUT_BYTES, 0).rstrip(b"\x00")

    def printed(self) -> bytes:
        """What the process printed, at most OUTPUT_BYTES; closes the worker first."""
        self.close()
        return self._printed


class Launcher(Protocol):
    """Makes workers, each of which locks itself when it is told to.

    `last_long`: many workers will be asked for, so that preparing for it pays. `isolation` waits
    until a canary has proved the locks, `versions` until PyTorch is loaded once.
    """

    def start(self) -> Worker: ...
    def last_long(self) -> None: ...
    def isolation(self) -> Isolation: ...
    def alive(self) -> bool: ...
    def versions(self) -> dict[str, Any]: ...
    def close(self) -> None: ...


class Locking:
    """The locks of a launcher's workers, their rules, and the proof that they bite."""

    def __init__(self, locks: Locks, *, fresh: bool) -> None:
        self.locks = locks
        self._fresh = fresh
        self.rules = isolation.rules(locks)
        tried = locks.landlock or locks.seccomp
        self._canary = Canary(locks, self.rules) if tried else None
        self._proved: Isolation | None = None

    def proved(self) -> Isolation:
        """What is in force; waits for the canary. KitFault where a lock does not bite."""
        if self._proved is None:
            verdict = None if self._canary is None else self._canary.verdict()
            self._proved = isolation.told(
                self.locks,
                fresh=self._fresh,
                canary="passed" if verdict else "not tried",
                untried=verdict.untried if verdict else (),
            )
        return self._proved

    def close(self) -> None:
        """Ends the canary, if nobody asked for its verdict, and lets go of the rules."""
        if self._canary is not None:
            self._canary.close()
        if self.rules is not None:
            os.close(self.rules)
            self.rules = None


class Forked:
    """Workers forked from one process that has PyTorch loaded (Linux). locks: the best there are
    unless given."""

    def __init__(self, locks: Locks | None = None) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # First of all: loading PyTorch takes longer than all that follows.
        with theirs:
            lasting = threading.current_thread() is threading.main_thread()
            parent = os.getpid() if lasting else 0
            self._zygote = interpreter.start(
                ["zygote", str(theirs.fileno()), str(parent)], (theirs.fileno(),)
            )
        self._versions: dict[str, Any] | None = None
        self._asked = 0
        try:
            self._locking = Locking(locks or isolation.of_level(), fresh=False)
            rules = [] if self._locking.rules is None else [self._locking.rules]
            message = b"L" + self._locking.locks.encode().encode()
            with contextlib.suppress(BrokenPipeError):  # it has ended, which `versions` tells
                socket.send_fds(self._control, [message], rules)
        except BaseException:
            self._end_zygote()
            raise

    def isolation(self) -> Isolation:
        """What keeps its workers apart, proved."""
        return self._locking.proved()

    def versions(self) -> dict[str, Any]:
        """What the zygote loaded; waits for it. KitFault where PyTorch cannot be imported."""
        if self._versions is None:
            self._control.settimeout(START_SECONDS)
            message = self._receive("start")
            try:
                self._versions = json.loads(message)
            except ValueError:
                raise KitFault("the worker process did not start as expected") from None
            self._control.settimeout(ANSWER_SECONDS)
        return self._versions

    def last_long(self) -> None:
        with contextlib.suppress(OSError):  # it has ended, which whoever asks next is told
            self._control.send(b"M")

    def start(self) -> Worker:
        self.versions()
        ours, theirs = socket.socketpair()
        output_fd = interpreter.output_file()
        try:
            process = self._fork(theirs.fileno(), output_fd)
        except KitFault:
            ours.close()
            os.close(output_fd)
            raise
        finally:
            theirs.close()
        return Worker(ours, output_fd, process)

    def _fork(self, reply_fd: int, output_fd: int) -> _ForkedProcess:
        try:
            self._asked += 1
            request = b"F" + struct.pack("<q", self._asked)
            socket.send_fds(self._control, [request], [reply_fd, output_fd])
            while True:
                message, fds, _, _ = socket.recv_fds(self._control, 64, 1)
                if message.startswith(request) or not message:
                    break
                for fd in fds:  # of an answer that a Ctrl-C left off waiting for
                    os.close(fd)
        except OSError as error:
            raise KitFault(f"the worker process is gone ({error.strerror})") from None
        if len(message) != len(request) + 8 or len(fds) != 1:
            raise KitFault("the worker process could not fork; is memory short?")
        return _ForkedProcess(self, struct.unpack("<q", message[len(request) :])[0], fds[0])

    def alive(self) -> bool:
        """Whether it can still make workers."""
        return self._zygote.poll() is None

    def reap(self, pid: int) -> Ending:
        """The wait status of a worker that has ended, from its parent."""
        request = b"R" + struct.pack("<q", pid)
        try:
            self._control.send(request)
        except OSError as error:
            raise KitFault(f"the worker process is gone ({error.strerror})") from None
        while not (message := self._receive("wait")).startswith(request):
            pass  # an answer that a Ctrl-C left off waiting for
        status = struct.unpack("<i", message[len(request) :])[0]
        return Ending(signal.SIGKILL, None) if status == _UNKNOWN else Ending.of(status)

    def _receive(self, doing: str) -> bytes:
        try:
            message = self._control.recv(4096)
        except OSError as error:
            raise KitFault(f"the worker process failed to {doing} ({error})") from None
        if not message:
            raise KitFault(
                f"the worker process failed to {doing}: it ended. Is PyTorch installed? "
                f"Try `{Path(sys.executable).name} -c 'import torch'`"
            )
        return message

    def close(self) -> None:
        """Ends the zygote, which would also leave by itself once it sees its socket closed."""
        self._locking.close()
        self._end_zygote()

    def _end_zygote(self) -> None:
        self._control.close()
        if self._versions is None:  # maybe still loading PyTorch, and without children to end
            self._zygote.kill()
        try:
            self._zygote.wait(ANSWER_SECONDS / 4)  # it ends its children before it leaves
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait()


class _ForkedProcess:
    def __init__(self, launcher: Forked, pid: int, pidfd: int) -> None:
        self._launcher = launcher
        self._pid = pid
        self._pidfd = pidfd

    def ended(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def kill(self) -> None:
        try:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def end(self) -> Ending:
        self.kill()
        if not self.ended(10.0):
            raise KitFault("a worker process cannot be killed")
        _end_group(self._pid)
        os.close(self._pidfd)
        return self._launcher.reap(self._pid)


class Fresh:
    """Workers that are new interpreters: slower, the same in every answer.

    accelerator: "cuda" leaves the machine's CUDA devices visible to them, which takes away most
    locks: its driver opens devices, maps all there is and starts threads.
    """

    def __init__(self, accelerator: str | None = None, locks: Locks | None = None) -> None:
        self._cuda = accelerator == "cuda"
        if self._cuda:
            locks = Locks(memory=False, open_files=4096)
        self._locking = Locking(locks or isolation.of_level(), fresh=True)
        self._versions: dict[str, Any] | None = None
        self._ahead: Worker | None = None

    def versions(self) -> dict[str, Any]:
        if self._versions is None:
            self._ahead = self._started()
        assert self._versions is not None
        return self._versions

    def start(self) -> Worker:
        ahead, self._ahead = self._ahead, None
        return ahead or self._started()

    def isolation(self) -> Isolation:
        """What keeps its workers apart, proved."""
        return self._locking.proved()

    def last_long(self) -> None:
        """Nothing: every worker is started anew."""

    def alive(self) -> bool:
        """Always: every worker is started anew."""
        return True

    def _started(self) -> Worker:
        ours, theirs = socket.socketpair()
        output_fd = interpreter.output_file()
        rules = self._locking.rules
        with theirs:
            fds = (theirs.fileno(), output_fd, *([] if rules is None else [rules]))
            arguments = ["worker", self._locking.locks.encode(), *map(str, fds)]
            process = interpreter.start(arguments, fds, cuda=self._cuda)
        worker = Worker(ours, output_fd, _FreshProcess(process))
        deadline = time.monotonic() + START_SECONDS
        try:
            nonce = worker.send({"do": "versions"}, b"", deadline)
            self._versions, _ = worker.reply(nonce, deadline)
        except wire.WireError as error:
            worker.close()
            raise KitFault(f"a worker process did not start: {error}") from None
        return worker

    def close(self) -> None:
        self._locking.close()
        if self._ahead is not None:
            self._ahead.close()


class _FreshProcess:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def ended(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> Ending:
        self.kill()
        _end_group(self._process.pid)
        try:
            code = self._process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:  # something that traces it holds it back
            return Ending(signal.SIGKILL, None)
        return Ending(-code, None) if code < 0 else Ending(None, code)


def _end_group(pid: int) -> None:
    """Ends whatever a worker has started. To be called before the worker itself is waited for."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # nothing is left, which macOS calls a lack of permission


def _require_open_files() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < OPEN_FILES:
        raise UsageError(
            f"no more than {hard} files may be open here, and grading needs {OPEN_FILES}: "
            f"say `ulimit -n {OPEN_FILES}` in a new shell"
        )
    if 0 <= soft < OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))


def launcher(
    mode: Mode, accelerator: str | None = None, level: isolation.Level | Literal["auto"] = "auto"
) -> Launcher:
    """The launcher for this system. `auto` forks on Linux, and nowhere else.

    level: how far its workers are kept apart, the best this machine has unless it is said.

    Forking after PyTorch aborts in the runtime of macOS, and a process that has touched CUDA cannot
    be forked at all. UsageError where this system has no descriptor passing (Windows), or not what
    the level needs.
    """
    if not hasattr(socket, "AF_UNIX") or os.name != "posix":
        raise UsageError("grading needs Linux, macOS or WSL: this system cannot pass descriptors")
    _require_open_files()
    if accelerator == "cuda":
        return Fresh("cuda")
    can_fork = sys.platform == "linux" and hasattr(os, "pidfd_open")
    if mode == "fork" and not can_fork:
        raise UsageError("--workers fork needs Linux; use --workers fresh or auto")
    if mode != "fresh" and can_fork:
        return Forked(None if level == "auto" else isolation.of_level(level))
    return Fresh(locks=isolation.of_level(level))
