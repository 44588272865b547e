"""The stub, the reference and the right files: one function, with one signature and docstring."""

from __future__ import annotations

import ast
from pathlib import Path

from grader.dev.rules.findings import Findings
from grader.problem import Problem


def rules(findings: Findings, problem: Problem) -> None:
    for library in problem.libraries:
        stub_path = problem.template(library)
        stub = _entry(
            findings,
            problem,
            stub_path,
            f"write the stub: the signature and the docstring of the {library} reference, and "
            f'`raise NotImplementedError("write {problem.entry} here")`',
        )
        if stub is not None:
            _body(findings, problem, stub_path, stub)
        if findings.kit.solutions is None:
            continue
        path = findings.kit.solutions / problem.slug / solution_name(problem, library)
        reference = _entry(
            findings, problem, path, f"write the {library} reference, a right and readable solution"
        )
        if stub is not None and reference is not None:
            _same(findings, stub_path, stub, path, reference)
    _right_files(findings, problem)


def solution_name(problem: Problem, library: str) -> str:
    """The file name of a reference, whether or not it is there."""
    return f"solution{problem.template(library).stem.removeprefix(problem.slug)}.py"


def function(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """The function that a module defines under a name, at its top level."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[-1] if found else None


def parameters(node: ast.FunctionDef) -> list[str]:
    """The names a call can give by position; a starred one with its star."""
    arguments = node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    names += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    names += [f"*, {argument.arg}" for argument in arguments.kwonlyargs]
    return names + ([f"**{arguments.kwarg.arg}"] if arguments.kwarg else [])


def entry_of(path: Path, entry: str) -> ast.FunctionDef | None:
    """The function in a file; None, without a complaint, where there is none."""
    tree = _quietly(path)
    return None if tree is None else function(tree, entry)


def calling(node: ast.FunctionDef) -> str:
    """Names and defaults without annotations: how the function may be called."""
    return ast.unparse(_bare(node.args))


def _bare(arguments: ast.arguments) -> ast.arguments:
    def plain(argument: ast.arg | None) -> ast.arg | None:
        return None if argument is None else ast.arg(argument.arg)

    def each(group: list[ast.arg]) -> list[ast.arg]:
        return [ast.arg(argument.arg) for argument in group]

    return ast.arguments(
        posonlyargs=each(arguments.posonlyargs),
        args=each(arguments.args),
        vararg=plain(arguments.vararg),
        kwonlyargs=each(arguments.kwonlyargs),
        kw_defaults=arguments.kw_defaults,
        kwarg=plain(arguments.kwarg),
        defaults=arguments.defaults,
    )


def _entry(
    findings: Findings, problem: Problem, path: Path, missing: str
) -> ast.FunctionDef | None:
    """The problem's function in a stub or reference, after asking for its parameters."""
    tree = findings.module(path, missing)
    if tree is None:
        return None
    declared = ", ".join(problem.parameters)
    node = function(tree, problem.entry)
    if node is None:
        findings.complain(
            path,
            1,
            f"does not define {problem.entry}, the entry of problem.toml",
            f"write `def {problem.entry}({declared}):`, or correct `entry` in problem.toml",
        )
        return None
    if parameters(node) != list(problem.parameters):
        findings.complain(
            path,
            node.lineno,
            f"{problem.entry} takes ({', '.join(parameters(node))}), and problem.toml says "
            f"({declared})",
            f"write `def {problem.entry}({declared}):`, or correct `parameters` in problem.toml",
        )
    if not ast.get_docstring(node):
        findings.complain(
            path,
            node.lineno,
            f"{problem.entry} has no docstring",
            "say there what it takes and returns: it is what an editor shows a learner",
        )
    return node


def _body(findings: Findings, problem: Problem, path: Path, stub: ast.FunctionDef) -> None:
    body = stub.body[1:] if ast.get_docstring(stub) is not None else stub.body
    if len(body) != 1 or not _raises_not_implemented(body[0]):
        findings.complain(
            path,
            body[0].lineno if body else stub.lineno,
            f"the stub's {problem.entry} does more than to say that it is not written",
            "leave the docstring and the one line "
            f'`raise NotImplementedError("write {problem.entry} here")`',
        )


def _raises_not_implemented(node: ast.stmt) -> bool:
    raised = node.exc if isinstance(node, ast.Raise) else None
    name = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"


def _same(
    findings: Findings,
    stub_path: Path,
    stub: ast.FunctionDef,
    path: Path,
    reference: ast.FunctionDef,
) -> None:
    if _signature(stub) != _signature(reference):
        findings.complain(
            stub_path,
            stub.lineno,
            f"the signature is `{_signature(stub)}`, and the reference's `{_signature(reference)}`",
            f"copy it from {findings.name(path)}:{reference.lineno}, or correct it there",
        )
    here, there = ast.get_docstring(stub), ast.get_docstring(reference)
    if here and there and here != there:
        start = stub.body[0].lineno
        findings.complain(
            stub_path,
            start + _first_difference(here, there),
            "the docstring is not the reference's from this line on",
            f"copy the docstring from {findings.name(path)}:{reference.body[0].lineno}, or "
            "correct it there",
        )


def _signature(node: ast.FunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(node.args)}){returns}"


def _first_difference(text: str, other: str) -> int:
    """The number of lines that two texts have in common at their beginning."""
    lines, others = text.splitlines(), other.splitlines()
    same = [mine == theirs for mine, theirs in zip(lines, others, strict=False)]
    return min([*(i for i, equal in enumerate(same) if not equal), len(lines) - 1])


def _right_files(findings: Findings, problem: Problem) -> None:
    """Every right file can be called as the stub can; broken ones are told of by `known`."""
    if problem.solution_folder is None:
        return
    stub = entry_of(problem.template(problem.libraries[0]), problem.entry)
    for path in sorted((problem.solution_folder / "right").glob("*.py")):
        tree = _quietly(path)
        if tree is None or stub is None:
            continue
        node = function(tree, problem.entry)
        if node is None or calling(node) != calling(stub):
            findings.complain(
                path,
                node.lineno if node else 1,
                f"does not define {problem.entry}({calling(stub)})",
                f"write `def {problem.entry}({calling(stub)}):`; a right file keeps the names, "
                "the order and the defaults of the stub",
            )


def _quietly(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
