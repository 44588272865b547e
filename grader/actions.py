"""What GitHub Actions reads: workflow commands on the output, Markdown in the summary of a step."""

from __future__ import annotations

import html
import re

MOST_ANNOTATIONS = 10  # of one kind in a step; GitHub drops the others in silence
MOST_BYTES = 900_000  # GitHub takes 1 MiB, and of a longer summary nothing

_MARKDOWN = str.maketrans({mark: f"&#{ord(mark)};" for mark in "*[~\\"})


def command(name: str, text: str, **properties: str | int) -> str:
    """A workflow command: one line, whatever the text and the properties hold."""
    told = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {told}::{_data(text)}"


def markdown(text: str) -> str:
    """Text on one line for HTML or for Markdown outside tables; `words` as code."""
    escaped = html.escape(" ".join(text.split()), quote=False).translate(_MARKDOWN)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
