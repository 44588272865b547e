"""JUnit XML, the form in which CI systems read tests: suites of test cases, whatever was tested.

JUnit has no schema of its own; this is the part that the common readers share. A case has at most
one trouble: `failure`, `error` (it could not be judged) or `skipped` (it was not tried).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Trouble:
    """Why a case is not passed: what sort of thing, in a line, and in full."""

    kind: Literal["failure", "error", "skipped"]
    type: str
    message: str
    text: str


@dataclass(frozen=True)
class Case:
    """One test. file, line: where, from the root of the repository."""

    group: str
    name: str
    seconds: float = 0.0
    file: str | None = None
    line: int | None = None
    properties: Sequence[tuple[str, str]] = ()
    trouble: Trouble | None = None


@dataclass(frozen=True)
class Suite:
    """Tests that belong together. started: UTC, as 2026-11-29T17:51:03. output: what was printed
    by them, or is to be said about them."""

    name: str
    cases: Sequence[Case]
    started: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    output: str = ""


def render(name: str, suites: Sequence[Suite], seconds: float | None = None) -> str:
    """The suites as a document, with a declaration and a last newline.

    seconds: of all, where that is not the sum of the cases. What no XML may hold is written out.
    """
    root = ET.Element("testsuites", name=_legal(name))
    for suite in suites:
        _suite(ET.SubElement(root, "testsuite", name=_legal(suite.name)), suite)
    _count(root, [case for suite in suites for case in suite.cases], seconds)
    ET.indent(root, " ")
    text = '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"
    ET.fromstring(text.encode())  # what could not be read is not to be written
    return text


def _suite(element: ET.Element, suite: Suite) -> None:
    _count(element, suite.cases, None)
    if suite.started:
        element.set("timestamp", _legal(suite.started))
    _properties(element, list(suite.properties.items()))
    for case in suite.cases:
        _case(element, case, f"{suite.name}.{case.group}")
    if suite.output:
        ET.SubElement(element, "system-out").text = _legal(suite.output)


def _case(suite: ET.Element, case: Case, classname: str) -> None:
    element = ET.SubElement(
        suite,
        "testcase",
        classname=_legal(classname),
        name=_legal(case.name),
        time=f"{case.seconds:.3f}",
    )
    if case.file:
        element.set("file", _legal(case.file))
    if case.line is not None:
        element.set("line", str(case.line))
    _properties(element, case.properties)
    if case.trouble:
        trouble = ET.SubElement(
            element,
            case.trouble.kind,
            type=_legal(case.trouble.type),
            message=" ".join(_legal(case.trouble.message).split()),
        )
        trouble.text = _legal(case.trouble.text)


def _properties(parent: ET.Element, properties: Sequence[tuple[str, str]]) -> None:
    if properties:
        element = ET.SubElement(parent, "properties")
        for name, text in properties:
            ET.SubElement(element, "property", name=_legal(name), value=_legal(text))


def _count(element: ET.Element, cases: Sequence[Case], seconds: float | None) -> None:
    kinds = [case.trouble.kind for case in cases if case.trouble]
    element.set("tests", str(len(cases)))
    element.set("failures", str(kinds.count("failure")))
    element.set("errors", str(kinds.count("error")))
    element.set("skipped", str(kinds.count("skipped")))
    total = sum(case.seconds for case in cases) if seconds is None else seconds
    element.set("time", f"{total:.3f}")


def _legal(text: str) -> str:
    """The text with what no XML may hold written out, as #x1B."""
    return _ILLEGAL.sub(lambda found: f"#x{ord(found[0]):02X}", text)
