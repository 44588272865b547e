"""The pages of a problem: they are there, can be shown, and name what the stub names."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

from grader import pages
from grader.dev.rules import code
from grader.dev.rules.blocks import blocks
from grader.dev.rules.findings import Findings
from grader.problem import Problem

PAGES = {
    "statement": "write it: what the function is given, computes and returns, and examples",
    "learn": "write it: why the task is solved the way it is, step by step",
}

_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_COMMAND = re.compile(r"\\[A-Za-z]{2,}")
_LINK = re.compile(
    r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)[^)]*\)|^ *\[[^\]]+\]: *<?([^\s>]+)", re.MULTILINE
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|//", re.IGNORECASE)


def rules(findings: Findings, problem: Problem) -> None:
    for name, missing in PAGES.items():
        path = problem.folder / f"{name}.md"
        text = findings.text(path, missing)
        if text is None:
            continue
        _heading(findings, path, text, missing)
        _formulas(findings, path, text)
        _links(findings, path, text)
        _code(findings, problem, path, text)
        if name == "statement" and text.strip():
            _names(findings, problem, path, text)


def linked(folder: Path, text: str) -> list[tuple[int, str, Path]]:
    """The links of a page to files of the kit: line, as written, and the file meant."""
    found = []
    for block in blocks(text):
        if block.kind != "code":
            plain = _SPAN.sub(lambda span: re.sub(r"[^\n]", " ", span[0]), block.text)
            for link in _LINK.finditer(plain):
                target = link[1] or link[2]
                if not _ELSEWHERE.match(target):
                    line = block.line + plain.count("\n", 0, link.start())
                    found.append(
                        (line, target, Path(os.path.normpath(folder / target.partition("#")[0])))
                    )
    return found


def _heading(findings: Findings, path: Path, text: str, missing: str) -> None:
    if not text.strip():
        findings.complain(path, 1, "is empty", missing)
    elif not text.startswith("# "):
        findings.complain(
            path,
            1,
            "does not begin with a title",
            "write `# ` and the page's title in its first line",
        )


def _formulas(findings: Findings, path: Path, text: str) -> None:
    """Every formula can be shown in a terminal, and nothing of LaTeX is left in it."""
    for block in blocks(text):
        if block.kind == "code":
            continue
        try:
            shown = pages.plain(block.text)
        except Exception as error:
            findings.complain(
                path,
                block.line,
                f"a formula here cannot be shown: {type(error).__name__}",
                "write it in simpler LaTeX, fewer brackets inside brackets",
            )
            continue
        for command in _COMMAND.findall(_SPAN.sub("", shown)):
            line = block.line + block.text.count("\n", 0, max(0, block.text.find(command)))
            findings.complain(
                path,
                line,
                f"a terminal shows `{command}` as it is written",
                "put the formula between dollar signs, or write it with the commands that "
                "`grade show` knows (grader/formulas.py)",
            )


def _links(findings: Findings, path: Path, text: str) -> None:
    for line, target, file in linked(path.parent, text):
        if not file.exists():
            findings.complain(
                path,
                line,
                f"links to {target}, and there is no such file",
                f"correct the link, or add {target} beside the page",
            )
        elif not file.resolve().is_relative_to(findings.kit.problems.resolve()):
            findings.complain(
                path,
                line,
                f"links to {target}, which does not go with the problems to a learner",
                "copy the file beside the page and link to the copy",
            )


def _code(findings: Findings, problem: Problem, path: Path, text: str) -> None:
    """Code called Python is Python, and where it defines the entry it does so as the stub does."""
    stub = problem.template(problem.libraries[0])
    entry = code.entry_of(stub, problem.entry)
    for block in blocks(text):
        if block.kind != "code" or block.language not in ("python", "py") or ">>> " in block.text:
            continue
        try:
            tree = ast.parse(block.text)
        except SyntaxError as error:
            findings.complain(
                path,
                block.line + (error.lineno or 1) - 1,
                f"this code is not Python: {error.msg}",
                "correct it, or begin the block with ```text",
            )
            continue
        node = code.function(tree, problem.entry)
        if node and entry and code.calling(node) != code.calling(entry):
            findings.complain(
                path,
                block.line + node.lineno - 1,
                f"{problem.entry} is defined with ({code.calling(node)}), and in the stub with "
                f"({code.calling(entry)})",
                f"copy the parameters from {findings.name(stub)}:{entry.lineno}",
            )


def _names(findings: Findings, problem: Problem, path: Path, text: str) -> None:
    for kind, name in (("entry", problem.entry), *(("parameter", n) for n in problem.parameters)):
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            findings.complain(
                path,
                1,
                f"does not name the {kind} `{name}`",
                f"say in the statement what `{name}` is, or correct problem.toml",
            )
