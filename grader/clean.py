"""The one place where text that a learner controls becomes text that is safe to show and store."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

TEXT_LIMIT = 4000

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?", re.DOTALL)
# C0 but tab and newline, DEL, C1, bidirectional and invisible formatting, lone surrogates,
# line and paragraph separators, noncharacters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def clean(text: str, limit: int = TEXT_LIMIT) -> str:
    """The text without escape sequences, control, bidirectional and surrogate characters.

    Longer text keeps its head and its tail, and says how much was cut. Paths of this machine's
    Python are shortened, since they say nothing to a learner and something about the machine.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _UNSAFE.sub("", _ANSI.sub("", text))
    for folder, short in _machine_folders():
        text = text.replace(folder, short)
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    cut = len(text) - head - tail
    return f"{text[:head]}\n… {cut} characters cut …\n{text[-tail:]}"


def clean_line(text: str, limit: int = 200) -> str:
    """As `clean`, on one line."""
    return " ".join(clean(text, limit).split())


@cache
def _machine_folders() -> tuple[tuple[str, str], ...]:
    """Folders of this installation and what is shown instead, longest first."""
    import site
    import sysconfig

    folders = {str(Path(__file__).resolve().parent): "grader"}
    for path in (*site.getsitepackages(), sysconfig.get_path("purelib")):
        folders[path] = "site-packages"
    folders[sysconfig.get_path("stdlib")] = "python"
    for path in (sys.prefix, sys.base_prefix):
        if path not in ("/", "/usr", "/usr/local"):  # where much else lies too
            folders[path] = "python"
    return tuple(sorted(folders.items(), key=lambda item: -len(item[0])))
