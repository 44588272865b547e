"""Pages in a terminal: formulas become readable text, code stays as it is."""

import io

import pytest
from rich.console import Console

from grader import formulas, pages
from tests.conftest import ROOT

PAGES = sorted((ROOT / "problems").glob("*/*.md"))


def laid_out(markdown: str, width: int = 80) -> str:
    out = io.StringIO()
    pages.show(markdown, Console(file=out, width=width, force_terminal=False))
    return out.getvalue()


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"a = \min\left(1, \frac{p_t}{q_t}\right)", "a = min(1, pₜ/qₜ)"),
        (r"\min(1,\ p[t] / q[t])", "min(1, p[t]/q[t])"),
        (r"\frac{\max(p - q, 0)}{\sum_j \max(p_j - q_j, 0)}",
         "max(p - q, 0) / (∑ⱼ max(pⱼ - qⱼ, 0))"),
        (r"\frac{a+b}{cd}", "(a + b) / (cd)"),
        (r"\frac{a}{b}\frac{c}{d}", "a/b · c/d"),
        (r"\frac12 x", "1/2 · x"),
        (r"\tfrac{x}{\text{total}}", "x/total"),
        (r"\log \frac{a}{b}", "log(a/b)"),
        (r"\sqrt{ab} + \sqrt 2", "√(ab) + √2"),
        (r"\sum_{i=0}^{K-1} p_i \le 1", "∑ᵢ₌₀ᴷ⁻¹ pᵢ ≤ 1"),
        (r"2^{-100}", "2⁻¹⁰⁰"),
        (r"q_{i,t} + p_K", "q_(i,t) + p_K"),
        (r"-1 < -x", "-1 < -x"),
        (r"\{0, \dots, K-1\}", "{0, …, K - 1}"),
        (r"\hat{p} \in \mathbb{R}^V", "p̂ ∈ ℝⱽ"),
        (r"\lVert p - q \rVert_1", "‖p - q‖₁"),
        (r"\texttt{draft\_probs}[t]", "draft_probs[t]"),
        (r"\Pr[\text{token } x] = q(x)\,a(x)", "Pr[token x] = q(x) a(x)"),
        (r"\underbrace{S}_{\text{rejected}}", "S (rejected)"),
        (r"\unknown", r"\unknown"),
    ],
)  # fmt: skip
def test_a_formula_reads_as_what_it_means(latex, text):
    """One line of Unicode, with brackets where the line would be ambiguous without."""
    assert formulas.unicode(latex) == text


def test_cases_are_one_line_each():
    """A definition by cases keeps its columns when it is displayed, and is one line in a text."""
    latex = r"r = \begin{cases} m / S & \text{if } S > 0 \\ 0 & \text{otherwise} \end{cases}"
    assert formulas.lines(latex) == ["r = { m/S   if S > 0", "    { 0   otherwise"]
    assert formulas.unicode(latex) == "r = { m/S   if S > 0; 0   otherwise"


def test_aligned_relations_stand_below_each_other():
    """The lines of a derivation keep their relation in one column."""
    latex = r"\begin{aligned} a + b &= c \\ &\le d \end{aligned}"
    assert formulas.lines(latex) == ["a + b = c", "      ≤ d"]


@pytest.mark.parametrize("broken", ["{", "}", "a_", "^", "\\", r"\frac{a", r"\begin{cases} a", "$"])
def test_a_broken_formula_is_shown_and_never_raises(broken):
    """What an author got wrong is for the author to see, not for the command to die of."""
    assert isinstance(formulas.unicode(broken), str)


def test_code_keeps_its_dollars():
    """A formula in code is code; an escaped dollar is a dollar; a price is no formula."""
    page = "`$p_i$` costs \\$3 or $4 and $p_i$.\n\n```sh\necho $HOME $p_i$\n```\n"
    assert pages.plain(page) == "`$p_i$` costs $3 or $4 and pᵢ.\n\n```sh\necho $HOME $p_i$\n```\n"


def test_a_displayed_formula_is_set_apart():
    """Between double dollars, or as a paragraph by itself, a formula has lines of its own."""
    assert pages.plain("Then\n\n$$\na_i \\\\ b\n$$\n\nand\n") == "Then\n\n    aᵢ\n    b\n\nand\n"
    assert pages.plain("Then\n\n$a_i = 1$\n\nand\n") == "Then\n\n    aᵢ = 1\n\nand\n"


def test_a_page_on_a_terminal_is_laid_out():
    """Markdown marks are gone, formulas are text, and no letter of a formula is read as a mark."""
    shown = laid_out("# Title\n\nKeep **all** of $a * b * c$ and $p[t]$.\n\n$$x_1 < 2$$\n")
    assert "Title" in shown
    assert "Keep all of a * b * c and p[t]." in shown
    assert "    x₁ < 2" in shown
    assert "**" not in shown


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_formula_of_the_kit_is_known(path):
    """No page of a problem shows LaTeX: no command is left, no dollar outside code."""
    markdown = path.read_text(encoding="utf-8")
    prose = "".join(block for block, is_code in pages._blocks(markdown) if not is_code)
    shown = pages.plain(prose)
    assert "\\" not in shown
    assert "$" not in shown
    assert laid_out(markdown).strip()
