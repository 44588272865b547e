"""Text that a learner controls becomes text that is safe to show and store."""

from __future__ import annotations

import json
import re
import site
import sys
import sysconfig
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grader
from grader.clean import TEXT_LIMIT, clean, clean_line

CLEANED = {
    "plain text": ("x = 1/3 ≈ 0,33 €\n\tnext", "x = 1/3 ≈ 0,33 €\n\tnext"),
    "letters of any script": ("naïve Größe 語 \U0001f600 עברית", "naïve Größe 語 \U0001f600 עברית"),
    "colours": ("\x1b[1;31mred\x1b[0m", "red"),
    "cursor and screen": ("a\x1b[2J\x1b[H\x1b[10;10Hb\x1b[?25lc", "abc"),
    "a sequence with an intermediate": ("a\x1b[0 qb", "ab"),
    "window title": ("a\x1b]0;PASSED\x07b", "ab"),
    "link": ("\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\", "here"),
    "an operating system command without an end": ("a\x1b]0;title", "a"),
    "a lone escape": ("a\x1b", "a"),
    "reset": ("a\x1bcb", "ab"),
    "an escape in an escape": ("\x1b[\x1b[31m31mred", "31mred"),
    "C1 controls": ("a\x9b31mb\x85c\x90d", "a31mbcd"),
    "C0 controls": ("a\x00b\x07c\x08d\x0be\x0cf\x1fg\x7fh", "abcdefgh"),
    "carriage returns": ("earned 0\rearned 9\r\nnext", "earned 0\nearned 9\nnext"),
    "bidirectional": ("a\u202eb\u2066c\u2069d\u200fe\u061cf", "abcdef"),
    "invisible": ("a\u200bb\u2060c\ufeffd", "abcd"),
    "line separators": ("a\u2028b\u2029c", "abc"),
    "lone surrogates": ("a\ud800b\udfffc", "abc"),
    "noncharacters": ("a\ufffeb\uffffc\ufdd0d", "abcd"),
    "tags": ("a\U000e0041b\U000e0100c", "abc"),
    "what was not UTF-8": (b"a\xffb".decode("utf-8", "replace"), "a\ufffdb"),
    "markup is not ours to touch": ("<b>[red]x[/red]</b>", "<b>[red]x[/red]</b>"),
}


@pytest.mark.parametrize(("text", "cleaned"), CLEANED.values(), ids=CLEANED)
def test_cleaned(text: str, cleaned: str) -> None:
    """Escape sequences, controls and invisible characters go; what can be read stays."""
    assert clean(text) == cleaned


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(codec=None), max_size=60))
def test_any_text_is_safe(text: str) -> None:
    """Whatever the text, it has no controls left, can be written as UTF-8, JSON and XML."""
    cleaned = clean(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n" for c in cleaned)
    assert json.loads(json.dumps(cleaned).encode("utf-8")) == cleaned
    element = ElementTree.Element("text")
    element.text = cleaned
    assert ElementTree.fromstring(ElementTree.tostring(element)).text in (cleaned, cleaned or None)


@settings(max_examples=300, deadline=None)
@given(st.text("\x1b[]0;mH?\x07\\\x9b\u202ea \n", max_size=40))
def test_no_escape_sequence_can_be_built(text: str) -> None:
    """However escape sequences are nested and cut, no escape or bell is left over."""
    assert not re.search("[\x1b\x07\x9b\u202e]", clean(text))


def test_long_text_keeps_its_ends() -> None:
    """A long text keeps its head and its tail, and says how much was cut between."""
    text = "a" * 3000 + "b" * 10_000 + "c" * 1000
    cleaned = clean(text)
    assert cleaned == f"{'a' * 3000}\n… 10000 characters cut …\n{'c' * 1000}"


@pytest.mark.parametrize("limit", [4, 20, 80, 200, TEXT_LIMIT])
def test_text_is_bounded(limit: int) -> None:
    """No text is longer than its limit and the remark on what was cut."""
    assert len(clean("x" * 1_000_000, limit)) <= limit + 40
    assert clean("x" * limit, limit) == "x" * limit


@pytest.mark.parametrize(
    "text",
    ["\x1b[" * 100_000, "\x1b[" + "0" * 200_000, "\x1b]" * 100_000, "\x1b" * 200_000, "\r" * 10**6],
    ids=["openings", "parameters", "commands", "escapes", "returns"],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    """Text made to confuse the patterns is cleaned in linear time: this test would not end else."""
    assert len(clean(text)) <= TEXT_LIMIT + 40


def test_one_line() -> None:
    """`clean_line` makes one line of any text, with single spaces."""
    assert clean_line(" a\n\tb \r\n c\u2028d\x1b[31m ") == "a b cd"
    assert "\n" not in clean_line("x\n" * 10_000, 80)


@pytest.mark.parametrize(
    ("folder", "shown"),
    [
        (Path(grader.__file__).parent, "grader"),
        (site.getsitepackages()[0], "site-packages"),
        (sysconfig.get_path("stdlib"), "python"),
        (sys.prefix, "python"),
    ],
)
def test_folders_of_this_machine_are_shortened(folder: str | Path, shown: str) -> None:
    """A path of this installation is told without where this installation lies."""
    assert clean(f'File "{folder}/a/b.py", line 3') == f'File "{shown}/a/b.py", line 3'


def test_the_learners_own_paths_stay() -> None:
    """A path that is not of this installation is the learner's to read."""
    assert clean("no file data/weights.pt") == "no file data/weights.pt"
