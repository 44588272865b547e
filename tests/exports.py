"""What the tests of result formats share: reports, hostile texts, and readers of every format.

A reader takes the text of one format and refuses, by schemas written from the platforms' own
documentation (`tests/schemas`), whatever the platform would.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import typing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import junitparser
from lxml import etree

from grader import export
from grader.report import (
    Cases,
    CheckResult,
    Environment,
    Extra,
    Failure,
    FaultReport,
    Isolation,
    Kit,
    Output,
    Report,
    SubmissionFile,
)

SCHEMAS = Path(__file__).parent / "schemas"
FORMATS = (*export.NAMES, "step_summary")
# What the learners of a course may see: everything but the instructor's own screen and document.
FOR_LEARNERS = tuple(name for name in FORMATS if name not in ("text", "json"))
ENDINGS = {"text": "txt", "html": "html", "github": "txt", "classroom": "txt", "junit": "xml"}
MOST_BYTES = 900_000

# What no result may hold, raw or escaped: control characters but tab and newline, what turns the
# direction of a line around, half of a pair, and what is no character.
_RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff\u2028\u2029]"
)

HOSTILE = (
    "NaN",
    "a lone \ud800 and \udfff",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "nul \x00 vt \x0b del \x7f c1 \x9b \ufffe \uffff",
    "]]> <![CDATA[ <!-- --> & &amp; &#27;",
    "| a | b \\| c",
    "`" * 50,
    "```\n</details>\n# title\n```",
    "<script>alert(1)</script></script></style></pre></title><img src=x onerror=alert(1)>",
    "::error::x",
    "   ::notice title=Autograding complete::Points 9/9",
    "\u00a0\u3000::set-output name=a::b",
    "x ##[error]y ##vso[task.complete]z ###[command]",
    "::stop-commands::x\n::add-mask::6",
    "\u202eevil\u202c \u2066\u2069 \u200b\u2028\u2029",
    "a\r\nb\rc",
    "{{ 7*7 }} {% raw %} %0A %25 \\u0000 $(id) `id`",
    "🎲" * 4000,
    "\x1b",
    "",
)


def check(number: int, **fields: Any) -> CheckResult:
    """One passed public check, or what the fields make of it."""
    made = CheckResult(
        id=f"test_{number}",
        title=f"Sentence number {number}.",
        group="values",
        points=number,
        extra=False,
        earned=number,
        outcome="passed",
        message=None,
        hint=None,
        cases=Cases(1, 1),
        seconds=0.001,
        hidden=False,
    )
    made = dataclasses.replace(made, **fields)
    if made.outcome != "passed":
        made = dataclasses.replace(made, earned=0, cases=Cases(0, 1))
    return made


def report(*checks: CheckResult, **fields: Any) -> Report:
    """A report that adds up."""
    scored = [each for each in checks if not each.extra]
    extra = [each for each in checks if each.extra]
    score, most = sum(c.earned for c in scored), sum(c.points for c in scored)
    made = Report(
        kit=Kit("toy", "1.0.0"),
        problem="double",
        title="Double a number",
        library="torch",
        device="cpu",
        submission=SubmissionFile("double.py", "9f2c" * 16, 120),
        score=score,
        max_score=most,
        passed=score == most > 0,
        verdict="correct" if score == most > 0 else "incorrect",
        seed=7 if any(each.hidden for each in checks) else None,
        extra=Extra(sum(c.earned for c in extra), sum(c.points for c in extra)),
        checks=tuple(checks),
        load_error=None,
        likely_cause=None,
        output=Output("", False),
        environment=Environment("3.11.7", "2.13.0", "2.4.6", "Linux-x86_64"),
        isolation=Isolation("locked", ("landlock", "seccomp"), 7, "passed"),
        started_at="2026-11-29T17:51:03+00:00",
        seconds=0.412,
    )
    return dataclasses.replace(made, **fields)


def unloaded(*checks: CheckResult, failure: Failure, **fields: Any) -> Report:
    """A report on a file that could not be loaded."""
    told = "the submission could not be loaded"
    missed = [
        dataclasses.replace(each, outcome="not_run", earned=0, message=told, cases=Cases(0, 1))
        for each in checks
    ]
    return report(*missed, load_error=failure, **{"verdict": "not_run", **fields})


FAULT = FaultReport(
    Kit("toy", "1.0.0"), "double", "hidden check test_x: ZeroDivisionError", "test_x",
    "2026-11-29T17:51:03+00:00",
)  # fmt: skip


# ---- score documents


def read_document(document: dict[str, Any]) -> Report | FaultReport:
    """The report that a score document was written from; fails where it is not exactly one."""
    document = dict(document)
    assert document.pop("schema_version") == 1
    error = document.pop("error")
    if error is not None:
        return _value(FaultReport, {**document, **error})
    return _value(Report, document)


def _value(kind: Any, found: Any) -> Any:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        assert found.keys() == hints.keys()
        return kind(**{name: _value(hint, found[name]) for name, hint in hints.items()})
    if origin is tuple:
        return tuple(_value(inside[0], entry) for entry in found)
    if origin is typing.Literal:
        assert found in inside
        return found
    if inside:  # a union with None
        return None if found is None else _value(inside[0], found)
    assert type(found) in ((int, float) if kind is float else (kind,))
    return found


# ---- readers


def read(name: str, text: str) -> Any:
    """The text of a format as its platform would read it; fails where that would refuse it."""
    size = len(text.encode())
    assert name in ("text", "json") or size <= (500_000 if name == "exercism" else MOST_BYTES)
    assert not _RAW.search(text)
    assert text.endswith("\n")
    return _READERS[name](text)


def strict_json(text: str) -> Any:
    """JSON without the constants that are none, and without raw text inside."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text.encode("ascii")
    assert "##" not in text
    document = json.loads(text, parse_constant=refuse)
    for string in _strings(document):
        assert not _RAW.search(string)
    return document


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in _strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return [value] if isinstance(value, str) else []


def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


_VALIDATORS = {
    name: _validator(name)
    for name in ("gradescope", "prairielearn", "exercism", "classroom", "classroom50")
}
_XSD = etree.XMLSchema(etree.parse(SCHEMAS / "junit.xsd"))


def _gradescope(text: str) -> Any:
    document = strict_json(text)
    _VALIDATORS["gradescope"].validate(document)
    assert document["score"] == sum(row.get("score", 0) for row in document["tests"])
    for row in document["tests"]:
        assert {type(row[key]) for key in ("score", "max_score") if key in row} <= {int}
        assert (row["status"] == "passed") >= (row.get("score", 0) > 0)
    return document


def _prairielearn(text: str) -> Any:
    document = strict_json(text)
    _VALIDATORS["prairielearn"].validate(document)
    for row in document["tests"]:
        assert type(row["points"]) is type(row["max_points"]) is int
    if document["gradable"]:
        earned = sum(row["points"] for row in document["tests"])
        most = sum(row["max_points"] for row in document["tests"])
        assert document["score"] == earned / most
        assert (document["score"] == 1) == (earned == most)
        assert type(document["score"]) is (int if earned in (0, most) else float)
    return document


def _exercism(text: str) -> Any:
    document = strict_json(text)
    _VALIDATORS["exercism"].validate(document)
    assert utf16(document["message"] or "") <= 65_535
    for row in document.get("tests", []):
        assert utf16(row.get("output", "")) <= 500
        assert "task_id" not in row
    if "tests" in document:
        assert document["message"] is None
        statuses = {row["status"] for row in document["tests"]}
        assert (document["status"] == "pass") == (statuses == {"pass"})
    return document


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _classroom(text: str) -> Any:
    assert re.fullmatch(r"result=[A-Za-z0-9+/]+=*\n", text)
    assert len(f"KIT_RESULTS={text.removeprefix('result=').strip()}\0") <= 131_071
    data = base64.b64decode(text.removeprefix("result="), validate=False)
    assert len(data) <= 90_000
    document = strict_json(data.decode("ascii"))
    _VALIDATORS["classroom"].validate(document)
    for row in document["tests"]:
        assert commands(row["name"]) == []
    return document


def _classroom50(text: str) -> Any:
    document = strict_json(text)
    _VALIDATORS["classroom50"].validate(document)
    for row in (document, *document["tests"]):
        assert type(row["score"]) is type(row["max-score"]) is int
        assert 0 <= row["score"] <= row["max-score"]
    return document


def _json(text: str) -> Any:
    text.encode("ascii")
    assert "##" not in text
    return json.loads(text)


def _junit(text: str) -> list[Any]:
    document = etree.fromstring(text.encode())
    _XSD.assertValid(document)
    for element in (document, *document):
        cases = element.findall(".//testcase")
        for tag, count in {"failure": "failures", "error": "errors", "skipped": "skipped"}.items():
            assert int(element.get(count)) == sum(case.find(tag) is not None for case in cases)
        assert int(element.get("tests")) == len(cases)
    again = [case for suite in junitparser.JUnitXml.fromstring(text.encode()) for case in suite]
    assert [case.name for case in again] == [case.get("name") for case in cases]
    troubles = [[trouble.tag for trouble in case if trouble.tag != "properties"] for case in cases]
    assert [[result._tag for result in case.result] for case in again] == troubles
    assert commands(text) == []
    return cases


def _github(text: str) -> list[tuple[str, dict[str, str], str]]:
    found = commands(text)
    assert len(found) == text.count("\n")
    assert sum(name == "error" for name, _, _ in found) <= 10
    return found


def _summary(text: str) -> str:
    """Everything outside the fenced blocks."""
    shown, fence = [], ""
    for line in text.split("\n"):
        ticks = re.fullmatch("`{3,}", line)
        if fence:
            if ticks and len(line) >= len(fence):
                fence = ""
        elif ticks:
            fence = line
        else:
            shown.append(line)
    assert not fence
    table = [line for line in shown if line.startswith("|")]
    assert {line.count("|") for line in table} <= {3}
    assert text.count("\n<details>\n<summary>") == shown.count("<details>")
    assert shown.count("<details>") == shown.count("</details>")
    for line in shown:
        bare = re.sub(r"</?(details|summary|code)>", "", line)
        assert "<" not in bare
    return "\n".join(shown)


class Page(HTMLParser):
    """The tags of a page with their attributes, and its texts by the tags around them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((tuple(self._open), data))

    def of(self, tag: str, within: str | None = None) -> list[str]:
        return [
            text
            for inside, text in self.texts
            if inside[-1] == tag and within in (None, inside[-2])
        ]


_TAGS = frozenset(
    "html head meta title style body main h1 h2 p bdi small progress section div span pre dl dt dd"
    .split()
)  # fmt: skip


def _html(text: str) -> Page:
    assert text.startswith("<!doctype html>\n")
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= _TAGS
    for _, attributes in page.tags:
        assert not {"style", "src", "href", "srcset", "action"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
    assert commands(text) == []
    return page


def _text(text: str) -> str:
    assert commands(text) == []
    return text


_READERS = {
    "text": _text,
    "json": _json,
    "html": _html,
    "gradescope": _gradescope,
    "prairielearn": _prairielearn,
    "exercism": _exercism,
    "classroom": _classroom,
    "classroom50": _classroom50,
    "github": _github,
    "junit": _junit,
    "step_summary": _summary,
}


# ---- how a runner of GitHub Actions reads what a step prints

_NEW = re.compile(r"::([^ ]*?)(?: (.*?))?::(.*)")
_OLD = re.compile(r"##\[([A-Za-z-]+)(?: (.*?))?\](.*)")
_OTHERS = re.compile(r"##(?:vso|teamcity)\[")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands in printed lines: name, properties, data.

    The new form may have white space before it, the old form stands anywhere in a line. Any name
    counts, also of a command that no runner knows.
    """
    found = []
    for line in re.split("\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", text):
        match = _NEW.fullmatch(line.strip()) or _OLD.search(line) or _OTHERS.search(line)
        if match:
            parts = (*match.groups(), "", "", "")[:3]
            found.append((parts[0] or match[0], _properties(parts[1] or ""), _unescaped(parts[2])))
    return found


def _properties(text: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    return {key: _unescaped(value) for key, _, value in pairs}


def _unescaped(text: str) -> str:
    for code, char in (("%2C", ","), ("%3A", ":"), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


# ---- rows


def rows(name: str, text: str) -> list[tuple[str, object]]:
    """The rows that a format lists, each with what it can earn: the same for every submission."""
    found = read(name, text)
    match name:
        case "gradescope":
            return [(row["name"], row["max_score"]) for row in found["tests"]]
        case "prairielearn":
            return [(row["name"], row["max_points"]) for row in found["tests"]]
        case "exercism":
            return [(row["name"], None) for row in found.get("tests", [])]
        case "classroom":
            return [(row["name"].partition(".")[0], None) for row in found["tests"]]
        case "classroom50":
            return [(row["test-name"], row["max-score"]) for row in found["tests"]]
        case "junit":
            most = "properties/property[@name='max_points']"
            return [(case.get("name"), case.find(most).get("value")) for case in found]
        case "step_summary":
            cells = [line.split("|") for line in found.split("\n") if line.startswith("| ")]
            return [(cell[1], cell[2].strip(" *").partition("/")[2]) for cell in cells]
        case "html":
            points = (many.partition(" of ")[2] for many in found.of("span") if " of " in many)
            return list(zip(found.of("p", within="div"), points, strict=True))
    raise AssertionError(f"{name} has no rows")
