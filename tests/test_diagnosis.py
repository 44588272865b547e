"""What a wrong submission looks like is told where the answers show it, and only there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader import diagnosis, kit, problem, session, submission_file
from grader.dev import diagnose, scaffold
from grader.faults import KitFault
from grader.report import Cause, Report
from grader.workers import Launcher, launcher
from tests import dev_kits
from tests.conftest import ROOT

QUESTIONS = '''\
"""Questions about every kind of row."""

from grader.diagnosis import Question, Sitting
from problems.soft.cases import case


def sittings(library, device, draws):
    """Ordinary rows, equal ones, single ones and large ones; some once more, written over."""
    asked = [
        *(Question("ordinary rows", case([1.0, i, 3.0], 2.0, "three")) for i in (0.5, 1, 2, 4, 7)),
        *(Question("cold rows", case([1.0, i, 2.0], 0.5, "cold")) for i in (0.5, 1.5, 4, 7)),
        *(Question("equal logits", case([x, x], 1.5, "equal")) for x in (0.0, 0.25, -3.0)),
        Question("a single logit", case([3.0], 2.0, "one")),
        Question("large logits", case([10_000.0, 9_999.0], 1.0, "large")),
    ]
    return [Sitting(tuple(asked)), Sitting(tuple(asked[:6]), private=True)]
'''

MULTIPLIES = "You multiply the logits by the temperature, and they are to be divided by it."
RIGHT_BUT = "Your numbers are right, and what carries them is not: answer has the wrong "

SUBMISSIONS = {
    "the same mistake in other words": (
        "y = logits * temperature; e = (y - y.max()).exp(); return e / e.sum()",
        Cause(MULTIPLIES, 1),
    ),
    "the same mistake in a list": (
        "return torch.softmax(logits * temperature, 0).tolist()",
        Cause(MULTIPLIES, 1),
    ),
    "right numbers of another dtype": (
        "return torch.softmax(logits / temperature, 0).double()",
        Cause(RIGHT_BUT + "dtype.", None),
    ),
    "right numbers in a list": (
        "return torch.softmax(logits / temperature, 0).tolist()",
        Cause(RIGHT_BUT + "type.", None),
    ),
    "a seed is set on the way": (
        "torch.manual_seed(3); return torch.softmax(logits / temperature, 0)",
        None,  # no check of this problem asks for it, so there are full marks
    ),
    "one kind of input alone": (
        "y = torch.softmax(logits / temperature, 0)\n"
        "    return torch.zeros_like(y) if logits.max() > 1000 else y",
        Cause("You are right with every kind of input that was tried but one: large logits.", None),
    ),
    "nan everywhere": (
        "return logits * float('nan')",
        Cause("Your answer is nan, as 0/0 or the logarithm of -1 is.", None),
    ),
    "something else": ("return torch.sigmoid(logits / temperature)", None),
    "nothing": ("return None", None),
    "an exception": ("return logits.no_such_method()", None),
    "right": ("return torch.softmax(logits / temperature, dim=-1)", None),
}

Grade = Callable[..., Report]


@pytest.fixture(name="started", scope="module")
def _started() -> Iterator[Launcher]:
    started = launcher("auto")
    yield started
    started.close()


@pytest.fixture(name="root", scope="module")
def _root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit with one problem that is diagnosed."""
    root = tmp_path_factory.mktemp("diagnosed") / "kit"
    root.mkdir()
    scaffold.write(scaffold.kit_in(root), "soft")
    dev_kits.add(root, "problems/soft/diagnosis.py", QUESTIONS)
    diagnose.write(kit.find(root), problem.load(kit.find(root), "soft"))
    return root


@pytest.fixture(name="grade")
def _grade(root: Path, started: Launcher, tmp_path: Path) -> Grade:
    def grade(body: str, folder: Path = root) -> Report:
        file = tmp_path / "soft.py"
        text = f"import torch\n\n\ndef soft(logits, temperature):\n    {body}\n"
        file.write_text(text, encoding="utf-8")
        return grade_file(folder, "soft", file, started)

    return grade


def grade_file(folder: Path, slug: str, file: Path, started: Launcher) -> Report:
    found = kit.find(folder)
    return session.grade(
        found,
        problem.load(found, slug),
        submission_file.read(file),
        library="torch",
        seed=1,
        started=started,
    )


@pytest.mark.parametrize(("body", "cause"), SUBMISSIONS.values(), ids=SUBMISSIONS.keys())
def test_what_the_answers_show_is_told(grade, body, cause):
    """A mistake that is known, in any words, has its sentence; what is not known has none."""
    assert grade(body).likely_cause == cause


def test_a_learners_kit_diagnoses_too(root, grade, tmp_path):
    """Without solutions/ the same mistake is told in the same words."""
    shutil.copytree(root, tmp_path / "kit", ignore=shutil.ignore_patterns("solutions"))
    report = grade("return torch.softmax(logits * temperature, 0)", tmp_path / "kit")
    assert report.likely_cause == Cause(MULTIPLIES, 1)


def test_a_problem_without_questions_is_not_diagnosed(root, grade, tmp_path):
    """A problem needs no diagnosis.py, and nothing is told then."""
    shutil.copytree(root, tmp_path / "kit", ignore=shutil.ignore_patterns("diagnosis.*"))
    assert grade("return logits", tmp_path / "kit").likely_cause is None


def test_questions_without_stored_answers_tell_what_they_can(root, grade, tmp_path):
    """Where no answers are stored no file is recognised, and what answers show is told."""
    shutil.copytree(root, tmp_path / "kit", ignore=shutil.ignore_patterns("diagnosis.json"))
    report = grade("return torch.softmax(logits / temperature, 0).double()", tmp_path / "kit")
    assert report.likely_cause == Cause(RIGHT_BUT + "dtype.", None)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1, "libraries": 3}'])
def test_broken_answers_are_a_fault_of_the_kit(root, grade, tmp_path, text):
    """A diagnosis.json that cannot be read is told with the command that writes it anew."""
    shutil.copytree(root, tmp_path / "kit")
    dev_kits.add(tmp_path / "kit", "problems/soft/diagnosis.json", text)
    with pytest.raises(KitFault, match="grade dev diagnose soft"):
        grade("return logits", tmp_path / "kit")


@pytest.mark.parametrize(
    "text",
    [
        "import no_such_module\n",
        "def sittings(:\n",
        "",
        "def sittings(library, device, draws):\n    raise ValueError\n",
        "def sittings(library, device, draws):\n    return []\n",
        "def sittings(library, device, draws):\n    return ['one']\n",
    ],
)
def test_broken_questions_are_a_fault_of_the_kit(grade, tmp_path, started, text):
    """A diagnosis.py that cannot be asked is told by its name, not as a crash of the grader."""
    root = tmp_path / "kit"
    root.mkdir()
    # A slug of its own: Python imports a module once.
    slug = f"soft{abs(hash(text))}"
    scaffold.write(scaffold.kit_in(root), slug)
    dev_kits.add(root, f"problems/{slug}/diagnosis.py", text)
    with pytest.raises(KitFault, match=f"problems/{slug}/diagnosis.py: "):
        grade_file(root, slug, root / f"templates/{slug}.py", started)


@pytest.mark.parametrize("key", ["row", "sentence", "hint"])
def test_answers_changed_by_hand_are_refused(root, grade, tmp_path, key):
    """What learners are told was written by `grade dev diagnose`, to the letter."""
    shutil.copytree(root, tmp_path / "kit")
    path = tmp_path / "kit/problems/soft/diagnosis.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f'"{key}": ', f'"{key}":  ', 1), encoding="utf-8")
    with pytest.raises(KitFault, match="changed by hand"):
        grade("return logits", tmp_path / "kit")


def test_a_wrong_reference_stores_nothing(root, tmp_path):
    """Where the reference is wrong on a question nothing is written."""
    shutil.copytree(root, tmp_path / "kit", ignore=shutil.ignore_patterns("diagnosis.json"))
    dev_kits.edit(
        tmp_path / "kit", "solutions/soft/solution.py", "weights / weights.sum()", "weights"
    )
    found = kit.find(tmp_path / "kit")
    with pytest.raises(KitFault, match="the reference is wrong on a question about"):
        diagnose.write(found, problem.load(found, "soft"))
    assert not (tmp_path / "kit/problems/soft/diagnosis.json").exists()


def test_what_is_stored_is_the_same_every_time(root):
    """Writing the answers again changes no byte."""
    found = kit.find(root)
    path = diagnosis.path_of(problem.load(found, "soft"))
    before = path.read_bytes()
    diagnose.write(found, problem.load(found, "soft"))
    assert path.read_bytes() == before


def test_nothing_secret_is_stored(root):
    """The stored answers hold sentences and numbers: no code and no name of a file."""
    text = diagnosis.path_of(problem.load(kit.find(root), "soft")).read_text(encoding="utf-8")
    assert "multiplies" not in text
    assert "softmax(" not in text
    assert json.loads(text)["libraries"].keys() == {"torch"}


def test_the_learner_reads_it(grade, root, tmp_path):
    """The screen tells the likely cause and the hint to read next."""
    from grader import render

    report = grade("return torch.softmax(logits * temperature, 0)")
    screen = render.plain(
        render.screen(report, marks=render.WORDS, again="…", hidden_points=0, full=False)
    )
    assert MULTIPLIES in " ".join(screen.split())
    assert "grade hint soft 1" in screen


needs_solutions = pytest.mark.skipif(
    kit.find().solutions is None, reason="this kit has no solutions"
)


def _swapped(slug: str) -> str:
    names = {"verify": "(p, q, t)", "step": "(p, q, t, generator=None)"}[slug]
    call = {"verify": "(q, p, t)", "step": "(q, p, t, generator)"}[slug]
    source = (ROOT / f"solutions/{slug}/solution.py").read_text(encoding="utf-8")
    return (
        f"{source}\n\nright = speculative_decode_step\n\n\n"
        f"def speculative_decode_step{names}:\n    return right{call}\n"
    )


@needs_solutions
@pytest.mark.parametrize("slug", ["verify", "step"])
def test_swapped_arguments_are_recognised(started, tmp_path, slug):
    """A function that takes the target first, as other texts do, is told so."""
    (tmp_path / f"{slug}.py").write_text(_swapped(slug), encoding="utf-8")
    report = grade_file(ROOT, slug, tmp_path / f"{slug}.py", started)
    assert report.likely_cause is not None
    assert "first" in report.likely_cause.sentence


# Wrong in a way that no sentence fits but the general ones; each was once told a false one.
NOT_ACCUSED = {
    "a draft is cut at five": ("draft_tokens = draft_tokens[:5]", "1.0", "first coin"),
    "a ratio is raised": ("", "1.2", "first coin"),
    "a bonus from likely tokens": (
        "target_probs = target_probs.where(target_probs > 0.2, torch.zeros(()))",
        "1.0",
        "draw nothing else",
    ),
}


@needs_solutions
@pytest.mark.parametrize(("head", "factor", "false"), NOT_ACCUSED.values(), ids=NOT_ACCUSED)
def test_a_near_miss_is_not_accused(started, tmp_path, head, factor, false):
    """A mistake that only resembles a known one is not told that one's sentence."""
    (tmp_path / "step.py").write_text(
        f"""\
import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    {head or "pass"}
    kept = []
    for i, t in enumerate(draft_tokens.tolist()):
        ratio = (target_probs[i, t] / draft_probs[i, t]).item()
        if torch.rand((), generator=generator).item() < min(1.0, {factor} * ratio):
            kept.append(t)
            continue
        w = (target_probs[i] - draft_probs[i]).clamp(min=0)
        return torch.tensor([*kept, int(torch.multinomial(w, 1, generator=generator))]), i
    w = target_probs[len(kept)]
    return torch.tensor([*kept, int(torch.multinomial(w, 1, generator=generator))]), len(kept)
""",
        encoding="utf-8",
    )
    report = grade_file(ROOT, "step", tmp_path / "step.py", started)
    told = report.likely_cause.sentence if report.likely_cause else ""
    assert (report.score < report.max_score, false in told) == (True, False)


# How `step` may draw, all of the right law: what the learner hears must name the broken rule.
OTHER_DRAWS = {
    "all coins first": (
        "coins = torch.rand(len(draft_tokens), generator=generator).tolist()",
        "coins[i]",
        "torch.multinomial(w, 1, generator=generator)",
        "at the start",
    ),
    "a float64 coin": (
        "",
        "torch.rand((), generator=generator, dtype=torch.float64).item()",
        "torch.multinomial(w, 1, generator=generator)",
        "float64",
    ),
    "another sampler": (
        "",
        "torch.rand((), generator=generator).item()",
        "torch.searchsorted(w.cumsum(0) / w.sum(), torch.rand((), generator=generator))",
        "torch.multinomial",
    ),
    "the generator is not used": (
        "",
        "torch.rand(()).item()",
        "torch.multinomial(w, 1)",
        "generator",
    ),
}


@needs_solutions
@pytest.mark.parametrize(("before", "coin", "pick", "word"), OTHER_DRAWS.values(), ids=OTHER_DRAWS)
def test_other_draws_are_told_apart(started, tmp_path, before, coin, pick, word):
    """Of an answer of the right law with other draws the rule that is broken is named."""
    (tmp_path / "step.py").write_text(
        f"""\
import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    {before or "pass"}
    kept = []
    for i, t in enumerate(draft_tokens.tolist()):
        if {coin} < (target_probs[i, t] / draft_probs[i, t]).item():
            kept.append(t)
            continue
        w = (target_probs[i] - draft_probs[i]).clamp(min=0)
        return torch.tensor([*kept, int({pick})]), i
    w = target_probs[-1]
    return torch.tensor([*kept, int({pick})]), len(kept)
""",
        encoding="utf-8",
    )
    report = grade_file(ROOT, "step", tmp_path / "step.py", started)
    assert report.verdict == "lossless_other_draws"
    assert report.likely_cause is not None
    assert word in report.likely_cause.sentence


# Answers of the right types that have nothing to do with the question.
NONSENSE = {
    "verify": """\
import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    generator = torch.Generator().manual_seed({seed})
    row = torch.rand(draft_probs.shape, generator=generator, dtype=torch.float64)
    residual = (row / row.sum()).to(draft_probs.dtype)
    return {{"accept_prob": float(row[0]), "residual": residual}}
""",
    "step": """\
import random

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    draw = random.Random({seed} * 1000 + target_probs.numel())
    n = draw.randint(0, len(draft_tokens))
    last = draw.randrange(target_probs.shape[1])
    return torch.tensor([*draft_tokens[:n].tolist(), last]), n
""",
}


@needs_solutions
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("slug", ["verify", "step"])
def test_nonsense_is_accused_of_nothing(started, tmp_path, slug, seed):
    """An answer that is wrong in no known way is told no likely cause."""
    (tmp_path / f"{slug}.py").write_text(NONSENSE[slug].format(seed=seed), encoding="utf-8")
    report = grade_file(ROOT, slug, tmp_path / f"{slug}.py", started)
    assert (report.score < report.max_score, report.likely_cause) == (True, None)
