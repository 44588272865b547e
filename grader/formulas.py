r"""LaTeX formulas as one-line Unicode text, for a terminal.

`unicode(r"a = \min\left(1, \frac{p_t}{q_t}\right)")` is "a = min(1, pₜ/qₜ)". It knows the
mathematics that a problem page uses, not LaTeX: what it does not know stays in the text as it was
written. What it shows means what the formula means: a fraction or an index that one line would
make ambiguous gets brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_GREEK = {
    **dict(zip("alpha beta gamma delta epsilon zeta eta theta".split(), "αβγδεζηθ", strict=True)),
    **dict(zip("iota kappa lambda mu nu xi pi rho".split(), "ικλμνξπρ", strict=True)),
    **dict(zip("sigma tau phi chi psi omega".split(), "στφχψω", strict=True)),
    **dict(zip("Gamma Delta Theta Lambda Xi Pi Sigma".split(), "ΓΔΘΛΞΠΣ", strict=True)),
    **dict(zip("Phi Psi Omega varepsilon varphi".split(), "ΦΨΩεφ", strict=True)),
}
_SYMBOLS = {
    **_GREEK,
    "infty": "∞", "ell": "ℓ", "emptyset": "∅", "varnothing": "∅", "partial": "∂", "nabla": "∇",
    "ldots": "…", "dots": "…", "cdots": "⋯", "forall": "∀ ", "exists": "∃ ", "neg": "¬",
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩",
    "lvert": "|", "rvert": "|", "vert": "|", "lVert": "‖", "rVert": "‖", "Vert": "‖", "|": "‖",
    "lbrace": "{", "rbrace": "}", "{": "{", "}": "}", "$": "$", "%": "%", "&": "&", "#": "#",
    "lbrack": "[", "rbrack": "]", "bot": "⊥", "top": "⊤", "checkmark": "✓", "square": "□",
    "_": "_", "prime": "′", "degree": "°",
}  # fmt: skip
# Written with a space on both sides.
_BETWEEN = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">",
    "approx": "≈", "equiv": "≡", "sim": "~", "propto": "∝", "in": "∈", "notin": "∉", "ni": "∋",
    "subset": "⊂", "subseteq": "⊆", "cup": "∪", "cap": "∩", "setminus": "∖", "times": "×",
    "cdot": "·", "div": "÷", "pm": "±", "mp": "∓", "ast": "*", "circ": "∘", "colon": ":",
    "to": "→", "rightarrow": "→", "leftarrow": "←", "gets": "←", "mapsto": "↦", "leqslant": "≤",
    "Rightarrow": "⇒", "implies": "⇒", "Leftarrow": "⇐", "iff": "⇔", "Leftrightarrow": "⇔",
    "longrightarrow": "→", "land": "∧", "wedge": "∧", "lor": "∨", "vee": "∨", "mid": "|", "ll": "≪",
    "gg": "≫", "coloneqq": ":=", "geqslant": "≥", "parallel": "∥", "perp": "⊥", "bmod": "mod",
    "triangleq": "≜",
}  # fmt: skip
_LARGE = {"sum": "∑", "prod": "∏", "int": "∫", "bigcup": "⋃", "bigcap": "⋂"}
_NAMES = set(
    "min max sup inf lim log ln exp sin cos tan arg det dim Pr argmin argmax softmax".split()
)
_SPACES = {",": " ", ":": " ", ";": " ", " ": " ", "quad": "  ", "qquad": "    ", "!": "", ">": " "}
# Commands that change only how their argument looks, or how large a bracket is.
_STYLES = set(
    "mathrm mathit mathbf mathsf mathtt mathcal mathscr boldsymbol bm operatorname "
    "displaystyle textstyle scriptstyle left right big Big bigg Bigg bigl bigr Bigl Bigr biggl "
    "biggr Biggl Biggr middle limits nolimits mathop mathbin mathrel mathord boxed".split()
)
_TEXTS = set("text textrm textbf textit texttt textsf mbox emph".split())
_ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303"}
_ACCENTS |= {"bar": "\u0304", "overline": "\u0304", "vec": "\u20d7", "dot": "\u0307"}
_BLACKBOARD = dict(zip("CEHNPQRZ1", "ℂ𝔼ℍℕℙℚℝℤ𝟙", strict=True))
_LOWERED = dict(
    zip("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)
)
_RAISED = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW′*",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ′*",
        strict=True,
    )
)
_TOKEN = re.compile(r"\\([a-zA-Z]+\*?|.)|(\s+)|(.)", re.DOTALL)
_OPEN, _CLOSE = "([{⟨⌊⌈", ")]}⟩⌋⌉"


def unicode(latex: str) -> str:
    """One line of text for a formula given without its dollar signs."""
    first, *rest = lines(latex) or [""]
    return "; ".join([first, *(row.strip().removeprefix("{ ") for row in rest)])


def lines(latex: str) -> list[str]:
    """A displayed formula: one line, or one for each row of its `cases` or `aligned`."""
    reader = _Reader([_Token(*match.groups()) for match in _TOKEN.finditer(latex)])
    rows = [row for row in _text(reader.pieces(until=None)).split(_ROW) if row.strip()]
    return [re.sub(r"(?<=\S) {3,}(?=\S)", "   ", row.rstrip()) for row in rows]


@dataclass(frozen=True)
class _Token:
    command: str | None
    space: str | None
    char: str | None


@dataclass(frozen=True)
class _Piece:
    """A bit of output. kind: atom, word, large (a sum), fraction, text, between (operator or
    relation), comma, space, braced (underbrace), rows (of cases)."""

    text: str
    kind: str = "atom"


# Stand for the end of a row and of a cell of `cases` or `aligned` until the whole text is known.
_ROW, _CELL = "\0", "\1"


class _Reader:
    """Reads tokens into pieces; a group, a fraction or an indexed symbol is one piece."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._at = tokens, 0

    def pieces(self, until: str | None) -> list[_Piece]:
        """Everything up to the closing `}` or `\\end` (taken too), or up to the end."""
        found: list[_Piece] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if until == "}" and token.char == "}":
                return found
            if until == "end" and token.command == "end":
                self._raw_group()
                return found
            if token.char in ("_", "^"):
                base = found.pop() if found and found[-1].kind != "space" else _Piece("")
                found.append(_indexed(base, str(token.char), self._argument()))
            elif token.char == "'":
                found.append(_indexed(found.pop() if found else _Piece(""), "^", "′"))
            else:
                found += self._piece(token)
        return found

    def _piece(self, token: _Token) -> list[_Piece]:
        if token.space is not None:
            return []
        if token.char is not None:
            return [self._character(token.char)]
        return self._command(str(token.command))

    def _character(self, char: str) -> _Piece:
        if char == "{":
            return _Piece(_text(self.pieces(until="}")))
        if char in "+-=<>*":
            return _Piece(char, "between")
        if char in ",;":
            return _Piece(char, "comma")
        if char == ":":
            return _Piece(char, "comma")
        if char == "&":
            return _Piece(_CELL, "space")
        return _Piece(" ", "space") if char == "~" else _Piece(char)

    def _command(self, name: str) -> list[_Piece]:
        name = name.removesuffix("*")
        if name in _SYMBOLS:
            return [_Piece(_SYMBOLS[name])]
        if name in _BETWEEN:
            return [_Piece(_BETWEEN[name], "between")]
        if name in _LARGE:
            return [_Piece(_LARGE[name], "large")]
        if name in _NAMES:
            return [_Piece(name, "word")]
        if name in _SPACES:
            return [_Piece(_SPACES[name], "space")]
        if name in _TEXTS:
            return [_Piece(self._raw_group(), "text")]
        if name in ("operatorname", "mathrm", "mathsf", "mathtt", "mathit", "mathbf"):
            word = self._argument()
            return [_Piece(word, "word" if len(word) > 1 else "atom")]
        if name in _STYLES:
            return self._delimiter() if name in ("left", "right") else []
        return self._built(name)

    def _built(self, name: str) -> list[_Piece]:
        match name:
            case "frac" | "dfrac" | "tfrac":
                above, below = self._group(), self._group()
                text = _fraction(_text(above), _text(below), single=len(below) == 1)
                return [_Piece(text, "fraction")]
            case "sqrt":
                return [_Piece("√" + _bracketed(self._argument()))]
            case "binom":
                return [_Piece(f"C({self._argument()}, {self._argument()})")]
            case "mathbb" | "mathds":
                word = self._argument()
                return [_Piece("".join(_BLACKBOARD.get(char, char) for char in word))]
            case "underbrace" | "overbrace":
                return [_Piece(self._argument(), "braced")]
            case "substack":
                return [_Piece(self._argument().replace(_ROW, ", "))]
            case "pmod":
                return [_Piece(f" (mod {self._argument()})")]
            case "tag" | "label":
                self._raw_group()
                return []
            case "begin":
                return [self._environment()]
            case "\\":
                return [_Piece(_ROW, "space")]
        if name in _ACCENTS:
            text = self._argument()
            mark = _ACCENTS[name]
            return [_Piece(text + mark if len(text) == 1 else f"{name}({text})")]
        return [_Piece("\\" + name, "word")]

    def _environment(self) -> _Piece:
        kind = self._raw_group().removesuffix("*")
        if kind == "array":
            self._raw_group()
        rows = _text(self.pieces(until="end")).split(_ROW)
        table = [[cell.strip() for cell in row.split(_CELL)] for row in rows if row.strip()]
        if kind.endswith("matrix") or kind == "array":
            return _Piece("[" + "; ".join(" ".join(row) for row in table) + "]")
        widest = max((len(row[0]) for row in table), default=0)
        if kind == "cases":
            rows = ["   ".join([row[0].ljust(widest), *row[1:]]) for row in table]
            return _Piece("{ " + _ROW.join(rows), "rows")
        # `aligned`: the left-hand sides end where the relations begin.
        rows = [" ".join([row[0].rjust(widest), *row[1:]]) for row in table]
        return _Piece(_ROW.join(rows), "rows")

    def _delimiter(self) -> list[_Piece]:
        """What follows `\\left` or `\\right`: a lone full stop is no bracket at all."""
        if self._at < len(self._tokens) and self._tokens[self._at].char == ".":
            self._at += 1
        return []

    def _argument(self) -> str:
        """The next group, or the next single token, as text."""
        return _text(self._group())

    def _group(self) -> list[_Piece]:
        """The next group, or the next single token, in pieces."""
        while self._at < len(self._tokens) and self._tokens[self._at].space is not None:
            self._at += 1
        if self._at == len(self._tokens):
            return []
        token = self._tokens[self._at]
        self._at += 1
        return self.pieces(until="}") if token.char == "{" else self._piece(token)

    def _raw_group(self) -> str:
        """The next group word for word, with its spaces."""
        while self._at < len(self._tokens) and self._tokens[self._at].char != "{":
            if self._tokens[self._at].space is None:
                return ""
            self._at += 1
        depth, taken = 0, ""
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            depth += {"{": 1, "}": -1}.get(token.char or "", 0)
            if depth == 0:
                break
            if token.command is not None:
                taken += _SYMBOLS.get(token.command, _SPACES.get(token.command, ""))
            elif not (token.char == "{" and depth == 1) and token.char != "$":
                taken += token.space or token.char or ""
        return taken


def _text(pieces: list[_Piece]) -> str:
    """The pieces side by side, with a space where mathematics has one."""
    out, previous = "", _Piece("", "start")
    for piece in pieces:
        unary = piece.text in "+-±" and (
            previous.kind in ("start", "between", "comma", "large") or out.endswith(tuple(_OPEN))
        )
        if piece.kind == "between" and not unary:
            out = out.rstrip(" ") + f" {piece.text} " if piece.text else out
        elif piece.kind == "comma":
            out = out.rstrip(" ") + piece.text + " "
        elif previous.kind == "comma" and piece.text == " ":
            continue
        elif previous.kind == "word" and piece.kind == "fraction":
            out += f"({piece.text})"
        elif "fraction" in (piece.kind, previous.kind) and _is_product(previous, piece):
            out += f" · {piece.text}"
        elif piece.kind in ("word", "large") and previous.kind in ("atom", "word", "large"):
            joined = out.endswith((*_OPEN, " ", "|", "‖")) or not out
            out += piece.text if joined else " " + piece.text
        elif previous.kind == "large" or (previous.kind == "word" and piece.kind == "atom"):
            joined = piece.text[:1] in (*_OPEN, *_CLOSE, "|", "") and previous.kind == "word"
            out += piece.text if joined else " " + piece.text
        else:
            out += piece.text
        if piece.kind == "rows":
            out = _laid_out(out)
        previous = _Piece(piece.text, "comma") if unary else piece
        if piece.text in (_ROW, _CELL):
            previous = _Piece("", "start")
    tight = re.sub(r" +([)\]},;.])", r"\1", re.sub(r"(?<=[(\[]) +", "", out))
    return tight.rstrip(" ") if pieces and pieces[0].kind == "rows" else tight.strip(" ")


def _is_product(left: _Piece, right: _Piece) -> bool:
    """Whether two things side by side are multiplied, rather than a bracket and what it holds."""
    things = ("atom", "fraction")
    open_or_bar, close_or_bar = (*_OPEN, "|", "‖"), (*_CLOSE, "|", "‖", ".", "!", "")
    return (
        left.kind in things
        and right.kind in (*things, "word", "large")
        and not left.text.endswith(open_or_bar)
        and right.text[:1] not in close_or_bar
    )


def _laid_out(text: str) -> str:
    """Rows of `cases` after a left-hand side: each further row starts below the first."""
    first, *rest = text.split(_ROW)
    if "{ " not in first or not rest:
        return text
    indent = " " * first.index("{ ")
    return _ROW.join([first, *(f"{indent}{{ {row}" for row in rest)])


def _indexed(base: _Piece, mark: str, index: str) -> _Piece:
    """`base` with a lower or upper index: small characters where all of them exist."""
    if base.kind == "braced":
        return _Piece(f"{base.text} ({index})")
    index = index.replace(", ", ",")
    small = _LOWERED if mark == "_" else _RAISED
    tight = index.replace(" ", "")
    if all(char in small for char in tight):
        return _Piece(base.text + "".join(small[char] for char in tight), base.kind)
    plain = len(index) == 1 or index.isalnum()
    return _Piece(base.text + mark + (index if plain else f"({index})"), base.kind)


def _fraction(above: str, below: str, single: bool) -> str:
    top = above if _is_term(above) else f"({above})"
    bottom = below if single and re.fullmatch(r"\w+", below) else _bracketed(below)
    return f"{top} / {bottom}" if " " in top + bottom else f"{top}/{bottom}"


def _bracketed(text: str) -> str:
    """`text`, in brackets unless it is one thing already: a symbol, a number, a call, a group."""
    one = _SYMBOL.fullmatch(text) or (_CALL.match(text) and _is_group(text))
    return text if one else f"({text})"


_SYMBOL = re.compile(r"(\d[\d.]*|[^\W\d_][\u0302-\u0304]?)[₀-₎ₐ-ₜⱼᵢ-ᵥ⁰-⁾ᵃ-ᶻ′]*|[^\W\d_]_\w")
_CALL = re.compile(r"[\w₀-₎ₐ-ₜⱼᵢ-ᵥ′]*[(\[]")


def _is_term(text: str) -> bool:
    """Whether no sum or relation stands outside brackets, so that it may be divided as it is."""
    depth, outside = 0, ""
    for char in text:
        depth += (char in _OPEN) - (char in _CLOSE)
        outside += char if depth == 0 else ""
    return not re.search(r"[-+=<>≤≥~∑∏∫/|, ]", outside)


def _is_group(text: str) -> bool:
    """Whether the first bracket that opens is the last to close, at the very end."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char in _OPEN) - (char in _CLOSE)
        if char in _CLOSE and depth == 0:
            return place == len(text) - 1
    return False
