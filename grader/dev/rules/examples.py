"""Worked examples: what `problem.toml` grades stands in the statement, and the other way round.

An example stands in the statement where its numbers do, in order, in one block of it: a table row,
a list item, a paragraph or a block of code. Examples of the statement are `print(entry(…))` with
the answer in a comment, the rows of a table headed by parameters, and `>>>` in a stub's docstring.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.dev.rules import code
from grader.dev.rules.blocks import Block, blocks
from grader.dev.rules.findings import Findings
from grader.dev.rules.toml_place import line_of
from grader.dev.rules.worked import (
    PRINTED,
    Numbers,
    Seed,
    Unreadable,
    Worked,
    as_toml,
    in_script,
    in_session,
    of_problem,
    same,
)
from grader.problem import Example, Problem

_TOKEN = re.compile(
    r"\"(?P<double>[^\"\n]*)\""
    r"|(?<!\w)'(?P<single>[^'\n]*)'(?!\w)"
    r"|(?<!\w)(?P<word>True|False|true|false)(?!\w)"
    r"|(?<![\w.^_])(?<![\^_]\{)(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?![\w^])"
)
_LIST_NUMBER = re.compile(r"\A\s*\d+[.)] ")
_ROUNDED = 3  # a number of the page with so many decimals or more may be a rounded one


def rules(findings: Findings, problem: Problem) -> None:
    statement = problem.folder / "statement.md"
    try:
        text = statement.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""  # told by the rules of the pages
    cut = list(blocks(text))
    found = [worked for block in cut for worked in _in_block(findings, problem, statement, block)]
    if text.strip():
        _each_is_told(findings, problem, cut, found)
        _each_row_is_graded(findings, problem, statement, cut)
    for worked in found:
        _is_graded(findings, problem, statement, worked)
    for library in problem.libraries:
        path = problem.template(library)
        for worked in _in_stub(findings, problem, path):
            _is_graded(findings, problem, path, worked)


def _in_block(findings: Findings, problem: Problem, path: Path, block: Block) -> list[Worked]:
    if block.kind != "code" or block.language not in ("python", "py", "pycon"):
        return []
    if ">>> " not in block.text:
        return list(in_script(block.text, block.line, problem.entry, problem.parameters))
    return _session(findings, problem, path, block.text, block.line)


def _in_stub(findings: Findings, problem: Problem, path: Path) -> list[Worked]:
    node = code.entry_of(path, problem.entry)
    docstring = ast.get_docstring(node, clean=False) if node else None
    if node is None or not docstring:
        return []
    return _session(findings, problem, path, docstring, node.body[0].lineno)


def _session(
    findings: Findings, problem: Problem, path: Path, text: str, line: int
) -> list[Worked]:
    try:
        return list(in_session(text, line, problem.entry, problem.parameters))
    except Unreadable as error:
        findings.complain(
            path,
            line,
            f"the `>>>` examples here cannot be read: {error}",
            "write them as Python shows them: `>>> ` before code, the answer below it",
        )
        return []


# ---- from problem.toml to the statement


def _each_is_told(
    findings: Findings, problem: Problem, cut: Sequence[Block], found: Sequence[Worked]
) -> None:
    path = problem.folder / "problem.toml"
    content = path.read_text(encoding="utf-8")
    for index, example in enumerate(problem.examples):
        if any(_stands_in(example, block) for block in cut):
            continue
        if any(_agrees(problem, example, worked) for worked in found):
            continue
        findings.complain(
            path,
            line_of(content, f"examples[{index}]"),
            f"the example “{example.title}” does not stand in the statement",
            f"add it to problems/{problem.slug}/statement.md, its numbers in this order, as a row "
            "of a table or as code; or delete it here",
        )


def _stands_in(example: Example, block: Block) -> bool:
    """Whether the block holds the example's values in their order, other words between them."""
    text = block.text if block.kind == "code" else _LIST_NUMBER.sub("", block.text, count=1)
    tokens, at = list(_tokens(text)), 0
    for leaf in _leaves([of_problem(list(example.args)), of_problem(example.returns)]):
        size = len(leaf)
        starts = range(at, len(tokens) - size + 1)
        start = next((i for i in starts if _told(leaf, tokens[i : i + size])), None)
        if start is None:
            return False
        at = start + size
    return True


def _leaves(value: Any) -> Iterator[list[Any]]:
    """The arrays and the single values in order, each flat; a seed need not be told."""
    if isinstance(value, Numbers):
        yield list(_flat(value.values))
    elif isinstance(value, Seed) or value is None:
        return
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _leaves(entry)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _leaves(entry)
    else:
        yield [value]


def _flat(values: Any) -> Iterator[Any]:
    if isinstance(values, list):
        for entry in values:
            yield from _flat(entry)
    else:
        yield values


def _tokens(text: str) -> Iterator[Any]:
    """The numbers of a text (with their decimals), its truth values and its quoted words."""
    for token in _TOKEN.finditer(text):
        if token["number"] is not None:
            number = token["number"]
            yield float(number), len(number.partition(".")[2])
        elif token["word"] is not None:
            yield token["word"].lower() == "true"
        else:
            yield token["double"] if token["double"] is not None else token["single"]


def _told(leaf: Sequence[Any], tokens: Sequence[Any]) -> bool:
    return all(_means(token, value) for token, value in zip(tokens, leaf, strict=True))


def _means(token: Any, value: Any) -> bool:
    if isinstance(token, tuple) and type(value) in (int, float):
        number, decimals = token
        rounded = 0.51 * 10.0**-decimals if decimals >= _ROUNDED else 0.0
        return bool(number == value or abs(number - value) <= rounded)
    return type(token) is type(value) and bool(token == value)


# ---- from the statement and the stubs to problem.toml


def _agrees(problem: Problem, example: Example, worked: Worked) -> bool:
    asked = _asked(problem, example)
    return (
        worked.fault is None
        and same(asked, dict(worked.args))
        and same(of_problem(example.returns), worked.returns, PRINTED)
    )


def _asked(problem: Problem, example: Example) -> dict[str, Any]:
    args = [of_problem(value) for value in example.args]
    return dict(zip(problem.parameters, args, strict=False))


def _is_graded(findings: Findings, problem: Problem, path: Path, worked: Worked) -> None:
    if worked.fault is not None:
        findings.complain(
            path,
            worked.line,
            f"this example cannot be compared with those that are graded: {worked.fault}",
            "write its arguments as numbers, lists, `torch.tensor([…])` or `np.array([…])`, and "
            "its answer as Python prints it",
        )
        return
    if any(_agrees(problem, example, worked) for example in problem.examples):
        return
    toml = f"problems/{problem.slug}/problem.toml"
    for example in problem.examples:
        if same(_asked(problem, example), dict(worked.args)):
            findings.complain(
                path,
                worked.line,
                f"this example answers {as_toml(worked.returns)}, and the graded one "
                f"“{example.title}” {as_toml(of_problem(example.returns))}",
                f"correct the answer here, or `returns` in {toml}",
            )
            return
    args = as_toml([worked.args[name] for name in problem.parameters if name in worked.args])
    findings.complain(
        path,
        worked.line,
        "this example is not graded",
        f'add to {toml}: [[examples]] title = "…" args = {args} '
        f"returns = {as_toml(worked.returns)}",
    )


def _each_row_is_graded(
    findings: Findings, problem: Problem, path: Path, cut: Sequence[Block]
) -> None:
    """The rows of a table whose head names a parameter are examples, and graded."""
    names = {f"`{name}`" for name in problem.parameters}
    inside, last = False, -1
    for block in cut:
        if block.kind != "row":
            continue
        if block.line != last + 1:  # the head of a new table
            inside = bool(names & set(block.cells))
        elif inside and not _is_graded_row(problem, block):
            findings.complain(
                path,
                block.line,
                "the example of this row is not graded",
                f"add it to problems/{problem.slug}/problem.toml as [[examples]], or correct "
                "its numbers",
            )
        last = block.line


def _is_graded_row(problem: Problem, row: Block) -> bool:
    """Whether an example stands in the row; the rule below a table's head is none."""
    rule = set(row.text) <= set("|-: ")
    return rule or any(_stands_in(example, row) for example in problem.examples)
