"""Which submissions are the same code: the hash of a file without what is not code in it."""

from __future__ import annotations

import hashlib
import io
import tokenize

# Longer lines are not tokenized: tokenizers have taken the square of a line's length, or more.
_LONGEST_LINE = 2000
_LONGEST_TEXT = 256 * 1024


def source_group(text: str) -> str:
    """The hash of a source without comments, docstrings, blank lines and spaces at line ends.

    Any string that is a statement of its own counts as a docstring. A text that does not tokenize
    is compared by its lines, without those that are blank or begin with `#`. Nothing is compiled.
    """
    lines = text.split("\n")
    if len(text) <= _LONGEST_TEXT and max(map(len, lines)) <= _LONGEST_LINE:
        code = _without_comments(text)
    else:
        code = None
    if code is None:
        code = [
            line.rstrip() for line in lines if line.strip() and not line.lstrip().startswith("#")
        ]
    return hashlib.sha256("\n".join(code).encode("utf-8", "surrogatepass")).hexdigest()


_BETWEEN = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


def _without_comments(text: str) -> list[str] | None:
    """The lines of code, or None if the text does not tokenize."""
    lines = text.split("\n")
    inside_strings: set[int] = set()  # lines that end within a string: blanks there are its content
    statement: list[tokenize.TokenInfo] = []
    last = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            row, column = token.start
            if token.type == tokenize.ERRORTOKEN:
                return None
            if token.type == tokenize.COMMENT:
                lines[row - 1] = lines[row - 1][:column]
            elif token.type == tokenize.NEWLINE:
                if statement and all(_is_plain_string(part) for part in statement):
                    for each in range(statement[0].start[0], row + 1):
                        lines[each - 1] = ""
                        inside_strings.discard(each)
                statement = []
            elif token.type not in _BETWEEN:
                if token.type == tokenize.STRING or token.type in _IN_F_STRING:
                    inside_strings.update(range(row, token.end[0]))
                    if token.type in _IN_F_STRING:
                        inside_strings.update(range(last, row))
                statement.append(token)
            last = token.end[0]
    except (tokenize.TokenError, SyntaxError, ValueError, IndexError):
        return None
    return [
        line if row in inside_strings else line.rstrip()
        for row, line in enumerate(lines, start=1)
        if row in inside_strings or line.strip()
    ]


# From Python 3.12 on an f-string is several tokens.
_IN_F_STRING = {
    getattr(tokenize, name, -1) for name in ("FSTRING_MIDDLE", "FSTRING_END", "TSTRING_MIDDLE")
} - {-1}


def _is_plain_string(token: tokenize.TokenInfo) -> bool:
    """Whether a token is a string that computes nothing, so not an f-string."""
    return (
        token.type == tokenize.STRING
        and "f" not in token.string.partition(token.string[-1])[0].lower()
    )
