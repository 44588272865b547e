"""A simulated accelerator: tensors on the device `sim:0`, computed on the CPU.

Device mistakes cannot show on plain CPU tensors, so a laptop cannot tell right from wrong there.
After `install()` this process has a second device that keeps CUDA's rules: results stay where their
inputs are, mixing devices raises CUDA's errors, NumPy cannot read the memory, generators belong to
one device. It simulates placement only: not speed, rounding, streams or memory.

How: `sim` is PyTorch's spare device type (PrivateUse1) under a name of its own. A `sim` tensor is
an instance of `Tensor` below, a shell without data around a CPU tensor, its host.
`__torch_dispatch__` sees every operation that touches a shell, checks the devices, runs the
operation on the hosts and puts the answer into a shell. Factories (`torch.zeros(3, device="sim")`)
have no shell among their arguments and arrive through the PrivateUse1 fallback.

Nothing of torch is changed before `install()` but what `prepare()` says; afterwards the change
lasts as long as the process.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple, NoReturn, cast

import torch
from torch.overrides import TorchFunctionMode

__all__ = ["available", "host", "install", "is_simulated", "manual_seed", "prepare", "to_device"]

NAME = "sim"

# Which mixtures CUDA takes. The lists follow native_functions.yaml of torch 2.13: an operation with
# `device_check: NoCheck` leaves the test to its TensorIterator, which lets one zero-dimensional CPU
# tensor pass as an input; all others compare the devices of all their arguments first. Note who is
# missing: clamp with tensor bounds, logaddexp, nextafter, gcd, lcm and equal do compare.
TAKES_CPU_SCALAR = frozenset(
    """add sub rsub mul div true_divide floor_divide fmod remainder pow atan2 hypot copysign xlogy
    eq ne lt le gt ge maximum minimum fmax fmin heaviside lerp addcmul dist mse_loss smooth_l1_loss
    logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
    bitwise_left_shift bitwise_right_shift __lshift__ __rshift__ __ilshift__ __irshift__
    special_xlog1py special_zeta""".split()
)
# Arguments that may stay on the CPU whatever their shape (the operation copies them over) ...
MAY_BE_ELSEWHERE = {
    "copy": {"self", "src"},
    "_to_copy": {"self"},
    "bernoulli": {"p"},
    "slice_scatter": {"src"},
    "select_scatter": {"src"},
    "diagonal_scatter": {"src"},
    "as_strided_scatter": {"src"},
    "is_same_size": {"self", "other"},
    "index": {"indices"},
    "index_put": {"indices"},
    "_index_put_impl": {"indices"},
    "_unsafe_index": {"indices"},
    "_unsafe_index_put": {"indices"},
}
# ... and those that may if they have no dimension.
MAY_BE_CPU_SCALAR = {
    "where": {"condition", "self", "other"},
    "fill": {"value"},
    "masked_fill": {"value"},
    "index_fill": {"value"},
    "index_put": {"values"},
    "_index_put_impl": {"values"},
    "_unsafe_index_put": {"values"},
}

# While C++ turns Python data into a tensor (torch.tensor, x[[0, 2]]) dispatch to Python is off, and
# a fallback that meets a shell there fails an internal assertion; a registration by name works.
BY_NAME = ("_copy_from", "_local_scalar_dense")

# The private parts of torch this module stands on; all are in torch 2.13.
NEEDED = (
    (getattr(torch.utils, "backend_registration", None), "_setup_privateuseone_for_python_backend"),
    (torch.library.Library, "fallback"),
    (torch.Tensor, "_make_wrapper_subclass"),
    (torch._C, "_DisableTorchDispatch"),
    (torch._C, "_construct_storage_from_data_pointer"),
    (torch._C, "_get_privateuse1_backend_name"),
)

# The shells have no memory, but `as_strided_` (see `_mirror`) checks the claimed size of their
# storage. An absurdly large claim costs nothing and lets every later resize pass.
CLAIMED_BYTES = 1 << 60


# --- public ---------------------------------------------------------------------------------------


def available() -> str | None:
    """None if the installed torch can carry the simulation, else a sentence that says why not."""
    version = torch.__version__
    for owner, name in NEEDED:
        if not hasattr(owner, name):
            return f"torch {version} lacks {name}, which a device written in Python needs."
    taken = torch._C._get_privateuse1_backend_name()
    if taken not in ("privateuseone", NAME):
        return f"the spare device type of torch is already taken by the backend {taken!r}."
    return None


def prepare() -> None:
    """Register what `install` needs with torch's dispatcher; a second call does nothing.

    It changes nothing for tensors on other devices. It is apart from `install` because it writes
    into the dispatch table of every operation: done once before processes are forked, its 30 MB of
    memory pages are shared by all of them instead of copied by each. Where the simulation is not
    available it does nothing.
    """
    if _keep or available() is not None:
        return
    library = torch.library.Library("_", "IMPL")
    library.fallback(_fallback, "PrivateUse1")
    aten = torch.library.Library("aten", "IMPL")
    for name in BY_NAME:
        aten.impl(name, functools.partial(_run_named, name), "PrivateUse1")
    _keep.extend((library, aten))  # a Library that is collected takes its registrations along


def install() -> None:
    """Add the device to this process; a second call does nothing.

    Raises `RuntimeError` with the sentence of `available()` where the installed torch cannot.
    """
    global _installed
    if _installed:
        return
    reason = available()
    if reason:
        raise RuntimeError(f"the simulated accelerator is not available: {reason}")
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    prepare()
    _setup_privateuseone_for_python_backend(NAME, backend_module=_DeviceModule(NAME))
    _default.seed()
    # torch.Generator is a C type whose device="sim" would ask for a generator written in C++.
    torch.Generator = _Generator
    mode = _Functions()
    mode.__enter__()  # never left: the device exists until the process ends
    _keep.append(mode)
    _installed = True
    _first_dispatch()


def to_device(tensor: torch.Tensor, device: str | torch.device = "sim:0") -> torch.Tensor:
    """A tensor on `device` around the CPU tensor `tensor`, which is shared and not copied.

    Shape, strides, storage offset, `requires_grad` and inference flag are those of `tensor`.
    Raises `RuntimeError` before `install()`, `ValueError` for another device than `sim:0` or a
    tensor that is not on the CPU.
    """
    if not _installed:
        raise RuntimeError("the simulated accelerator is not installed: call install() first")
    if is_simulated(tensor):
        return tensor
    if tensor.device.type != "cpu":
        raise ValueError(f"to_device takes a CPU tensor, got one on {tensor.device}")
    if not _is_sim(device):
        raise ValueError(f"to_device makes tensors on {NAME}:0, not on {device}")
    plain = tensor.detach() if tensor.requires_grad else tensor
    shell = _wrap(plain)
    return shell.requires_grad_() if tensor.requires_grad else shell


def host(tensor: torch.Tensor) -> torch.Tensor:
    """The CPU tensor that holds the values of the simulated `tensor`: the same storage, no copy.

    Raises `TypeError` for anything else.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"host takes a tensor on {NAME}:0, got {type(tensor).__name__}")
    return tensor._host


def manual_seed(seed: int) -> None:
    """Seed the device's own stream, which is drawn from when no generator is given."""
    _default.manual_seed(seed)


def is_simulated(value: object) -> bool:
    """Whether `value` is a tensor on the simulated device."""
    return isinstance(value, Tensor)


def _first_dispatch() -> None:
    """Let torch do now what it does once, at its first dispatch to a tensor subclass.

    It imports torch.distributed.tensor to know the class DTensor, and with it sympy and 500 other
    modules: half a second in every worker. It gets a stand-in, which no learner's code will miss.
    """
    name = "torch.distributed.tensor"
    missing = name not in sys.modules
    if missing:
        module = ModuleType(name)
        vars(module)["DTensor"] = type("DTensor", (torch.Tensor,), {})
        sys.modules[name] = module
    try:
        to_device(torch.zeros(())).neg()
    finally:
        if missing:
            del sys.modules[name]


# --- the tensor -----------------------------------------------------------------------------------


class Tensor(torch.Tensor):
    """A tensor on the simulated device, named like its base so that what a learner prints does too.

    Overridden is what torch answers from a tensor's memory (a shell has none), and what it
    does only for the exact type `torch.Tensor`.
    """

    _host: torch.Tensor

    # Without this torch.Tensor.__torch_function__ would convert CPU results to this class.
    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return _run(func, args, kwargs or {})

    def numpy(self, *, force: bool = False) -> Any:
        return self.detach().cpu().numpy(force=True) if force else _no_numpy(self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        _no_numpy(self)

    def __dlpack__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise BufferError(f"Unsupported device type for DLPack: {self.device}")

    def tolist(self) -> Any:
        return self._host.tolist()

    def data_ptr(self) -> int:
        return self._host.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        # Shells of one host have storages of their own, so that identity shows only in the host's.
        memory = self._host.untyped_storage()
        storage = torch._C._construct_storage_from_data_pointer(
            memory.data_ptr(), self.device, memory.nbytes()
        )
        storage._memory = memory  # it does not own the pointer: keep the owner alive
        return cast(torch.UntypedStorage, storage)

    @property
    def data(self) -> torch.Tensor:
        return super().data

    @data.setter
    def data(self, value: torch.Tensor) -> None:
        # The base swaps the metadata only; the host would stay the old one.
        if not isinstance(value, Tensor) or value.dtype != self.dtype:
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                "incompatible tensor type."
            )
        self._host = value._host
        _mirror(self)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        text = torch._tensor_str._str(self, tensor_contents=tensor_contents)
        return "tensor(" + text.removeprefix("Tensor(") if text.startswith("Tensor(") else text

    def __format__(self, spec: str) -> str:
        if self.dim() == 0:
            return cast(str, self.detach().item().__format__(spec))
        return object.__format__(self, spec)

    def __copy__(self) -> torch.Tensor:
        return self.detach().requires_grad_(self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> torch.Tensor:
        if not self.is_leaf:
            return super().__deepcopy__(memo)  # raises: only leaves can be copied
        if id(self) not in memo:
            memo[id(self)] = self.detach().clone().requires_grad_(self.requires_grad)
        return cast(torch.Tensor, memo[id(self)])

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"a tensor on {self.device} cannot be pickled; use Tensor.cpu() first")


def _no_numpy(tensor: torch.Tensor) -> NoReturn:
    raise TypeError(
        f"can't convert {tensor.device} device type tensor to numpy. Use Tensor.cpu() to copy the "
        "tensor to host memory first."
    )


def _wrap(plain: torch.Tensor) -> Tensor:
    """A shell around `plain`.

    Strides and offset must be the host's: C++ code above the dispatch computes views from the
    shell's (`row = t[1]` becomes as_strided with an offset), and a wrong one reads other elements.
    """
    if plain.layout is not torch.strided:
        raise NotImplementedError(f"the simulated device has no {plain.layout} tensors")
    if plain.is_conj() or plain.is_neg():
        # Lazy bits are resolved above the dispatch to Python, by a shell that would not have them.
        plain = plain.resolve_conj().resolve_neg()
    make = functools.partial(
        torch.Tensor._make_wrapper_subclass,
        Tensor,
        plain.size(),
        strides=plain.stride(),
        storage_offset=plain.storage_offset(),
        dtype=plain.dtype,
        device=torch.device(NAME, 0),
        storage_size=CLAIMED_BYTES,
    )
    if plain.is_inference() == torch.is_inference_mode_enabled():
        shell = cast(Tensor, make())
    else:  # a view is of the kind of its base, whatever the mode is now
        with torch.inference_mode(plain.is_inference()):
            shell = cast(Tensor, make())
    shell._host = plain
    return shell


def _mirror(shell: Tensor) -> None:
    """Give a shell its host's shape, strides and offset after an operation that changed them."""
    plain = shell._host
    geometry = (plain.size(), plain.stride(), plain.storage_offset())
    if geometry != (shell.size(), shell.stride(), shell.storage_offset()):
        with torch._C._DisableTorchDispatch():
            torch.ops.aten.as_strided_.default(shell, *geometry)


# --- running an operation -------------------------------------------------------------------------


class _Schema(NamedTuple):
    """What `_run` has to know of an operation, read once from its schema."""

    name: str
    parameters: tuple[str, ...]
    written: frozenset[str]
    generator: bool
    seeded: bool
    composite: bool


@functools.cache
def _schema(func: Any) -> _Schema:
    arguments = func._schema.arguments
    return _Schema(
        name=func._schema.name.removeprefix("aten::"),
        parameters=tuple(a.name for a in arguments),
        written=frozenset(a.name for a in arguments if a.alias_info and a.alias_info.is_write),
        generator=any(a.name == "generator" for a in arguments),
        seeded=torch.Tag.nondeterministic_seeded in func.tags,
        composite=torch._C._dispatch_has_kernel_for_dispatch_key(
            func.name(), "CompositeImplicitAutograd"
        ),
    )


def _fallback(func: Any, *args: Any, **kwargs: Any) -> Any:
    return _run(func, args, kwargs)


def _run_named(name: str, *args: Any, **kwargs: Any) -> Any:
    if name == "_copy_from":
        source, destination, *_ = args
        _unwrap(destination, {}).copy_(_unwrap(source, {}))
        return destination
    return _run(getattr(torch.ops.aten, name).default, args, kwargs)


def _run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    schema = _schema(func)
    if schema.composite:
        # Only inference mode, which switches autograd off, lets these through undecomposed.
        return func.decompose(*args, **kwargs)
    named = [*zip(schema.parameters, args, strict=False), *kwargs.items()]
    operands = [(name, tensor) for name, value in named for tensor in _tensors(value)]
    _check_devices(schema, operands)

    originals: dict[int, torch.Tensor] = {}
    plain_args = _unwrap(args, originals)
    plain_kwargs = {name: _unwrap(value, originals) for name, value in kwargs.items()}
    target = kwargs.get("device")
    wraps = any(isinstance(tensor, Tensor) for _, tensor in operands)
    if target is not None:
        wraps = _is_sim(target)
        if wraps:
            plain_kwargs["device"] = torch.device("cpu")
    elif schema.name in ("copy_", "copy"):
        wraps = isinstance(args[0], Tensor)
    if schema.generator and wraps:
        place = schema.parameters.index("generator")
        if place < len(plain_args):
            plain_args = (
                *plain_args[:place],
                _own_generator(args[place]),
                *plain_args[place + 1 :],
            )
        else:
            plain_kwargs["generator"] = _own_generator(kwargs.get("generator"))

    if schema.seeded and not schema.generator and wraps:
        with _default_stream():
            result = func(*plain_args, **plain_kwargs)
    else:
        result = func(*plain_args, **plain_kwargs)

    for name, tensor in operands:
        if name in schema.written and isinstance(tensor, Tensor):
            _mirror(tensor)
    return _rewrap(result, originals) if wraps else result


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _unwrap(value: Any, originals: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        plain = value._host if isinstance(value, Tensor) else value
        originals[id(plain)] = value
        return plain
    if isinstance(value, (list, tuple)):
        return type(value)([_unwrap(item, originals) for item in value])
    return value


def _rewrap(value: Any, originals: dict[int, torch.Tensor]) -> Any:
    """Put results into shells; one that is an argument (in place, `out=`) keeps its shell."""
    if isinstance(value, torch.Tensor):
        return originals[id(value)] if id(value) in originals else _wrap(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_rewrap(item, originals) for item in value])
    return value


# --- devices --------------------------------------------------------------------------------------


def _is_sim(device: Any) -> bool:
    place = torch.device(device)
    if place.type != NAME:
        return False
    if place.index not in (None, 0):
        raise RuntimeError(f"{NAME.upper()} error: invalid device ordinal ({place})")
    return True


def _check_devices(schema: _Schema, operands: list[tuple[str, torch.Tensor]]) -> None:
    """Raise what CUDA raises for a mixture of devices that it does not take."""
    if all(isinstance(tensor, Tensor) for _, tensor in operands):
        return
    name = schema.name
    stem = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    elsewhere: set[str] = MAY_BE_ELSEWHERE.get(stem, set())
    scalars: set[str] = MAY_BE_CPU_SCALAR.get(stem, set())
    iterated = stem in TAKES_CPU_SCALAR
    lenient = iterated or bool(scalars) or bool(elsewhere)
    first = operands[0][1].device
    indexed_by_sim = any(p == "indices" and isinstance(t, Tensor) for p, t in operands)
    if indexed_by_sim and first.type != NAME:
        raise RuntimeError(
            f"indices should be either on {first} or on the same device as the indexed tensor "
            f"({first})"
        )
    # Kernels that look for themselves take the accelerator's side, the others the first argument's.
    common = torch.device(NAME, 0) if lenient else first
    seen_scalar = False
    for parameter, tensor in operands:
        if tensor.device == common or parameter in elsewhere:
            continue
        if tensor.dim() == 0 and tensor.device.type == "cpu" and parameter not in schema.written:
            if parameter in scalars:
                continue
            if iterated and not seen_scalar:
                seen_scalar = True
                continue
            if iterated:
                raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
        if stem == "masked_fill" and parameter == "mask":
            raise RuntimeError(
                "expected self and mask to be on the same device, but got mask on "
                f"{tensor.device} and self on {common}"
            )
        if lenient:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{common} and {tensor.device}!"
            )
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but got {parameter} is on "
            f"{tensor.device}, different from other tensors on {common} (when checking argument in "
            f"method wrapper_{NAME.upper()}_{name})"
        )


# --- random numbers -------------------------------------------------------------------------------


class _SimGenerator(torch._C.Generator):
    """A generator of the device, with the CPU's algorithm: a seed gives the CPU's numbers."""

    @property
    def device(self) -> torch.device:
        return torch.device(NAME, 0)


_CpuGenerator: Any = torch._C.Generator
_CpuGeneratorType: Any = type(_CpuGenerator)


class _GeneratorType(_CpuGeneratorType):
    def __call__(cls, device: Any = "cpu") -> torch._C.Generator:
        return _SimGenerator() if _is_sim(device) else _CpuGenerator(device=device)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _CpuGenerator)


class _Generator(_CpuGenerator, metaclass=_GeneratorType):
    """What `torch.Generator` is after `install()`: the same, and `device="sim"` works."""


def _own_generator(given: Any) -> Any:
    """The generator an operation on the device draws from; refuses one of another device.

    The object that arrives here may be another Python wrapper of the C++ generator than the one the
    learner passed, so `_Functions` notes which generator is in use.
    """
    if given is None:
        return _default
    if _drawing is None:
        raise RuntimeError(
            f"Expected a '{NAME}' device type for generator but found '{given.device.type}'"
        )
    return given


@contextmanager
def _default_stream() -> Iterator[None]:
    """Let an operation that takes no generator (`rand_like`, dropout) draw from the device's."""
    cpu = torch.default_generator
    saved = cpu.get_state()
    cpu.set_state(_default.get_state())
    try:
        yield
    finally:
        _default.set_state(cpu.get_state())
        cpu.set_state(saved)


class _DeviceModule(ModuleType):
    """`torch.sim`, the part of `torch.cuda` that device-agnostic code asks for."""

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def synchronize(self, device: Any = None) -> None:
        pass

    def empty_cache(self) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        _default.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:  # torch.manual_seed calls it
        _default.manual_seed(seed)

    def initial_seed(self) -> int:
        return _default.initial_seed()

    def get_rng_state(self, device: Any = None) -> torch.Tensor:
        return _default.get_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        _default.set_state(state)


# --- calls that must be seen before they reach C++ ------------------------------------------------


class _Functions(TorchFunctionMode):
    """Notes the generator in use, and catches `torch.Tensor.tolist(t)` and its like."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        handler = _HANDLERS.get(func)
        if handler is not None:
            return handler(*args, **kwargs)
        for value in (kwargs.get("generator"), *args):
            if type(value) is _SimGenerator:
                return _draw(func, args, kwargs, value)
        return func(*args, **kwargs)


def _draw(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], generator: Any) -> Any:
    """Call `func` with a generator of the device; a CPU result means the devices differ."""
    global _drawing
    state = generator.get_state()
    outer, _drawing = _drawing, generator
    try:
        result = func(*args, **kwargs)
    finally:
        _drawing = outer
    if isinstance(result, torch.Tensor) and not isinstance(result, Tensor):
        generator.set_state(state)
        raise RuntimeError(
            f"Expected a '{result.device.type}' device type for generator but found '{NAME}'"
        )
    return result


def _method(name: str) -> Callable[..., Any]:
    """`torch.Tensor.name(t)` called as a function: what `t.name()` does, for either class."""
    base = getattr(torch.Tensor, name)
    own = getattr(Tensor, name)

    def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return (own if isinstance(self, Tensor) else base)(self, *args, **kwargs)

    return call


_HANDLERS: dict[Any, Callable[..., Any]] = {
    torch.Tensor.numpy: _method("numpy"),
    torch.Tensor.tolist: _method("tolist"),
    torch.Tensor.data_ptr: _method("data_ptr"),
    torch.Tensor.untyped_storage: _method("untyped_storage"),
}

_installed = False
_keep: list[Any] = []
_default = torch._C.Generator()  # the device's own stream, drawn from when no generator is given
_drawing: Any = None
