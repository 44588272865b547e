"""The life of one worker: receive the source, load it, answer calls until the socket closes.

Everything here shares a process with the learner's code, so nothing here decides anything: it
reports what was returned or raised, and the other end of the socket judges it. Limits that matter
are kept by killing this process from outside.
"""

from __future__ import annotations

import ast
import errno
import importlib
import inspect
import io
import linecache
import mmap
import os
import platform
import random
import sys
import traceback
import types
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import wire
from codec import (
    Cuda,
    Decoder,
    Devices,
    Encoder,
    Payload,
    Simulated,
    Watch,
    arrays_in,
    fingerprint,
    memory,
    overlap,
    overwrite,
    refill,
    type_name,
)

_signature = inspect.signature  # kept: a submission may replace it
# For the worker's own calls: without the modes that watch those of a submission, the simulated
# accelerator's among them.
_plainly = torch._C.DisableTorchFunction

FILE_NAME = "submission.py"
MODULE_NAME = "submission"
OWN_MODULES = (
    "wire", "codec", "child", "simdevice", "zygote", "lockdown", "lifeline", "locks", "landlock",
    "seccomp",
)  # fmt: skip
NOT_IMPORTED_AHEAD = {"__main__", "antigravity", "idlelib", "test", "this", "tkinter", "turtle"}
FRAMES_SHOWN = 12
RECURSION_LIMIT = 1000


class OutputFlood(BaseException):
    """More was printed than any honest program prints; ends the call past `except Exception`."""


class Output(io.TextIOBase):
    """Standard output and error of the submission: kept up to a cap, counted up to a larger one.

    The first cap counts bytes, the second characters: text that is not kept is not encoded.
    """

    KEPT = 64 << 10
    MOST = 8 << 20

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.kept = 0
        self.seen = 0

    encoding = "utf-8"
    errors = "replace"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.fd

    def isatty(self) -> bool:
        return False

    def reconfigure(self, **options: object) -> None:
        """Nothing: it is UTF-8 and takes whatever is printed."""

    @property
    def buffer(self) -> OutputBytes:
        """Takes bytes, as that of an ordinary standard output does."""
        return OutputBytes(self)

    def write(self, text: str, /) -> int:
        if type(text) is not str:
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        room = self.KEPT - self.kept
        if room > 0:
            kept = text[:room].encode("utf-8", "replace")[:room]
            self.kept += len(kept)
            try:
                os.write(self.fd, kept)
            except OSError:
                pass  # the file is full already, by writes that went round this object
        self.seen += len(text)
        if self.seen > self.MOST:
            raise OutputFlood
        return len(text)


class OutputBytes(io.BufferedIOBase):
    """`sys.stdout.buffer`: bytes are printed as the text they encode."""

    def __init__(self, output: Output) -> None:
        self.output = output

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self.output.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


class Reserve:
    """Address space set aside, so that running out of memory can still be reported.

    Mapped and never touched: it takes no memory until it is given up.
    """

    SIZE = 16 << 20

    def __init__(self) -> None:
        self._kept: mmap.mmap | None = None
        self.hold()

    def hold(self) -> None:
        """Sets it aside, if it is not and can be."""
        if self._kept is None:
            try:
                self._kept = mmap.mmap(-1, self.SIZE)
            except (OSError, MemoryError):
                pass

    def free(self) -> None:
        """Gives it up, for the report that follows."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None


@dataclass(frozen=True)
class Allowed:
    """What a submission may do here, for the messages on what it may not.

    memory: MiB. system: whether files, sockets, processes and threads are to be had at all.
    opens: whether anything can still be imported or read once it runs.
    """

    memory: int
    system: bool
    opens: bool

    REFUSED = "a graded submission cannot use files, the network, processes or threads"
    IMPORTED_LATE = (
        "nothing can be loaded once a graded submission runs: name the module in an import "
        "statement; what PyTorch loads late by itself cannot be had here"
    )

    def remark(self, error: BaseException) -> str:
        """Why something failed that works elsewhere, in brackets, or nothing."""
        seen: BaseException | None = error
        for _ in range(8):  # causes and contexts, which a submission may tie into a ring
            if seen is None:
                break
            if not self.opens and isinstance(seen, ModuleNotFoundError) and _known(seen.name):
                return f" ({self.IMPORTED_LATE})"
            if not self.system and _is_refusal(seen):
                return f" ({self.REFUSED})"
            seen = seen.__cause__ or seen.__context__
        return ""


def _is_refusal(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.EPERM, errno.EACCES)
    if type(error) is not RuntimeError:
        return False
    text = str(error)
    refusals = ("can't start new thread", os.strerror(errno.EACCES), os.strerror(errno.EPERM))
    return any(refusal in text for refusal in refusals)


class Loaded:
    """A submission that has been executed: its module and how to call into it."""

    def __init__(self, module: types.ModuleType, devices: Devices, allowed: Allowed) -> None:
        self.module = module
        self.devices = devices
        self.allowed = allowed
        self.reserve = Reserve()


def versions() -> dict[str, Any]:
    """What the results depend on besides the kit: versions, processor, instruction set."""
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "platform": f"{platform.system()}-{platform.machine()}",
        "capability": torch.backends.cpu.get_cpu_capability(),
    }


def run(sock: Any, cage: Any, parent: int) -> None:
    """Serves requests until the socket closes, as a child of `parent`. `cage`: see `lockdown`."""
    devices: Devices | None = None
    allowed: Allowed | None = None
    loaded: Loaded | None = None
    while True:
        nonce, request, payload = wire.receive(sock)
        if request["do"] == "versions":
            sock.sendall(wire.pack(nonce, versions()))
        elif request["do"] == "lock":
            found = _devices(request["accelerator"])
            cage.lock(request["memory"], parent)
            allowed = Allowed(request["memory"], not cage.locks.seccomp, cage.opens)
            if isinstance(found, Devices):
                devices = found
                sock.sendall(wire.pack(nonce, {"locked": True}))
            else:
                sock.sendall(wire.pack(nonce, {"unavailable": found[: wire.MESSAGE_LIMIT]}))
        elif devices is None or allowed is None:
            raise wire.WireError("a submission before the locks")
        elif request["do"] == "load":
            loaded, reply = _load(request, bytes(payload), devices, allowed, cage)
            sock.sendall(wire.pack(nonce, reply))
        elif loaded is None:
            raise wire.WireError("a call before anything was loaded")
        elif request["do"] == "calls":
            _calls(sock, nonce, request, payload, loaded)
        else:
            _repeat(sock, nonce, request, payload, loaded)


def _devices(accelerator: str) -> Devices | str:
    """The devices of this worker, or why the accelerator is not to be had."""
    if accelerator == "sim":
        try:
            import simdevice

            reason: str | None = simdevice.available()
            if reason is None:
                simdevice.install()
        except Exception as error:
            return f"torch {torch.__version__} cannot carry a simulated device ({_text_of(error)})"
        return reason or Simulated(simdevice)
    if accelerator == "cuda":
        if not torch.cuda.is_available():
            return f"torch {torch.__version__} sees no CUDA device here"
        return Cuda()
    return Devices()


def _load(
    request: dict[str, Any], source: bytes, devices: Devices, allowed: Allowed, cage: Any
) -> tuple[Loaded | None, dict[str, Any]]:
    """Executes the source as a module of its own; a reply says whether it can be called."""
    for name in OWN_MODULES:
        sys.modules.pop(name, None)
    text = source.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    linecache.cache[FILE_NAME] = (len(text), None, text.splitlines(keepends=True), FILE_NAME)
    module = types.ModuleType(MODULE_NAME)
    module.__file__ = FILE_NAME
    sys.modules[MODULE_NAME] = module
    sys.argv = [FILE_NAME]
    sys.setrecursionlimit(RECURSION_LIMIT)
    # Every fork starts with the zygote's random state: give this life its own.
    devices.seed(request["seed"])
    np.random.seed(request["seed"])
    random.seed(request["seed"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            code = compile(text, FILE_NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return None, {"failed": _syntax_failure(error)}
    if not cage.opens:
        _import_ahead(text)
        cage.close_paths()
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        return None, {"failed": _failure(error, allowed)}
    loaded = Loaded(module, devices, allowed)
    for entry in request["entries"]:
        problem = _entry_failure(module, entry, request["parameters"])
        if problem is not None:
            return None, {"failed": problem}
    return loaded, {"loaded": True}


def _known(name: str | None) -> bool:
    """Whether a module is Python's own, or of PyTorch or NumPy."""
    root = (name or "").partition(".")[0]
    return root in ("torch", "numpy") or root in sys.stdlib_module_names


def _import_ahead(text: str) -> None:
    """Imports what the text names anywhere, since nothing can be imported once it runs.

    What fails here fails again, and is told, where the text asks for it.
    """
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    for name in names:
        parts = name.split(".")
        if _known(name) and NOT_IMPORTED_AHEAD.isdisjoint(parts):
            try:
                importlib.import_module(name)
            except BaseException:
                pass


def _entry_failure(
    module: types.ModuleType, entry: str, parameters: list[str]
) -> dict[str, Any] | None:
    if entry not in module.__dict__:
        return {
            "kind": "missing_entry",
            "message": f"the file does not define {entry}; define `def {entry}"
            f"({', '.join(parameters)})` at the top level",
        }
    function = module.__dict__[entry]
    if not callable(function):
        return {
            "kind": "not_callable",
            "message": f"{entry} is {type_name(type(function))}, not a function",
        }
    own = "…"
    try:
        signature = _signature(function)
        own = ", ".join(map(str, signature.parameters))
        signature.bind(*parameters)
    except TypeError as error:
        return {
            "kind": "wrong_arity",
            "message": f"{entry}({own}) does not take the arguments "
            f"({', '.join(parameters)}): {_text_of(error)}"[: wire.MESSAGE_LIMIT],
        }
    except BaseException:
        pass  # a callable that will not say what it takes is called and seen
    return None


def _calls(
    sock: Any, nonce: bytes, request: dict[str, Any], payload: memoryview, loaded: Loaded
) -> None:
    """One reply a call as soon as it is known, so that each has its own deadline."""
    observe = frozenset(request["observe"])
    decoder = Decoder(payload, loaded.devices)
    kept: list[tuple[Any, list[Any]]] = []
    arguments: list[Any] = []
    seeded = all(call["seed"] != "none" for call in request["calls"])
    for index, call in enumerate(request["calls"]):
        reply = {"i": f"{index}"}
        seed = _seed(call, request["calls_before"] + index)
        out = Payload()
        encoder = Encoder(out, loaded.devices)
        with _plainly():
            fresh = [decoder.value(argument) for argument in call["args"]]
            arguments = refill(arguments, fresh) if request["reuse"] else fresh
            named = {name: decoder.value(argument) for name, argument in call["kwargs"].items()}
        _reset(loaded.devices, seed, call["default_dtype"])
        if "globals" in observe:
            random.seed(seed)  # seeding it anew with a number of its own then shows
            watch = Watch(seed if seeded else None)
        try:
            function = loaded.module.__dict__[call["entry"]]
            answer = function(*arguments, **named)
            with _plainly():
                reply["value"] = encoder.answer(answer)
        except BaseException as error:
            loaded.reserve.free()
            reply["failed"] = _json(_failure(error, loaded.allowed))
            answer = None
        loaded.reserve.hold()
        _restore()
        everything = arguments + list(named.values())
        if "args" in observe:
            with _plainly():
                reply["args"] = _arrays(everything, encoder)
        if "generator" in observe:
            given = [a for a in everything if isinstance(a, torch.Generator)]
            reply["generator"] = encoder.state(given[0] if given else torch.default_generator)
        if "globals" in observe:
            reply["moved"] = _json(watch.moved())
        if "private" in observe:
            kept.append((answer, everything))
        sock.sendall(_frame(nonce, reply, out))
    if "private" in observe:
        _private(sock, nonce, kept, loaded.devices)


def _private(sock: Any, nonce: bytes, kept: list[tuple[Any, list[Any]]], devices: Devices) -> None:
    """After all calls: the answers as they are now, whose memory they share, and the arguments
    once every answer has been overwritten."""
    out = Payload()
    encoder = Encoder(out, devices)
    reply = {"i": f"{len(kept)}", "later": _list([encoder.answer(a) for a, _ in kept])}
    spans = [
        [span for found in arrays_in(answer) if (span := memory(found, devices)) != (0, 0)]
        for answer, _ in kept
    ]
    shares = [
        [
            position
            for position, argument in enumerate(arguments)
            if isinstance(argument, torch.Tensor | np.ndarray)
            and any(overlap(span, memory(argument, devices)) for span in own)
        ]
        for own, (_, arguments) in zip(spans, kept, strict=True)
    ]
    twins = [
        [
            earlier
            for earlier in range(index)
            if any(overlap(a, b) for a in spans[index] for b in spans[earlier])
        ]
        for index in range(len(kept))
    ]
    reply |= {"shares": _json(shares), "twins": _json(twins)}
    put_back = [overwrite(found, devices) for answer, _ in kept for found in arrays_in(answer)]
    reply["filled"] = _list([_arrays(arguments, encoder) for _, arguments in kept])
    for restore in reversed(put_back):
        restore()
    sock.sendall(wire.frame(nonce, _header(reply), out.bytes()))


def _repeat(
    sock: Any, nonce: bytes, request: dict[str, Any], payload: memoryview, loaded: Loaded
) -> None:
    """One call many times: each distinct answer is sent once, then named by its number."""
    decoder = Decoder(payload, loaded.devices)
    call, devices = request["call"], loaded.devices
    arguments = [decoder.value(argument) for argument in call["args"]]
    named = {name: decoder.value(argument) for name, argument in call["kwargs"].items()}
    function = loaded.module.__dict__[call["entry"]]
    numbers: dict[Any, int] = {}
    sent = 0
    _reset(devices, _seed(call, request["calls_before"]), call["default_dtype"])
    for start in range(0, request["times"], request["every"]):
        out = Payload()
        encoder = Encoder(out, devices)
        values: list[str] = []
        order: list[int] = []
        reply = {"i": f"{start}"}
        for _ in range(start, min(start + request["every"], request["times"])):
            fresh = [_clone(a) for a in arguments]
            fresh_named = {name: _clone(a) for name, a in named.items()} if named else {}
            try:
                answer = function(*fresh, **fresh_named)
                key = fingerprint(answer, devices)
                number = numbers.get(key) if key is not None else None
                if number is None:
                    number = sent
                    sent += 1
                    values.append(encoder.answer(answer))
                    if key is not None:
                        numbers[key] = number
            except BaseException as error:
                loaded.reserve.free()
                reply["failed"] = _json(_failure(error, loaded.allowed))
                break
            order.append(number)
        reply["values"] = _list(values)
        reply["order"] = out.add(np.array(order, dtype="<u4").tobytes())
        _restore()
        sock.sendall(_frame(nonce, reply, out))
        if "failed" in reply:
            return


def _frame(nonce: bytes, reply: dict[str, str], out: Payload) -> bytes:
    """A reply as a frame; where the answer does not fit into one, a frame that says so."""
    try:
        return wire.frame(nonce, _header(reply), out.bytes())
    except wire.WireError:
        failed = _json({"kind": "too_large", "message": "returned more than can be read"})
        return wire.frame(nonce, _header({"i": reply["i"], "failed": failed}))


def _header(parts: dict[str, str]) -> bytes:
    """A reply's header: its parts, which are JSON already."""
    told = ",".join([f'"{name}":{part}' for name, part in parts.items()])
    return f"{{{told}}}".encode()


def _list(items: list[str]) -> str:
    return f"[{','.join(items)}]"


def _arrays(values: list[Any], encoder: Encoder) -> str:
    """The arrays among some values; of the others nothing."""
    return _list(
        [
            encoder.value(each) if isinstance(each, torch.Tensor | np.ndarray) else '["none"]'
            for each in values
        ]
    )


def _json(value: Any) -> str:
    return wire.encode(value).decode()


def _clone(argument: Any) -> Any:
    """A copy of a tensor or an array; a generator is the same one, so that its stream goes on."""
    if isinstance(argument, torch.Tensor):
        return argument.clone()
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _seed(call: dict[str, Any], before: int) -> int | None:
    """What to seed the global generators with: what the call says, nothing where it goes on from
    the one before, else a number of its own. before: calls of this submission until now."""
    if call["seed"] == "none":
        return None
    named: int | None = call["seed"]
    return (before + 1) * 0x9E3779B1 % 2**32 if named is None else named


def _reset(devices: Devices, seed: int | None, default_dtype: str | None) -> None:
    """Undoes what an earlier call may have left switched on, and seeds the global generators.

    Without a seed they go on from where the last call left them.
    """
    dtype = torch.float32 if default_dtype is None else getattr(torch, default_dtype)
    if torch.get_default_dtype() is not dtype:
        torch.set_default_dtype(dtype)
    # Asked of a tensor, which takes a third of the time of asking PyTorch.
    if torch.empty(0).device.type != "cpu":
        torch.set_default_device(None)
    torch.set_flush_denormal(False)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
    if seed is not None:
        devices.seed(seed)
        np.random.seed(seed)


def _restore() -> None:
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)


def _syntax_failure(error: Exception) -> dict[str, Any]:
    if not isinstance(error, SyntaxError):
        return {
            "kind": "syntax_error",
            "message": f"the file cannot be compiled: {_text_of(error)}",
        }
    message = f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    shown = None
    # Errors that are found after parsing come without their line.
    text = error.text or linecache.getline(FILE_NAME, error.lineno or 0)
    if text and error.lineno:
        line = text.rstrip("\n")
        indent = len(line) - len(line.lstrip())
        caret = max((error.offset or 1) - 1 - indent, 0)
        shown = f"    {line.strip()}\n    {' ' * caret}^"
    return {
        "kind": "syntax_error",
        "message": message[: wire.MESSAGE_LIMIT],
        "traceback": shown[: wire.TRACEBACK_LIMIT] if shown else None,
    }


def _failure(error: BaseException, allowed: Allowed) -> dict[str, Any]:
    """What was raised, as the learner should read it: kind, message, the learner's own lines."""
    kind, name, text = "exception", type_name(type(error)), _text_of(error)
    if isinstance(error, OutputFlood):
        kind, message = "flood", f"printed more than {Output.MOST >> 20} MiB"
    elif isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory: you tried to allocate" in text
    ):
        kind, message = "memory", f"used more than {allowed.memory} MiB of memory"
    elif isinstance(error, SystemExit):
        kind, message = "exit", f"ended the program itself (SystemExit: {text or 'no code'})"
    elif isinstance(error, ImportError):
        kind, message = "import_error", f"{name}: {text}"
    else:
        message = f"{name}: {text}" if text else name
    try:
        remark = allowed.remark(error)
    except BaseException:
        remark = ""  # an exception that does not let itself be looked at
    room = wire.MESSAGE_LIMIT - len(remark)
    message = (message if len(message) <= room else f"{message[: room - 2]} …") + remark
    return {
        "kind": kind,
        "message": message,
        "traceback": _own_lines(error),
    }


def _text_of(error: BaseException) -> str:
    """The exception's message, even if its own __str__ raises."""
    try:
        text = str(error)
    except BaseException:
        return "(its message cannot be read)"
    return text if type(text) is str else "(its message is not a string)"


def _own_lines(error: BaseException) -> str | None:
    """The frames of the submission alone, innermost last; the kit's and libraries' are left out."""
    try:
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == FILE_NAME
        ]
    except BaseException:
        return None
    if not frames:
        return None
    lines = []
    if len(frames) > FRAMES_SHOWN:
        lines.append(f"  … {len(frames) - FRAMES_SHOWN} calls before these")
        frames = frames[-FRAMES_SHOWN:]
    for frame in frames:
        lines.append(f"  line {frame.lineno}, in {frame.name}\n    {frame.line}")
    return "\n".join(lines)[: wire.TRACEBACK_LIMIT]


def redirect_output(fd: int) -> None:
    """Makes `fd` the submission's standard output and error."""
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Output(1)  # type: ignore[assignment, misc]
