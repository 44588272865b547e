"""What CI systems are told of a check of the kit: JUnit XML, annotations, summary, workflow."""

from __future__ import annotations

import re
import shlex
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from grader import cli
from grader.dev import github, junit
from grader.dev.check import RULES, Verdict
from grader.dev.complaints import Complaint
from grader.dev.survey import Result
from grader.report import FaultReport, Kit
from tests.conftest import ROOT
from tests.test_matrix import known, matrix, right, wrong

WORKFLOW = ROOT / ".github/workflows/kit.yml"
GUIDE = ROOT / "docs/instructor-ci.md"

RESULTS = (*right(), *wrong("squares", "test_zero"), *wrong("returns_none", "test_two test_zero"))
SQUARES = "solutions/double/wrong/squares.py"
FAILS = Complaint(SQUARES, 4, "fails", "fails test_two as well, unnamed", "correct the line")
HEARD = Complaint(SQUARES, 3, "diagnosis", "is taken for something else", "add an input")
STUB = Complaint("templates/double_numpy.py", 9, "stub", "the stub does not load", "mend it")
STRAY = Complaint("notes.txt", 1, "stray file", "belongs nowhere", "delete it")


def verdict(*complaints: Complaint, results=RESULTS, notes=()) -> Verdict:
    """The outcome of a check of one problem, `double`."""
    return Verdict(("double",), complaints, tuple(notes), tuple(results), tuple(RULES), 2.5)


def xml(*complaints: Complaint, **about) -> ET.Element:
    """The JUnit document of a verdict, read back."""
    text = junit.render(verdict(*complaints, **about))
    return ET.fromstring(text.encode())  # refuses what is no XML


def broken(root: ET.Element) -> dict[str, ET.Element]:
    """The failures and errors by the class and name of their test case."""
    return {
        f"{case.get('classname')}.{case.get('name')}": problem
        for case in root.iter("testcase")
        for problem in case
        if problem.tag in ("failure", "error")
    }


# ---- JUnit XML


def test_a_sound_kit_has_a_case_for_each_file_and_each_rule():
    """Known files come first, with what each seed gave; what belongs to no problem comes last."""
    root = xml()
    assert [suite.get("name") for suite in root] == ["double", "kit"]
    names = [(case.get("classname"), case.get("name")) for case in root[0]]
    files = [("right", "adds"), ("wrong", "squares"), ("wrong", "returns_none")]
    assert names == [(f"double.{kind}", name) for kind, name in files] + [
        ("double.rule", rule) for rule in RULES
    ]
    properties = {p.get("name"): p.get("value") for p in root[0][1].iter("property")}
    assert properties == {"seed 1": "9 of 10, incorrect", "seed 2": "9 of 10, incorrect"}
    assert (root[0][1].get("file"), root[0][1].get("time")) == (SQUARES, "2.000")
    assert broken(root) == {}


def test_counts_and_times_add_up():
    """What a reader shows as totals is what is there."""
    root = xml(FAILS, STUB, STRAY)
    assert (root.get("failures"), root.get("errors"), root.get("time")) == ("3", "0", "2.500")
    assert int(root.get("tests")) == sum(int(suite.get("tests")) for suite in root)
    assert [int(suite.get("tests")) for suite in root] == [len(suite) for suite in root]


def test_a_complaint_of_a_known_file_is_the_failure_of_its_case():
    """It says what is wrong in a line, and in full with place and cure."""
    root = xml(FAILS)
    failure = broken(root)["double.wrong.squares"]
    assert (failure.get("type"), failure.get("message")) == ("fails", FAILS.text)
    assert failure.text == str(FAILS)
    assert root[0][1].get("line") == "4"


def test_a_file_with_two_complaints_is_one_failure():
    """Readers take one failure of a case; it holds both."""
    failure = broken(xml(FAILS, HEARD))["double.wrong.squares"]
    assert failure.get("message") == f"{FAILS.text} (and 1 more)"
    assert failure.text == f"{FAILS}\n{HEARD}"


def test_a_rule_that_only_known_files_break_is_not_green_elsewhere():
    """A passed case called `fails` would contradict the failed one of the file."""
    names = [case.get("name") for case in xml(FAILS).iter("testcase")]
    assert names.count("fails") == 1  # of the suite `kit`, which has no known files


def test_a_complaint_of_another_file_is_the_failure_of_its_rule():
    """A stub belongs to its problem in every library, a stray file to the kit."""
    assert {*broken(xml(STUB, STRAY))} == {"double.rule.stub", "kit.rule.stray file"}


def test_a_fault_of_the_kit_is_an_error():
    """A file that could not be graded was not seen to fail."""
    fault = FaultReport(Kit("toy", "1"), "double", "a check crashed", "test_two", "2026-01-01")
    complaint = replace(FAILS, rule="wrong", text="could not be graded")
    root = xml(complaint, results=[Result(known("squares"), 1, fault)])
    assert broken(root)["double.wrong.squares"].tag == "error"
    assert (root.get("failures"), root.get("errors")) == ("0", "1")


def test_what_no_xml_may_hold_is_written_out():
    """A complaint may quote anything; the document can still be read."""
    odd = replace(FAILS, text="says \x1b[31m\0 \ud800 \ufffe ]]> & <b> é", cure="mend\x0bit")
    failure = broken(xml(odd, notes=["\x00"]))["double.wrong.squares"]
    assert failure.get("message") == "says #x1B[31m#x00 #xD800 #xFFFE ]]> & <b> é"
    assert "mend#x0Bit" in failure.text


def test_notes_are_told():
    """What is no complaint goes to the output of the kit's suite."""
    assert xml(notes=["one", "two"])[1].findtext("system-out") == "one\ntwo"


# ---- annotations


def test_an_annotation_is_on_the_file_and_the_line():
    """Whatever would end a property or the line is escaped, and the cure is told."""
    odd = Complaint("solutions/a,b/x:y.py", 7, "fails: all", "100 % of it:\r\nnone", "name, it")
    assert github.annotations([odd]) == [
        "::error file=solutions/a%2Cb/x%3Ay.py,line=7,title=fails%3A all"
        "::100 %25 of it:%0D%0Anone%0Aname, it"
    ]


def test_an_annotation_finds_a_kit_within_a_repository():
    """GitHub looks for the file from the root of the repository."""
    (line,) = github.annotations([STRAY], "courses/decoding")
    assert line.startswith("::error file=courses/decoding/notes.txt,line=1,")


@pytest.mark.parametrize(
    ("number", "last"), [(10, "line=10,"), (11, "and 2 more"), (500, "491 more")]
)
def test_no_annotation_is_dropped_in_silence(number, last):
    """GitHub shows ten of a step; where there are more, the tenth says how many."""
    lines = github.annotations([replace(FAILS, line=i) for i in range(1, number + 1)])
    assert len(lines) == 10
    assert last in lines[-1]


# ---- the summary


class Reader(HTMLParser):
    """The cells and the folded parts of a summary."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def test_a_sound_kit_says_so_at_once():
    """The first line is the verdict; there is nothing to mend and no table of it."""
    text = github.summary(verdict())
    assert text.startswith("## The kit is sound\n\ndouble: 3 known files in 5 gradings")
    assert "<table>" not in text


def test_the_summary_tells_every_complaint():
    """Place, rule, text and cure stand in a table."""
    text = github.summary(verdict(FAILS, STUB))
    assert text.startswith("## The kit is not sound: 2 complaints\n")
    assert text.count("<tr>") == 3
    assert f"<code>{SQUARES}:4</code>" in text
    assert f"{FAILS.text}<br><i>{FAILS.cure}</i>" in text


def test_nothing_in_a_complaint_is_taken_for_markup():
    """Tags, tables, emphasis and empty lines are shown as they are; `code` is code."""
    odd = replace(FAILS, text="</table>\n\n# a | b *c* [d](e) `f<g>`", cure="<script>")
    text = github.summary(verdict(odd))
    assert Reader(text).tags.count("script") == 0
    assert "&lt;/table&gt; # a | b &#42;c&#42; &#91;d](e) <code>f&lt;g&gt;</code>" in text


def test_the_matrix_is_folded_in():
    """Each matrix is a part that opens, with a row for each wrong file and a legend."""
    made = matrix(*(RESULTS,))
    text = github.summary(verdict(), [made])
    assert "<details>\n<summary>double, torch: " in text
    assert "| `wrong/squares` | nothing | 1 | · | ■ |" in text
    assert "2. `test_zero` (values): catches 2 wrong files, 1 of them alone" in text
    assert "right/adds" not in text  # it fails nothing


def test_a_row_has_a_cell_for_each_column():
    """Otherwise GitHub would show the table as text, or cut it."""
    lines = github.summary(verdict(), [matrix(RESULTS)]).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert len(rows) == 2 + 2


def test_a_summary_is_short_enough_to_be_taken():
    """GitHub refuses a summary of more than 1 MiB as a whole, so what is too much is left out."""
    many = [replace(FAILS, line=line, text="é" * 900) for line in range(1, 3000)]
    large = matrix(*[wrong(f"w{i}_{'long' * 500}", "test_zero") for i in range(400)])
    text = github.summary(verdict(*many), [large, large, matrix(RESULTS)])
    assert len(text.encode()) < 2**20
    assert re.search(r"and \d+ more: see the log", text)
    assert "too large for this page" in text
    assert "`wrong/squares`" in text


# ---- the workflow


def commands(text: str) -> list[list[str]]:
    """The lines of a file that run `grade`, in words."""
    lines = re.findall(r"^(?:\s*run: )?grade (.*)$", text, re.MULTILINE)
    return [shlex.split(line) for line in lines]


def is_read(words: list[str]) -> bool:
    """Whether `grade` knows the command and its options; with --help nothing is run."""
    return CliRunner().invoke(cli._grade, [*words, "--help"]).exit_code == 0


@pytest.mark.skipif(not WORKFLOW.is_file(), reason="a learner's kit has no workflow")
@pytest.mark.parametrize("file", [WORKFLOW, GUIDE], ids=["workflow", "guide"])
def test_every_command_shown_exists(file):
    """Commands and options of the workflow and its guide are those of `grade`."""
    lines = commands(file.read_text(encoding="utf-8"))
    assert lines
    assert [words for words in lines if not is_read(words)] == []


def test_an_option_that_does_not_exist_would_be_found():
    """The test above reads command lines as strictly as the command does."""
    assert not is_read(["dev", "check", "--githup"])
    assert not is_read(["dev", "chekc"])


@pytest.mark.skipif(not WORKFLOW.is_file(), reason="a learner's kit has no workflow")
def test_the_workflow_is_one_and_may_only_read():
    """It is YAML, runs for pushes and requests, writes nothing, and keeps what the check writes."""
    yaml = pytest.importorskip("yaml")
    told = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert {*told[True]} == {"push", "pull_request"}  # YAML 1.1 takes `on` for True
    assert told["permissions"] == {"contents": "read"}
    (job,) = told["jobs"].values()
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    (line,) = commands("\n".join(step.get("run", "") for step in job["steps"]))
    kept = job["steps"][-1]["with"]["path"].split()
    assert {*kept} <= {*line}
