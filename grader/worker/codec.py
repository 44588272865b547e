"""Values in a worker: requests become PyTorch and NumPy objects, answers become tagged JSON.

Types are exact. Only objects whose type is exactly the builtin, `torch.Tensor` or `numpy.ndarray`
keep their value; a subclass, a Parameter, a sparse or lazy tensor crosses as the name of its type.
Nothing is ever replaced by a value that fits better.
"""

from __future__ import annotations

import json
import random

# Kept, as whatever tells types here: a submission may put others in their places.
from builtins import (  # noqa: UP029
    bool,
    dict,
    float,
    id,
    int,
    isinstance,
    len,
    list,
    str,
    tuple,
    type,
)
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
import wire

TORCH_DTYPE = {name: getattr(torch, name) for name in wire.ITEM_SIZE}
TORCH_NAME = {dtype: name for name, dtype in TORCH_DTYPE.items()}
NUMPY_NAME = {np.dtype(name): name for name in wire.ITEM_SIZE if name != "bfloat16"}

# NumPy 2 moved it.
_byte_bounds: Any = getattr(np.lib, "array_utils", np).byte_bounds

_Tensor, _ndarray = torch.Tensor, np.ndarray
# By id, as every type here is told by identity: one may say of itself that it equals any other.
_NUMPY_SCALARS = frozenset(map(id, np.sctypeDict.values()))
_FLAG = {False: "false", True: "true"}
_quoted = json.encoder.encode_basestring_ascii  # kept: a submission may replace it
_FILLING = 7  # written over an answer to see what else changes


class Payload:
    """The raw bytes of one frame while it is being written."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, data: bytes) -> str:
        """Where the bytes stand, as [offset, length], or null if the frame has no room for them."""
        if self.size + len(data) > wire.PAYLOAD_LIMIT:
            return "null"
        at = f"[{self.size},{len(data)}]"
        self.parts.append(data)
        self.size += len(data)
        return at

    def bytes(self) -> bytes:
        return b"".join(self.parts)


class Devices:
    """Where arguments can be put and answers read from; replaced where there is an accelerator.

    `place` moves a CPU tensor to a device, `host` gives the CPU tensor behind one. `exact` says
    whether an object is a plain tensor of this device set and nothing more.
    """

    def place(self, tensor: torch.Tensor, device: str) -> torch.Tensor:
        return tensor if device == "cpu" else tensor.to(device)

    def host(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def exact(self, value: object) -> bool:
        return type(value) is _Tensor

    def seed(self, seed: int) -> None:
        """Seeds PyTorch's own generators, which draw when none is passed."""
        torch.default_generator.manual_seed(seed)


class Cuda(Devices):
    """The devices of a worker that may use CUDA: its tensors are plain ones."""

    def seed(self, seed: int) -> None:
        super().seed(seed)
        torch.cuda.manual_seed_all(seed)


class Simulated(Devices):
    """The devices of a worker in which the simulated accelerator is installed."""

    def __init__(self, simdevice: Any) -> None:
        self.simdevice = simdevice

    def place(self, tensor: torch.Tensor, device: str) -> torch.Tensor:
        return tensor if device == "cpu" else self.simdevice.to_device(tensor, device)

    def host(self, tensor: torch.Tensor) -> torch.Tensor:
        return self.simdevice.host(tensor) if self.simdevice.is_simulated(tensor) else tensor

    def exact(self, value: object) -> bool:
        kind = type(value)
        return kind is _Tensor or kind is self.simdevice.Tensor

    def seed(self, seed: int) -> None:
        super().seed(seed)
        self.simdevice.manual_seed(seed)


class Decoder:
    """Builds the arguments of calls from the requests of one message."""

    def __init__(self, payload: memoryview, devices: Devices) -> None:
        self.payload = payload
        self.devices = devices
        self.shared: dict[tuple[int, str], torch.Generator] = {}

    def value(self, tagged: Sequence[Any]) -> Any:
        """The object a tagged value describes, made afresh."""
        tag = tagged[0]
        if tag == "none":
            return None
        if tag in ("bool", "str"):
            return tagged[1]
        if tag == "int":
            return int(tagged[1])
        if tag == "float":
            return float.fromhex(tagged[1])
        if tag == "list":
            return [self.value(item) for item in tagged[2]]
        if tag == "tuple":
            return tuple(self.value(item) for item in tagged[2])
        if tag == "dict":
            return {self.value(k): self.value(v) for k, v in tagged[2]}
        if tag == "array":
            return self.array(tagged[1])
        if tag == "generator":
            return self.generator(*tagged[1:])
        raise wire.WireError(f"unknown tag {tag!r} in a request")

    def generator(self, seed: int, shared: bool, device: str) -> torch.Generator:
        if shared and (seed, device) in self.shared:
            return self.shared[seed, device]
        made = torch.Generator(device=device).manual_seed(seed)
        if shared:
            self.shared[seed, device] = made
        return made

    def array(self, spec: dict[str, Any]) -> torch.Tensor | np.ndarray[Any, Any]:
        layout = spec["layout"]
        if spec["lib"] == "numpy":
            return _numpy_layout(self._ndarray(spec), layout)
        if layout == "read_only":
            with torch.inference_mode():
                return self.devices.place(self._tensor(spec), spec["device"])
        tensor = self._tensor(spec)
        if layout != "contiguous":
            tensor = _torch_layout(tensor, layout)
        return self.devices.place(tensor, spec["device"])

    # Copies both: each argument owns its memory, where its library's own allocator puts it.

    def _tensor(self, spec: dict[str, Any]) -> torch.Tensor:
        name, shape, (start, length) = spec["dtype"], spec["shape"], spec["at"]
        dtype, count = TORCH_DTYPE[name], length // wire.ITEM_SIZE[name]
        if not count:
            return torch.empty(shape, dtype=dtype)
        copy = torch.frombuffer(self.payload, dtype=dtype, count=count, offset=start).clone()
        return copy if len(shape) == 1 else copy.reshape(shape)

    def _ndarray(self, spec: dict[str, Any]) -> np.ndarray[Any, Any]:
        name, (start, length) = spec["dtype"], spec["at"]
        count = length // wire.ITEM_SIZE[name]
        if not count:
            return np.empty(spec["shape"], dtype=name)
        found = np.frombuffer(self.payload, dtype=name, count=count, offset=start)
        return found.copy().reshape(spec["shape"])


def _torch_layout(plain: torch.Tensor, layout: str) -> torch.Tensor:
    if layout == "column" and plain.dim() == 1:
        return torch.stack([torch.ones_like(plain), plain, torch.ones_like(plain)], dim=1)[:, 1]
    if layout == "column":
        axes = tuple(reversed(range(plain.dim())))
        return plain.permute(axes).contiguous().permute(axes)
    if layout == "every_second":
        wide = torch.ones(*plain.shape[:-1], 2 * plain.shape[-1], dtype=plain.dtype)
        wide[..., ::2] = plain
        return wide[..., ::2]
    if layout == "expanded":
        return plain[..., :1].clone().expand(plain.shape)
    return plain


def _numpy_layout(plain: np.ndarray[Any, Any], layout: str) -> np.ndarray[Any, Any]:
    if layout == "column" and plain.ndim == 1:
        return np.stack([np.ones_like(plain), plain, np.ones_like(plain)], axis=1)[:, 1]
    if layout == "column":
        return np.ascontiguousarray(plain.T).T
    if layout == "every_second":
        wide = np.ones((*plain.shape[:-1], 2 * plain.shape[-1]), dtype=plain.dtype)
        wide[..., ::2] = plain
        return wide[..., ::2]
    if layout == "expanded":
        # Stride 0 as broadcasting gives it, but writeable: NumPy marks its own views read-only.
        return np.lib.stride_tricks.as_strided(
            plain[..., :1].copy(),
            plain.shape,
            (*(step // max(plain.shape[-1], 1) for step in plain.strides[:-1]), 0),
        )
    if layout == "read_only":
        plain = plain.copy()
        plain.flags.writeable = False
    return plain


class Encoder:
    """Writes answers and arguments as tagged values, in JSON: their bytes into one frame's payload.

    As text at once. To build lists first and have them written takes twice as long, which is as
    much as most calls take.
    """

    def __init__(self, payload: Payload, devices: Devices) -> None:
        self.payload = payload
        self.devices = devices
        self.items = 0
        self.most = wire.PAYLOAD_LIMIT

    def answer(self, value: Any) -> str:
        """The tagged form of what was returned: arrays of at most ANSWER_LIMIT bytes in all."""
        self.most = min(self.payload.size + wire.ANSWER_LIMIT, wire.PAYLOAD_LIMIT)
        try:
            return self.value(value)
        finally:
            self.most = wire.PAYLOAD_LIMIT

    def value(self, value: Any, depth: int = 0) -> str:
        """The tagged form of any object; what has no exact form becomes ["other", type name]."""
        kind = type(value)
        if value is None:
            return '["none"]'
        if kind is bool:
            return f'["bool",{_FLAG[value]}]'
        if kind is int:
            # bit_length first: str() of a huge int takes quadratic time
            if value.bit_length() > 3 * wire.DIGITS_LIMIT:
                return other("int", f"an integer of {value.bit_length()} bits")
            return f'["int","{value}"]'
        if kind is float:
            return f'["float","{value.hex()}"]'
        if kind is str:
            if len(value) > wire.STRING_LIMIT:
                return other("str", f"{len(value)} characters")
            return f'["str",{_quoted(value)}]'
        if kind is tuple or kind is list or kind is dict:
            return self.container(value, kind.__name__, depth)
        if self.devices.exact(value):
            return self.tensor(value)
        if kind is _ndarray:
            return self.ndarray(value)
        if id(kind) in _NUMPY_SCALARS and value.dtype in NUMPY_NAME:
            number = value.item().hex() if value.dtype.kind == "f" else int(value)
            return f'["npscalar","{NUMPY_NAME[value.dtype]}","{number}"]'
        return other(type_name(kind))

    def container(self, value: Any, tag: str, depth: int) -> str:
        """A tuple, list or dict; without its items (their number told) if too large or deep."""
        if depth == 0:
            self.items = 0
        most = min(wire.ITEMS_LIMIT, wire.VALUE_LIMIT - self.items)
        if len(value) > most or depth >= wire.DEPTH_LIMIT:
            return f'["{tag}",{len(value)},[]]'
        self.items += len(value)
        if tag == "dict":
            items = [
                f"[{self.value(key, depth + 1)},{self.value(item, depth + 1)}]"
                for key, item in value.items()
            ]
        else:
            items = [self.value(item, depth + 1) for item in value]
        return f'["{tag}",{len(value)},[{",".join(items)}]]'

    def fits(self, shape: Sequence[int], size: int) -> bool:
        """Whether an array can be sent: its rank, its axes, and its bytes beside earlier ones."""
        room = self.most - self.payload.size
        return len(shape) <= wire.RANK_LIMIT and not wire.too_wide(shape) and size <= room

    def tensor(self, value: torch.Tensor) -> str:
        if value.is_nested:
            return other("torch.Tensor", "nested")
        name = TORCH_NAME.get(value.dtype)
        if name is None or value.layout is not torch.strided or value.is_meta:
            return other("torch.Tensor", f"{value.dtype}, {value.layout}, {value.device}")
        shape, grad = [*value.shape], value.requires_grad
        if not self.fits(shape, value.numel() * wire.ITEM_SIZE[name]):
            return other("torch.Tensor", f"shape {tuple(shape)}, too large to read")
        data = self.devices.host(value)
        if grad:
            data = data.detach()
        if not data.is_cpu:
            data = data.cpu()
        if data.is_neg():
            data = data.resolve_neg()
        raw = data.contiguous().view(torch.uint16) if name == "bfloat16" else data
        at = self.payload.add(raw.numpy().tobytes())
        return (
            f'["array",{{"lib":"torch","dtype":"{name}","shape":{shape},'
            f'"device":{_quoted(str(value.device))},"strides":{[*value.stride()]},'
            f'"grad":{_FLAG[grad]},"writeable":true,"inference":{_FLAG[value.is_inference()]},'
            f'"at":{at}}}]'
        )

    def ndarray(self, value: np.ndarray[Any, Any]) -> str:
        name = NUMPY_NAME.get(value.dtype)
        if name is None:
            return other("numpy.ndarray", f"dtype {value.dtype}")
        if not self.fits(value.shape, value.nbytes):
            return other("numpy.ndarray", f"shape {value.shape}, too large to read")
        at = self.payload.add(value.tobytes())
        strides = [step // value.itemsize for step in value.strides]
        return (
            f'["array",{{"lib":"numpy","dtype":"{name}","shape":{[*value.shape]},"device":"cpu",'
            f'"strides":{strides},"grad":false,"writeable":{_FLAG[value.flags.writeable]},'
            f'"inference":false,"at":{at}}}]'
        )

    def state(self, generator: torch.Generator) -> str:
        """Where the generator's state stands in the payload."""
        return self.payload.add(generator.get_state().numpy().tobytes())


def other(name: str, detail: str = "") -> str:
    """What has no exact form, by the name of its type."""
    return f'["other",{_quoted(name)},{_quoted(detail[: wire.DETAIL_LIMIT])}]'


def type_name(kind: type) -> str:
    """A type's name as its owner would write it, whatever the type says about itself."""
    asked = (type.__getattribute__(kind, what) for what in ("__module__", "__qualname__"))
    module, name = (part if type(part) is str else "?" for part in asked)
    full = name if module in ("builtins", "submission") else f"{module}.{name}"
    return full[: wire.NAME_LIMIT]


def fingerprint(value: Any, devices: Devices, depth: int = 0) -> Any:
    """A hashable stand-in that two answers share only if their encodings are the same.

    None where the value has no such stand-in: then it is encoded every time.
    """
    kind = type(value)
    if kind is int or kind is bool or value is None or kind is str:
        return (kind, value)
    if kind is float:
        return (kind, value.hex())
    if kind is tuple or kind is list:
        if len(value) > wire.ITEMS_LIMIT or depth >= wire.DEPTH_LIMIT:
            return None
        parts = tuple(fingerprint(item, devices, depth + 1) for item in value)
        return None if None in parts else (kind, parts)
    if devices.exact(value) and value.layout is torch.strided and not value.is_meta:
        if value.device.type != "cpu" or value.dtype not in TORCH_NAME or value.is_nested:
            return None
        if value.dtype is torch.bfloat16 or value.is_neg():  # whose bytes NumPy does not give
            return None
        if value.requires_grad or value.numel() > wire.ITEMS_LIMIT:
            return None
        # strides and the inference flag are not part of what an answer is compared by
        return (kind, value.dtype, value.shape, value.numpy().tobytes())
    return None


def arrays_in(value: Any, depth: int = 0) -> list[Any]:
    """Every exact or derived tensor and ndarray inside an answer."""
    if isinstance(value, (_Tensor, _ndarray)):
        return [value]
    kind = type(value)
    if depth < wire.DEPTH_LIMIT and (kind is tuple or kind is list or kind is dict):
        items = list(value.values() if kind is dict else value)[: wire.ITEMS_LIMIT]
        return [found for item in items for found in arrays_in(item, depth + 1)]
    return []


def memory(array: Any, devices: Devices) -> tuple[int, int]:
    """First and last-but-one address of the storage an array is a view of; (0, 0) if empty."""
    if isinstance(array, np.ndarray):
        low, high = _byte_bounds(array)
        return (low, high) if array.size else (0, 0)
    host = devices.host(array)
    if host.layout is not torch.strided or host.is_meta:
        return (0, 0)
    storage = host.untyped_storage()
    return storage.data_ptr(), storage.data_ptr() + storage.nbytes()


def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def refill(before: list[Any], fresh: list[Any]) -> list[Any]:
    """The objects of an earlier call with the values of this one, where they can hold them."""
    if len(before) != len(fresh):
        return fresh
    return [_refilled(old, new) for old, new in zip(before, fresh, strict=True)]


def _refilled(old: Any, new: Any) -> Any:
    if type(old) is not type(new) or not isinstance(new, (_Tensor, _ndarray)):
        return new
    if (old.dtype, old.shape) != (new.dtype, new.shape):
        return new
    try:
        if isinstance(new, np.ndarray):
            old[...] = new
        else:
            old.copy_(new)
    except (RuntimeError, ValueError):
        return new  # read-only, or expanded
    return old


def overwrite(array: Any, devices: Devices) -> Callable[[], None]:
    """Fills an answer's array with a number of ours, if it can be written to at all.

    What is returned puts back what was there: a submission may have kept it, and may.
    """
    try:
        with torch.inference_mode():
            if isinstance(array, np.ndarray):
                was: Any = array.copy()
                array[...] = _FILLING
                return partial(np.copyto, array, was)
            host = _once(devices.host(array))
            was = host.clone()
            host.fill_(_FILLING)
            return torch.inference_mode()(partial(host.copy_, was))
    except (RuntimeError, ValueError, TypeError, MemoryError):
        return _nothing  # read-only, say: sharing memory is then told by its address


def _once(tensor: torch.Tensor) -> torch.Tensor:
    """A view with each of its numbers once: an expanded axis has one, however long it is."""
    for axis, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if size > 1 and stride == 0:
            tensor = tensor.narrow(axis, 0, 1)
    return tensor


def _nothing() -> None: ...


# Normal numbers: one that was kept back for the next call (`gauss_next`) shows as well.
_numpy_draw, _python_draw = np.random.standard_normal, random.gauss
_numpy_plain = np.random.random_sample


class Watch:
    """What the global generators give next, to tell those that a call has moved.

    PyTorch's is known by its state. Reading those of NumPy and Python takes longer than most calls:
    they are known by their next number, where `seed` says how to put them back.
    """

    def __init__(self, seed: int | None) -> None:
        self._draws = seed is not None
        if seed is not None:
            np.random.seed(seed)
            random.seed(seed)
        self._before = self._look()
        if seed is not None:
            np.random.seed(seed)
            random.seed(seed)

    def moved(self) -> list[str]:
        """The generators that have moved. With a seed this moves NumPy's and Python's."""
        now = self._look()
        return [name for name, seen in self._before.items() if now[name] != seen]

    def _look(self) -> dict[str, Any]:
        return {
            "torch": torch.default_generator.get_state().numpy().tobytes(),
            # Beside a plain number, for normal ones are drawn by rejection: what a call has taken
            # may be what would have been rejected.
            "numpy": (_numpy_plain(), _numpy_draw()) if self._draws else _numpy_state(),
            "random": _python_draw() if self._draws else random.getstate(),
        }


def _numpy_state() -> tuple[Any, ...]:
    state: Any = np.random.get_state(legacy=True)
    name, keys, *rest = state
    return (name, keys.tobytes(), *rest)
