"""`grade dev check`: a sound kit passes it, and each rule broken by hand is told with its cure.

One kit holds a problem for every rule that takes gradings to see, broken in that place alone, and
is checked once. The rules of files alone are tested in `test_rules.py`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits
from grader import problem as problems
from grader.dev import check, diagnose, fails, known, scaffold
from grader.dev.check import Verdict
from grader.dev.complaints import Complaint
from grader.kit import Kit
from tests import dev_kits
from tests.conftest import ROOT
from tests.kits import processes

DIAGNOSIS = '''\
"""Three questions."""

from grader.diagnosis import Question, Sitting
from problems.{slug}.cases import case


def sittings(library, device, draws):
    """Ordinary rows, and a large one."""
    return [
        Sitting(
            (
                Question("ordinary rows", case([1.0, 2.0], 2.0, "two logits")),
                Question("ordinary rows", case([0.5, 2.0, 1.0], 0.5, "three logits")),
                Question("large logits", case([10_000.0, 9_999.0], 1.0, "large logits")),
            )
        )
    ]
'''

MULTIPLIES = "solutions/{slug}/wrong/multiplies.py"
FAILS = "fails: test_worked_examples, test_fresh_rows\n"


def _reference(root: Path, slug: str) -> None:
    old = "return weights / weights.sum()"
    dev_kits.edit(root, f"solutions/{slug}/solution.py", old, "return weights")


def _stub(root: Path, slug: str) -> None:
    dev_kits.edit(root, f"templates/{slug}.py", "import torch\n", "import no_such_module\n")


def _nothing(root: Path, slug: str) -> None:
    """A check that looks at the arguments alone."""
    old = "    submission.check(\n        [\n            case([1.0, 2.0, 3.0], 1.0"
    new = "    submission.outcomes(\n        [\n            case([1.0, 2.0, 3.0], 1.0"
    dev_kits.edit(root, f"problems/{slug}/checks.py", old, new)
    dev_kits.edit(root, f"problems/{slug}/checks.py", "        unchanged=True,\n", "")


def _right(root: Path, slug: str) -> None:
    path = f"solutions/{slug}/right/through_log_softmax.py"
    dev_kits.edit(root, path, "logits / temperature", "logits * temperature")


def _stream(root: Path, slug: str) -> None:
    text = (root / f"solutions/{slug}/right/through_log_softmax.py").read_text(encoding="utf-8")
    story, quotes, code = text.partition('"""\n')[0], '"""\n', text.partition('"""\n')[2]
    told = f"{story}\n\nhear: other draws.\n{quotes}{code}"
    dev_kits.add(root, f"solutions/{slug}/stream/other.py", told)


def _survivor(root: Path, slug: str) -> None:
    right = root / f"solutions/{slug}/right/through_log_softmax.py"
    code = right.read_text(encoding="utf-8").partition('"""\n')[2]
    story = '"""Does it right.\n\nhear: nothing.\nfails: test_fresh_rows\n"""\n'
    dev_kits.add(root, f"solutions/{slug}/wrong/survivor.py", story + code)


def _unnamed(root: Path, slug: str) -> None:
    named = "fails: test_worked_examples\n"
    dev_kits.edit(root, MULTIPLIES.format(slug=slug), FAILS, named)


def _passed(root: Path, slug: str) -> None:
    named = FAILS.replace("\n", ",\n    test_large_logits\n")
    dev_kits.edit(root, MULTIPLIES.format(slug=slug), FAILS, named)


def _lucky(root: Path, slug: str) -> None:
    """A hidden check that asks for large logits with one of the three seeds only."""
    drawn = [random.Random(f"{seed}:test_fresh_rows").random() for seed in check.SEEDS]
    path = f"solutions/{slug}/hidden.py"
    more = f"    if rng.random() <= {min(drawn)}:\n        cases.append(LARGE)\n"
    dev_kits.edit(root, path, "    cases = []\n", f"    cases = []\n{more}")
    large = "Case((array([500.0, 500.0]), 1.0), nearly(array([0.5, 0.5]), atol=TOLERANCE))"
    dev_kits.edit(root, path, "\n\n@pytest", f"\nLARGE = {large}\n\n\n@pytest")


def _dead(root: Path, slug: str) -> None:
    (root / f"solutions/{slug}/wrong/overflows.py").unlink()


def _all_or_nothing(root: Path, slug: str) -> None:
    """No file fails the check on large logits but one that fails everything."""
    dev_kits.add(
        root,
        f"solutions/{slug}/wrong/overflows.py",
        '"""Answers nothing.\n\nhear: You return None.\nfails: all\n"""\n\n\n'
        f"def {slug}(logits, temperature):\n    return None\n",
    )


def _stale(root: Path, slug: str) -> None:
    dev_kits.add(root, f"problems/{slug}/diagnosis.py", DIAGNOSIS.format(slug=slug))


def _diagnosed(root: Path, slug: str) -> None:
    """Two files that exchanged their sentences after their answers were stored."""
    _stale(root, slug)
    kit = kits.find(root)
    diagnose.write(kit, problems.load(kit, slug))
    files = [root / f"solutions/{slug}/wrong/{name}.py" for name in ("multiplies", "overflows")]
    heard = [file.read_text(encoding="utf-8").split("\n")[2] for file in files]
    for file, old, new in zip(files, heard, reversed(heard), strict=True):
        dev_kits.edit(root, file.relative_to(root).as_posix(), old, new)


def _accused(root: Path, slug: str) -> None:
    """A right file whose answers are stored as those of a wrong one, and a check it fails."""
    _stale(root, slug)
    right = root / f"solutions/{slug}/right/through_log_softmax.py"
    path = f"solutions/{slug}/right/through_log_softmax.py"
    dev_kits.edit(root, path, ".exp()", ".exp() * 1.5")
    code = right.read_text(encoding="utf-8").partition('"""\n')[2]
    story = '"""Too much.\n\nhear: half as much again.\nfails: all\n"""\n'
    dev_kits.add(root, f"solutions/{slug}/wrong/too_much.py", story + code)
    kit = kits.find(root)
    diagnose.write(kit, problems.load(kit, slug))


def _known(root: Path, slug: str) -> None:
    dev_kits.edit(root, MULTIPLIES.format(slug=slug), "hear: You multiply", "heard: You multiply")


def _unloadable(root: Path, slug: str) -> None:
    dev_kits.edit(root, MULTIPLIES.format(slug=slug), "import torch\n", "import no_such_module\n")


def _too_large(root: Path, slug: str) -> None:
    path = f"solutions/{slug}/right/through_log_softmax.py"
    dev_kits.add(root, path, '"""Softmax."""\n' + "# much\n" * 50_000)


def _by_hand(root: Path, slug: str) -> None:
    """A sentence that was put into the stored answers."""
    _stale(root, slug)
    kit = kits.find(root)
    diagnose.write(kit, problems.load(kit, slug))
    dev_kits.edit(root, f"problems/{slug}/diagnosis.json", "You multiply the", "You are not the")


def _no_question(root: Path, slug: str) -> None:
    """One question, to which every known file has the right answer."""
    (root / f"solutions/{slug}/wrong/shifts_in_place.py").unlink()
    text = DIAGNOSIS.format(slug=slug).replace("[1.0, 2.0], 2.0", "[1.0], 1.0")
    head, mark, _ = text.partition('                Question("ordinary rows", case([0.5')
    assert mark
    dev_kits.add(root, f"problems/{slug}/diagnosis.py", f"{head}            )\n        )\n    ]\n")
    kit = kits.find(root)
    diagnose.write(kit, problems.load(kit, slug))


BROKEN = {
    "unloadable": _unloadable,
    "too_large": _too_large,
    "by_hand": _by_hand,
    "no_question": _no_question,
    "reference": _reference,
    "stub": _stub,
    "nothing": _nothing,
    "right": _right,
    "stream": _stream,
    "survivor": _survivor,
    "unnamed": _unnamed,
    "passed": _passed,
    "lucky": _lucky,
    "dead": _dead,
    "all_or_nothing": _all_or_nothing,
    "stale": _stale,
    "diagnosed": _diagnosed,
    "accused": _accused,
    "known": _known,
}

Told = Callable[[str, str, str], Complaint]


@pytest.fixture(name="kit", scope="module")
def _kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    """A sound problem, and one for every way to break a rule."""
    root = tmp_path_factory.mktemp("kits") / "kit"
    for name in ("problems", "templates", "solutions"):
        (root / name).mkdir(parents=True)
    kit = kits.find(root)
    for slug in ("sound", *BROKEN):
        scaffold.write(kit, slug)
    for slug, break_it in BROKEN.items():
        break_it(root, slug)
    return kit


@pytest.fixture(name="verdict", scope="module")
def _verdict(kit: Kit) -> Verdict:
    return check.check(kit, ["sound", *BROKEN], seeds=3)


@pytest.fixture(name="told")
def _told(verdict: Verdict) -> Told:
    """The complaint of a rule about a problem; it says `text`, and its cure `cure`."""

    def told(slug: str, rule: str, text: str, cure: str = "") -> Complaint:
        found = [c for c in verdict.complaints if f"/{slug}" in c.file and c.rule == rule]
        fitting = [c for c in found if text in c.text and cure in c.cure]
        assert fitting, [*map(str, found)]
        return fitting[0]

    return told


def test_a_sound_problem_has_no_complaint(verdict):
    """What `grade dev new` writes is proved as it stands, with three seeds."""
    assert [str(c) for c in verdict.complaints if "/sound" in c.file] == []


def test_a_reference_must_pass_every_check(told, kit):
    """A reference that loses a point is told once, at the check, and nothing is graded with it."""
    complaint = told("reference", "reference", "solution.py fails the check", "or the reference")
    lines = (kit.root / complaint.file).read_text(encoding="utf-8").splitlines()
    assert lines[complaint.line - 1].startswith("def test_")


def test_known_files_wait_for_the_reference(verdict):
    """Where the reference is wrong no known file is graded: each would only say so again."""
    assert not [r for r in verdict.results if r.known.slug == "reference"]
    assert any(note.startswith("reference: known files were not graded") for note in verdict.notes)


def test_a_stub_must_load(told):
    """A stub that cannot be imported is told with the reason."""
    told("stub", "stub", "does not load", "must load as it is handed out")


def test_a_function_that_returns_none_earns_nothing(told):
    """A check that pays for None is named."""
    complaint = told("nothing", "nothing", "test_leaves_the_logits_alone", "whole answer")
    assert "returns None earns 2 points" in complaint.text


def test_a_right_file_has_full_marks(told):
    """A right file that loses points is told, with the checks."""
    told("right", "right", "test_worked_examples", "move the file to wrong/")


def test_a_stream_file_has_its_verdict(told):
    """A stream file that is no stream file is told, with the verdict it has."""
    told("stream", "stream", "has the verdict correct", "move the file to wrong/")


def test_a_wrong_file_loses_points(told):
    """A wrong file that no check sees is told."""
    told("survivor", "wrong", "has full marks", "move the file to right/")


def test_a_wrong_file_names_all_that_it_fails(told):
    """A check that is failed and not named is told, at the line that should name it."""
    complaint = told("unnamed", "fails", "fails test_fresh_rows as well", "--write-fails")
    assert complaint.line == 5


def test_a_wrong_file_names_nothing_that_it_passes(told):
    """A check that is named and not failed is told."""
    told("passed", "fails", "passes test_large_logits", "correct the line")


def test_a_failure_that_depends_on_the_seed_is_told(told):
    """A check that a file fails with some seeds only is told, with those seeds."""
    told("lucky", "fails", "fails test_fresh_rows only with seed ", "whatever the seed")


def test_every_check_is_failed_by_a_wrong_file(told):
    """A check that nothing fails is told, at its line."""
    complaint = told("dead", "dead check", "test_large_logits", "or delete the check")
    lines = (ROOT / "grader/dev/scaffold_files/checks.py.txt").read_text(encoding="utf-8")
    assert lines.splitlines()[complaint.line - 1].startswith("def test_large_logits")


def test_a_file_that_fails_everything_keeps_no_check_alive(told):
    """`return None` fails any check, so it says of none what it is for."""
    text = "test_large_logits is failed by no wrong file in torch but such as fail every check"
    told("all_or_nothing", "dead check", text, "or delete the check")


def test_a_diagnosis_that_was_never_written_is_told(told):
    """A problem with questions and no stored answers is told how to write them."""
    told("stale", "diagnosis", "is missing", "grade dev diagnose stale")


def test_a_diagnosis_made_from_other_files_is_told(told):
    """Stored answers that are older than a known file are told."""
    told("diagnosed", "diagnosis", "was made from other files", "grade dev diagnose diagnosed")


def test_a_file_that_is_taken_for_another_is_told(told):
    """A wrong file whose learner would hear another sentence than its own is told."""
    told("diagnosed", "diagnosis", "taken for something else", "tells the two apart")


def test_a_right_file_is_never_accused(told):
    """A right file that is told a likely cause is told."""
    told("accused", "diagnosis", "is right, and accused", "add an input to diagnosis.py")


def test_a_wrong_file_says_what_a_learner_should_hear(told):
    """A wrong file without its sentence is told."""
    told("known", "known file", "does not say `hear:`", "add a line `hear: …`")


@pytest.mark.parametrize(
    ("broken", "rule", "text"),
    [
        ("unloadable", "wrong", "does not load"),
        ("too_large", "known file", "cannot be graded: "),
        ("by_hand", "diagnosis", "cannot be read"),
        ("no_question", "diagnosis", "recognises no file"),
    ],
)
def test_what_proves_nothing_is_told(told, broken, rule, text):
    """A known file that never runs, and answers that recognise nothing, are complaints."""
    told(broken, rule, text)


def test_every_rule_of_gradings_has_a_test(verdict):
    """No rule of this list is left unbroken here or in `test_rules.py` and `test_leaks.py`."""
    tried = {complaint.rule for complaint in verdict.complaints}
    assert tried >= set(check.RULES) - {"files", "stray file", "leak"}


def test_observed_failures_can_be_written(kit, verdict, tmp_path):
    """`--write-fails` puts what was seen into the docstring, and the rule is content with it."""
    mine = [r for r in verdict.results if r.known.slug in ("unnamed", "passed")]
    assert fails.write(mine) == [
        MULTIPLIES.format(slug="unnamed"),
        MULTIPLIES.format(slug="passed"),
    ]
    for slug in ("unnamed", "passed"):
        text = (kit.root / MULTIPLIES.format(slug=slug)).read_text(encoding="utf-8")
        assert "fails: test_fresh_rows, test_worked_examples\n" in text
        _, complaints = known.known_files(kit, problems.load(kit, slug))
        assert complaints == []


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        ("Story.", "does not say `hear:`"),
        ("Story.\n\nhear: you.\n", "does not say which checks"),
        ("Story.\n\nhear: you.\nfails: test_large_logit\n", "did you mean test_large_logits?"),
        ("Story.\n\nhear: you.\nhint: 9\nfails: all\n", "`hint: 9` is no hint"),
        ("Story.\n\nhear: you.\nhear: me.\nfails: all\n", "says `hear:` twice"),
        ("Story.\n\nhear: you.\nfails: test_fresh_rows, test_fresh_rows\n", "names test_fresh"),
    ],
)
def test_a_known_file_that_does_not_tell_its_story_is_told(tmp_path, docstring, text):
    """Each thing a docstring must say is asked for where it is missing or wrong."""
    kit = scaffold.kit_in(_empty(tmp_path))
    scaffold.write(kit, "story")
    dev_kits.add(kit.root, "solutions/story/wrong/odd.py", f'"""{docstring}"""\n')
    kit = kits.find(kit.root)
    _, complaints = known.known_files(kit, problems.load(kit, "story"))
    assert [text in complaint.text for complaint in complaints].count(True) == 1
    assert {complaint.file for complaint in complaints} == {"solutions/story/wrong/odd.py"}


def _empty(folder: Path) -> Path:
    (folder / "kit").mkdir()
    return folder / "kit"


@pytest.fixture(name="dev")
def _dev(kit: Kit) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`grade --kit KIT dev …` as a user runs it."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-P", "-m", "grader", "--kit", kit.root, "dev", *arguments]
        return subprocess.run(
            [*map(str, argv)],
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            timeout=180,
            check=False,
        )

    return run


def test_the_command_says_what_it_found(dev, tmp_path):
    """A complaint is told on the screen, in JUnit XML and by the exit code."""
    done = dev("check", "dead", "--jobs", "1", "--junit", tmp_path / "out.xml")
    assert done.returncode == 1, done.stderr
    assert "test_large_logits is failed by no wrong file" in done.stdout
    assert "test_large_logits" in (tmp_path / "out.xml").read_text(encoding="utf-8")


def test_the_matrix_is_written_three_ways(dev, tmp_path):
    """The matrix is shown in the terminal, as strict JSON and as one page."""
    done = dev("matrix", "sound", "--jobs", "1", "--html", tmp_path / "matrix.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert "test_large_logits" in done.stdout
    assert "</html>" in (tmp_path / "matrix.html").read_text(encoding="utf-8")
    done = dev("matrix", "sound", "--jobs", "1", "--json", "-")
    assert json.loads(done.stdout)["sound"] is True


def test_an_unknown_problem_is_a_request_at_fault(dev):
    """A name that no problem has is told with the nearest one."""
    done = dev("check", "sounds")
    assert done.returncode == 2
    assert "did you mean 'sound'?" in done.stderr


def test_a_learners_kit_cannot_be_checked(tmp_path, dev):
    """Without solutions there is nothing to prove, and that is said."""
    kit = scaffold.kit_in(_empty(tmp_path))
    scaffold.write(kit, "story")
    (kit.root / "solutions").rename(tmp_path / "elsewhere")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader", "--kit", kit.root, "dev", "check"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2
    assert "a learner's kit, without solutions/" in done.stderr


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--junit", "{kit}/problems/sound/checks.py"), "a place of the kit's own files"),
        (("--matrix", "{kit}/solutions/sound/solution.py"), "a place of the kit's own files"),
        (("--junit", "{out}/one", "--matrix", "{out}/one"), "named twice"),
        (("--junit", "{out}"), "a folder"),
        (("--junit", "{out}/none/x.xml"), "there is no folder"),
    ],
)
def test_an_output_is_refused_before_anything_is_graded(dev, kit, tmp_path, options, text):
    """A place that must not be written to, or cannot be, is told at once, and nothing is lost."""
    before = (kit.problems / "sound/checks.py").read_bytes()
    done = dev("check", "sound", *(each.format(kit=kit.root, out=tmp_path) for each in options))
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
    assert (kit.problems / "sound/checks.py").read_bytes() == before


def test_a_pipe_is_written_to_and_stays_a_pipe(dev, tmp_path):
    """An output that is no ordinary file takes the text, and is replaced by nothing."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        done = dev("check", "sound", "--jobs", "1", "--junit", pipe)
        assert b"<testsuites" in reader.communicate(timeout=60)[0]
    assert done.returncode in (0, 1), done.stderr
    assert pipe.is_fifo()


def test_no_line_is_a_command_to_a_ci_runner(kit, dev):
    """What a file says cannot begin a line that GitHub would obey."""
    text = "You are wrong.\n::error::nothing of the sort\n"
    dev_kits.add(kit.root, "problems/unnamed/odd\n::error::x.txt", text)
    done = dev("check", "unnamed", "--jobs", "1")
    (kit.root / "problems/unnamed/odd\n::error::x.txt").unlink()
    assert done.returncode == 1
    assert not [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]


def test_lanes_end_with_whoever_asked_for_them(kit):
    """A check that is killed leaves no process behind."""
    argv = [sys.executable, "-P", "-m", "grader", "--kit", kit.root, "dev", "check", "sound"]
    with subprocess.Popen([*map(str, argv)], stdout=subprocess.DEVNULL) as asked:
        lanes = _until(lambda: _children(asked.pid))
        asked.kill()
    assert lanes
    assert _until(lambda: not {p.pid for p in processes()} & lanes)


def _children(parent: int) -> set[int]:
    return {p.pid for p in processes() if p.parent == parent and "grader.lane " in p.command}


def _until(known: Callable[[], Any]) -> Any:
    """What `known` gives once it is true, within half a minute."""
    end = time.monotonic() + 30
    while not (found := known()) and time.monotonic() < end:
        time.sleep(0.1)
    return found
