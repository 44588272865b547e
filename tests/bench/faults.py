"""Processes of a grading killed at random moments, hundreds of times: what comes of it.

    python tests/bench/faults.py [--gradings 500] [--at-a-time 2] [--seed N]

Every grading is the real command, `grade run --json`, on a right, a wrong or a sleeping file, with
hidden checks and without, now and then with the proof of the reference before it. At a random
moment one of its processes is killed: a worker or the process that forks them with SIGKILL, or the
one that grades with SIGKILL, SIGTERM or SIGINT. The judge is that of tests/test_faults.py:

- the score file is not there, or whole and legal;
- it holds the true result of that file; or, where a worker was killed, one in which that is told
  and no check has more points; or a fault of the kit, with exit code 3;
- the exit code goes with the file;
- no process is left 3 s later, and no temporary file;
- the next grading in the same place, every tenth time left alone, has the true result.

Prints how often which victim led to which outcome, and every rule that was broken; leaves with 1 if
any was. A grading whose victim was not there in time counts as "too late" and is repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from measuring import PYTHON, ROOT, CannotRun, progress, run_bench, solution

WRONG = {"verify": "wrong/clamp_forgotten.py", "step": "wrong/bonus_off_by_one.py"}
VICTIMS = {"worker": 9, "zygote": 4, "trusted side": 7}  # how often each is chosen
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SLEEPS = """\
import time as _time

_time.sleep(0.4)
_entry = speculative_decode_step


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    _time.sleep(0.002)
    return _entry(draft_probs, target_probs, drafted_token)
"""


def files(folder: Path) -> dict[str, tuple[str, Path]]:
    """What is graded: a name, its problem and its file."""
    found = {}
    for slug, name in WRONG.items():
        wrong = ROOT / "solutions" / slug / name
        if not wrong.is_file():
            wrong = min((ROOT / "solutions" / slug / "wrong").glob("*.py"))
        found[f"{slug}, right"] = slug, solution(slug)
        found[f"{slug}, wrong"] = slug, wrong
    sleeping = folder / "verify_sleeping.py"
    text = solution("verify").read_text(encoding="utf-8")
    sleeping.write_text(f"{text}\n\n{SLEEPS}", encoding="utf-8")
    found["verify, sleeping"] = "verify", sleeping
    return found


def lane(seed: int, gradings: int) -> None:
    """Gradings one after another, in this process' own folder; prints a line of JSON for each."""
    from tests import test_faults as faults

    luck = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="faults-") as name, faults.adopting():
        folder = Path(name)
        place = faults.Place(folder / "place")
        commands: dict[str, list[object]] = {}
        for what, (slug, file) in files(folder).items():
            words = ["run", file, "--problem", slug, "--seed", "7"]
            commands[what] = words
            commands[f"{what}, public"] = [*words, "--no-hidden"]
        truths = {}
        nobody = faults.Blow("nobody")
        for what, words in commands.items():
            after = faults.strike(words, nobody, place)  # with the proof, where it is the first
            after = faults.strike(words, nobody, place)
            truths[what] = after.document(), after.seconds, after.first or 0.0
            outcome, broken = faults.judge(truths[what][0], nobody, after)
            _say(what, "nobody", outcome, broken, after.seconds)
        done = 0
        while done < gradings:
            what = luck.choice(list(commands))
            truth, seconds, first = truths[what]
            cold = luck.random() < 0.15
            if cold:
                shutil.rmtree(place.folder / "cache")
                (place.folder / "cache").mkdir()
            victim: Any = luck.choices(list(VICTIMS), VICTIMS.values())[0]
            span = seconds * (1.8 if cold else 1.05) - (first if victim == "worker" else 0.0)
            how = luck.choice(SIGNALS) if victim == "trusted side" else signal.SIGKILL
            blow = faults.Blow(victim, luck.random() * span, how)
            after = faults.strike(commands[what], blow, place, luck)
            outcome, broken = faults.judge(truth, blow, after)
            place.clear()
            told = f"{victim}, {how.name}" if after.struck else "too late"
            _say(f"{what}, {blow}", told, outcome, broken, after.seconds)
            done += after.struck
            if done % 10 == 0:
                after = faults.strike(commands[what], nobody, place)
                outcome, broken = faults.judge(truth, nobody, after)
                place.clear()
                _say(f"{what}, after {blow}", "nobody, the next", outcome, broken, after.seconds)


def _say(what: str, victim: str, outcome: str, broken: list[str], seconds: float) -> None:
    line = {"what": what, "victim": victim, "outcome": outcome, "broken": broken, "took": seconds}
    print(json.dumps(line), flush=True)


def main() -> None:
    """Runs lanes of gradings side by side and prints what came of them."""
    if sys.argv[1:2] == ["--lane"]:
        sys.path.insert(0, str(ROOT))
        lane(int(sys.argv[2]), int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gradings", type=int, default=500, metavar="N", help="that are struck")
    parser.add_argument("--at-a-time", type=int, default=2, metavar="N")
    parser.add_argument("--seed", type=int, default=None, help="of the moments")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise CannotRun("it looks for processes in /proc")

    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    print(f"seed {seed}")
    each = -(-options.gradings // options.at_a_time)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    lanes = [
        subprocess.Popen(
            [PYTHON, "-P", str(Path(__file__).resolve()), "--lane", str(seed + number), str(each)],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env={**environment, "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}"},
            text=True,
        )
        for number in range(options.at_a_time)
    ]
    began = time.monotonic()
    found: Counter[tuple[str, str]] = Counter()
    broken = 0
    for line in _lines(lanes):
        told = json.loads(line)
        found[told["victim"], told["outcome"]] += 1
        struck = sum(count for (victim, _), count in found.items() if ", SIG" in victim)
        progress(f"{struck} of {options.gradings}: {told['what']}: {told['outcome']}")
        for rule in told["broken"]:
            broken += 1
            progress("")
            print(f"BROKEN  {told['what']}: {rule}", flush=True)
    progress("")
    for victim in sorted({victim for victim, _ in found}):
        outcomes = {o: count for (v, o), count in found.items() if v == victim}
        print(f"\n{victim:<24}{sum(outcomes.values()):>5}")
        for outcome, count in sorted(outcomes.items(), key=lambda item: -item[1]):
            print(f"  {outcome:<30}{count:>5}")
    codes = [each.wait() for each in lanes]
    struck = sum(count for (victim, _), count in found.items() if ", SIG" in victim)
    took = time.monotonic() - began
    print(f"\n{struck} gradings were struck in {took:.0f} s, {broken} rules were broken")
    if broken or any(codes) or struck < options.gradings:
        sys.exit(1)


def _lines(lanes: list[subprocess.Popen[str]]) -> Any:
    """Lines of all lanes as they come."""
    import selectors

    with selectors.DefaultSelector() as waiting:
        for each in lanes:
            assert each.stdout is not None
            waiting.register(each.stdout, selectors.EVENT_READ)
        while waiting.get_map():
            for key, _ in waiting.select():
                line = key.fileobj.readline()  # type: ignore[union-attr]
                if line:
                    yield line
                else:
                    waiting.unregister(key.fileobj)


if __name__ == "__main__":
    run_bench(main)
