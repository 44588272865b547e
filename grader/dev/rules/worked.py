"""A worked example as written in code, read and not run: `print(f(torch.tensor([1, 2]), 3))`.

Numbers, lists, tuples, dicts, arrays of literals, seeded generators and names that were given such
a value are read; anything else is Unreadable.
"""

from __future__ import annotations

import ast
import doctest
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# How far a printed number may be from a whole one: both libraries print four digits or more.
PRINTED = 5.1e-5

_ARRAYS = ("tensor", "array", "asarray", "as_tensor")
_NUMBERS = {"nan": math.nan, "inf": math.inf}
_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class Unreadable(Exception):
    """An expression whose value does not stand there."""


@dataclass(frozen=True)
class Numbers:
    """An array of any library and dtype: nested lists of numbers."""

    values: Any


@dataclass(frozen=True)
class Seed:
    """A generator that was seeded and not used yet."""

    seed: Any


@dataclass(frozen=True)
class Worked:
    """One example. args: by parameter. fault: why it cannot be read, or None."""

    line: int
    args: Mapping[str, Any]
    returns: Any
    fault: str | None = None


def of_problem(value: Any) -> Any:
    """A value of `problem.toml` as one read from code."""
    if type(value) is list:
        return [of_problem(entry) for entry in value]
    if type(value) is not dict:
        return value
    if "array" in value:
        return Numbers(value["array"])
    if "seed" in value:
        return Seed(value["seed"])
    if "tuple" in value:
        return tuple(of_problem(entry) for entry in value["tuple"])
    return {key: of_problem(entry) for key, entry in value.items()}


def same(value: Any, other: Any, within: float = 0.0) -> bool:
    """Whether two values hold the same numbers, arrays in the same shape."""
    if isinstance(value, Numbers) and isinstance(other, Numbers):
        return same(value.values, other.values, within)
    if isinstance(value, Seed) and isinstance(other, Seed):
        return bool(value.seed == other.seed)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(value, other, strict=False)
        return len(value) == len(other) and all(same(a, b, within) for a, b in pairs)
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[k], other[k], within) for k in value)
    if isinstance(value, int | float) and isinstance(other, int | float):
        both_nan = math.isnan(value) and math.isnan(other)
        return both_nan or math.isclose(value, other, rel_tol=2 * within, abs_tol=within)
    return type(value) is type(other) and bool(value == other)


def as_toml(value: Any) -> str:
    """A value as `problem.toml` writes it."""
    match value:
        case Numbers(values):
            return f"{{ array = {as_toml(values)} }}"
        case Seed(seed):
            return f"{{ seed = {seed} }}"
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(as_toml(entry) for entry in value)}]"
        case tuple():
            return f"{{ tuple = {as_toml(list(value))} }}"
        case dict():
            pairs = ", ".join(f"{key} = {as_toml(entry)}" for key, entry in value.items())
            return f"{{ {pairs} }}"
        case str():
            return f'"{value}"'
    return str(value)


def in_script(source: str, line: int, entry: str, parameters: Sequence[str]) -> Iterator[Worked]:
    """Each `print(entry(…))` with the comment that says what it prints; `line` is the source's."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return  # told by the rules of the pages
    reader = _Reader(entry, parameters)
    for node in tree.body:
        call = reader.take(node, printed=True)
        printed = _comment_after(source.splitlines(), node)
        if call is not None and printed:
            yield reader.worked(call, printed, line + node.lineno - 1)


def in_session(source: str, line: int, entry: str, parameters: Sequence[str]) -> Iterator[Worked]:
    """Each `>>> entry(…)` with the answer below it; raises Unreadable for a broken session."""
    try:
        told = doctest.DocTestParser().get_examples(source)
    except ValueError as error:
        raise Unreadable(str(error)) from None
    reader = _Reader(entry, parameters)
    for example in told:
        try:
            nodes = ast.parse(example.source).body
        except SyntaxError as error:
            raise Unreadable(f"`{example.source.strip()}` is not Python: {error.msg}") from None
        for node in nodes:
            call = reader.take(node, printed=False)
            if call is not None and example.want.strip():
                yield reader.worked(call, example.want, line + example.lineno)


def _comment_after(lines: Sequence[str], node: ast.stmt) -> str:
    """The comment at the end of a statement, or on the lines right below it."""
    last = node.end_lineno or node.lineno
    rest = lines[last - 1].encode()[node.end_col_offset or 0 :].decode().strip()
    told = [rest] if rest.startswith("#") else []
    for below in lines[last:] if not told else []:
        if not below.startswith("#"):
            break
        told.append(below)
    return "\n".join(comment.lstrip("# ") for comment in told)


class _Reader:
    """Goes through statements and keeps what the names stand for."""

    def __init__(self, entry: str, parameters: Sequence[str]) -> None:
        self.entry, self.parameters = entry, parameters
        self.names: dict[str, Any] = dict(_NUMBERS)

    def take(self, node: ast.stmt, printed: bool) -> ast.Call | None:
        """Keeps an assignment; returns the call of the entry where the statement is one."""
        match node:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Call() as call])):
                return call if self._is_entry(call) else None
            case ast.Expr(value=ast.Call() as call) if not printed:
                return call if self._is_entry(call) else None
        return None

    def worked(self, call: ast.Call, printed: str, line: int) -> Worked:
        try:
            args = dict(zip(self.parameters, map(self.value, call.args), strict=False))
            args |= {str(given.arg): self.value(given.value) for given in call.keywords}
        except Unreadable as error:
            return Worked(line, {}, None, f"{error} is no literal")
        try:
            return Worked(line, args, self.value(ast.parse(printed.strip(), mode="eval").body))
        except (SyntaxError, Unreadable):
            return Worked(line, args, None, f"`{' '.join(printed.split())}` is no answer to read")

    def value(self, node: ast.expr) -> Any:
        """What an expression stands for; raises Unreadable."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=entries):
                return [self.value(entry) for entry in entries]
            case ast.Tuple(elts=entries):
                return tuple(self.value(entry) for entry in entries)
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {self.value(k): self.value(v) for k, v in pairs if k is not None}
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand)
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
                return self._calculated(type(operation), left, right)
            case ast.Call(args=[argument]):
                return self._called(node, argument)
        raise Unreadable(f"`{ast.unparse(node)}`")

    def _called(self, call: ast.Call, argument: ast.expr) -> Any:
        name = ast.unparse(call.func)
        if name.rpartition(".")[2] in _ARRAYS:
            value = self.value(argument)
            return value if isinstance(value, Numbers) else Numbers(value)
        if name.endswith("Generator().manual_seed"):
            return Seed(self._number(argument))
        raise Unreadable(f"`{ast.unparse(call)}`")

    def _number(self, node: ast.expr) -> Any:
        value = self.value(node)
        if type(value) not in (int, float):
            raise Unreadable(f"`{ast.unparse(node)}`")
        return value

    def _calculated(self, operation: type, left: ast.expr, right: ast.expr) -> Any:
        a, b = self._number(left), self._number(right)
        # A power of a page is small; `9**9**9` would be calculated for ever.
        if operation is ast.Pow and abs(b) > 2000:
            raise Unreadable(f"`{ast.unparse(right)}` as an exponent")
        try:
            return _OPERATIONS[operation](a, b)
        except ArithmeticError:
            raise Unreadable(f"`{ast.unparse(left)}` and `{ast.unparse(right)}`") from None

    def _assign(self, target: ast.expr, node: ast.expr) -> None:
        names = [target] if isinstance(target, ast.Name) else getattr(target, "elts", [])
        try:
            value = self.value(node)
            values = [value] if isinstance(target, ast.Name) else list(value)
        except (Unreadable, TypeError):
            values = []
        for name in names:
            if isinstance(name, ast.Name):
                self.names.pop(name.id, None)
        for name, one in zip(names, values, strict=False):
            if isinstance(name, ast.Name):
                self.names[name.id] = one

    def _is_entry(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id == self.entry
