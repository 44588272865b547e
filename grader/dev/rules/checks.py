"""The check files, read and not run: what each check says of itself, and what they add up to."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.dev.rules.findings import Findings, words
from grader.dev.rules.toml_place import line_of
from grader.problem import Points, Problem
from grader.score import FITTING

GROUPS = sorted(frozenset[str]().union(*FITTING.values()))
OF_SAMPLED = ("law", "draws", "seeded")  # the verdict of a sampled problem is read from these

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_POINTS = '@pytest.mark.points(2, group="values")'


@dataclass(frozen=True)
class Check:
    """A check as its markers and its docstring tell it. libraries: those it is run for."""

    path: Path
    line: int
    name: str
    title: str
    group: str
    points: int
    extra: bool
    libraries: tuple[str, ...]


def rules(findings: Findings, problem: Problem) -> None:
    public = _checks(findings, problem, problem.checks)
    hidden: list[Check] | None = []
    if findings.kit.solutions is not None:
        hidden = _checks(findings, problem, findings.kit.solutions / problem.slug / "hidden.py")
    if public is None or hidden is None:
        return  # points and groups are known only when every check is
    both = [*public, *hidden]
    _each_once(findings, both)
    if all(check.points for check in both):
        _sums(findings, problem, public, hidden)
    if problem.sampled:
        _verdict_groups(findings, problem, both)


def _checks(findings: Findings, problem: Problem, path: Path) -> list[Check] | None:
    cure = (
        f"write it: functions `test_…` with {_POINTS}, a docstring and one comparison each "
        "(`grade dev new` writes an example)"
    )
    tree = findings.module(path, cure)
    if tree is None:
        return None
    _imports(findings, path, tree)
    functions = [node for node in tree.body if isinstance(node, _Function)]
    nodes = [node for node in functions if node.name.startswith("test_")]
    if not nodes:
        findings.complain(path, 1, "has no check in it", cure)
        return None
    return [_check(findings, problem, path, node) for node in nodes]


def _imports(findings: Findings, path: Path, tree: ast.Module) -> None:
    """What a check file may not import: PyTorch, and from a public one the solutions."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.partition(".")[0] == "torch":
                text = "imports PyTorch, which is never loaded on this side"
                cure = "use grader.values; what needs PyTorch goes to draws.py"
            elif name.partition(".")[0] == "solutions" and path.name == "checks.py":
                text = "imports from solutions/, which a learner's kit does not have"
                cure = "put what both need into cases.py"
            else:
                continue
            findings.complain(path, node.lineno, text, cure)


def _check(
    findings: Findings,
    problem: Problem,
    path: Path,
    node: _Function,
) -> Check:
    points, group, extra = _points(findings, problem, path, node)
    _fixtures(findings, problem, path, node)
    _hints(findings, path, node)
    return Check(
        path=path,
        line=node.lineno,
        name=node.name,
        title=_title(findings, path, node),
        group=group,
        points=points,
        extra=extra,
        libraries=_libraries(findings, problem, path, node),
    )


def _marks(node: _Function, name: str) -> Iterator[ast.Call | ast.expr]:
    """The decorators `@pytest.mark.<name>` of a check, with or without a call."""
    for mark in node.decorator_list:
        target = mark.func if isinstance(mark, ast.Call) else mark
        if ast.unparse(target) == f"pytest.mark.{name}":
            yield mark


def _literal(node: ast.expr | None) -> Any:
    """The value of an expression that is a plain literal, else None."""
    try:
        return None if node is None else ast.literal_eval(node)
    except ValueError:
        return None


def _points(
    findings: Findings, problem: Problem, path: Path, node: _Function
) -> tuple[int, str, bool]:
    """Points, group and whether they are extra; 0 points where they cannot be read."""
    marks = list(_marks(node, "points"))
    if not marks:
        findings.complain(path, node.lineno, f"{node.name} has no points", f"put {_POINTS} above")
        return 0, "", False
    mark, *others = marks
    if others:
        findings.complain(
            path, others[0].lineno, f"{node.name} has points twice", "delete one of the markers"
        )
    args = mark.args if isinstance(mark, ast.Call) else []
    given = mark.keywords if isinstance(mark, ast.Call) else []
    options = {str(option.arg): _literal(option.value) for option in given}
    points, group = _literal(args[0]) if len(args) == 1 else None, options.get("group")
    extra = options.get("extra", False)
    if type(points) is not int or points < 1:
        findings.complain(
            path,
            mark.lineno,
            f"{node.name}: its points are no whole number that stands there",
            f"write a number, 1 or more: {_POINTS}",
        )
        points = 0
    if type(group) is not str or group not in GROUPS:
        near = difflib.get_close_matches(str(group), GROUPS, n=1)
        findings.complain(
            path,
            mark.lineno,
            f"{node.name}: {f'no group is called {group!r}' if group else 'it has no group'}",
            f'write group="{near[0]}"' if near else f"write group= and one of {words(GROUPS)}",
        )
        group = ""
    elif group in OF_SAMPLED and not problem.sampled:
        findings.complain(
            path,
            mark.lineno,
            f"{node.name}: the group {group} is one of sampled problems",
            "choose another group, or say `sampled = true` in problem.toml",
        )
    if type(extra) is not bool or options.keys() - {"group", "extra"}:
        findings.complain(
            path,
            mark.lineno,
            f"{node.name}: points take a number, a group and extra, and nothing else",
            f"write {_POINTS}, with extra=True for extra credit",
        )
    return points, group, bool(extra)


def _title(findings: Findings, path: Path, node: _Function) -> str:
    docstring = ast.get_docstring(node) or ""
    title = " ".join(docstring.strip().partition("\n\n")[0].split())
    if not title:
        findings.complain(
            path,
            node.lineno,
            f"{node.name} has no docstring",
            "give it the sentence that a learner reads when it fails",
        )
    elif not title.endswith("."):
        findings.complain(
            path,
            node.body[0].lineno,
            f"{node.name}: the first paragraph of its docstring is no sentence",
            "write one sentence that says what is right, and end it with a full stop",
        )
    return title


def _libraries(
    findings: Findings, problem: Problem, path: Path, node: _Function
) -> tuple[str, ...]:
    for mark in _marks(node, "library"):
        args = mark.args if isinstance(mark, ast.Call) else []
        named = [_literal(argument) for argument in args]
        if not named or any(name not in problem.libraries for name in named):
            findings.complain(
                path,
                mark.lineno,
                f"{node.name} is for a library that the problem is not offered in",
                f"name one of {words(problem.libraries)}, or add the library to problem.toml",
            )
        return tuple(str(name) for name in named)
    return problem.libraries


def _hints(findings: Findings, path: Path, node: _Function) -> None:
    for mark in _marks(node, "hint"):
        args = mark.args if isinstance(mark, ast.Call) else []
        hint = _literal(args[0]) if len(args) == 1 else None
        if type(hint) is not str or not hint.strip():
            findings.complain(
                path,
                mark.lineno,
                f"{node.name}: its hint is no text",
                'write @pytest.mark.hint("…") with one sentence, or delete the marker',
            )


def _fixtures(findings: Findings, problem: Problem, path: Path, node: _Function) -> None:
    asked = {argument.arg for argument in node.args.args}
    if "draws" in asked and problem.draws is None:
        findings.complain(
            path,
            node.lineno,
            f"{node.name} asks for draws, and the problem has no draws.py",
            f"write problems/{problem.slug}/draws.py, or take `draws` out of its parameters",
        )
    if "reference" in asked and path == problem.checks:
        findings.complain(
            path,
            node.lineno,
            f"{node.name} asks for the reference, which a learner's kit does not have",
            f"move it to solutions/{problem.slug}/hidden.py, or state the right answer",
        )


def _each_once(findings: Findings, checks: Sequence[Check]) -> None:
    names: dict[str, Check] = {}
    titles: dict[str, Check] = {}
    for check in checks:
        if check.name in names:
            findings.complain(
                check.path,
                check.line,
                f"{check.name} is also the check in {_place(findings, names[check.name])}",
                "give it another name; `fails:` and the report know checks by name",
            )
        elif check.title and check.title in titles:
            findings.complain(
                check.path,
                check.line,
                f"{check.name} has the sentence of the check in "
                f"{_place(findings, titles[check.title])}",
                "say in its docstring what this one asks and the other does not",
            )
        names.setdefault(check.name, check)
        titles.setdefault(check.title, check)


def _place(findings: Findings, check: Check) -> str:
    return f"{findings.name(check.path)}:{check.line}"


def _sums(
    findings: Findings, problem: Problem, public: Sequence[Check], hidden: Sequence[Check]
) -> None:
    """What the checks of each library add up to is what problem.toml declares."""
    path = problem.folder / "problem.toml"
    content = path.read_text(encoding="utf-8")
    for library in problem.libraries:
        declared = problem.points[library]
        extra = _sum([*public, *hidden], library, extra=True)
        found = Points(_sum(public, library), _sum(hidden, library), extra)
        if findings.kit.solutions is None:  # what is hidden is not here to be added up
            found = Points(found.public, declared.hidden, declared.extra)
        if found != declared:
            findings.complain(
                path,
                line_of(content, f"points.{library}"),
                f"the checks for {library} add up to {_shown(found)}, and declared are "
                f"{_shown(declared)}",
                f"write `{library} = {{ {_shown(found)} }}`, or change the points of the checks",
            )


def _sum(checks: Sequence[Check], library: str, extra: bool = False) -> int:
    return sum(c.points for c in checks if c.extra is extra and library in c.libraries)


def _shown(points: Points) -> str:
    return f"public = {points.public}, hidden = {points.hidden}, extra = {points.extra}"


def _verdict_groups(findings: Findings, problem: Problem, checks: Sequence[Check]) -> None:
    path = problem.folder / "problem.toml"
    line = line_of(path.read_text(encoding="utf-8"), "sampled")
    for library in problem.libraries:
        groups = {check.group for check in checks if library in check.libraries}
        if missing := [group for group in OF_SAMPLED if group not in groups]:
            findings.complain(
                path,
                line,
                f"the problem is sampled, and no check for {library} is of the group "
                f"{words(missing)}",
                "add such a check (the verdict is read from law, draws and seeded), or write "
                "`sampled = false`",
            )
