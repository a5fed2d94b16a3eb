"""How fast `fcall strength` judges mistakes: this repository's own cases, many times over."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.measure import side_by_side

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "cases").glob("*.fc.yaml"))
COPIES = 14
"""The example cases so many times make about 1,000."""
CONVERSATION = """
tools:
  - name: find
    parameters: {type: object, properties: {to: {type: string}, date: {type: string}}, required: [to]}
  - name: book
    parameters: {type: object, properties: {flight: {type: string}, cabin: {enum: [eco, biz]}}, required: [flight]}
  - name: cancel
    parameters: {type: object, properties: {booking: {type: string}}, required: [booking]}
cases:
  - id: book_then_cancel
    now: 2026-11-21T16:30:00-08:00
    turns:
      - user: Book the cheapest flight to Oslo tomorrow.
        expect:
          - find: {to: Oslo, date: {$date: tomorrow}}
            returns: [{id: F7, price: 90}]
            as: found
          - then:
              - book: {flight: {$from: "found.result[0].id"}}
                returns: {booking: B1}
      - user: Cancel it.
        expect: [{cancel: {booking: B1}}]
        answer: {$contains: cancelled}
"""


def strength(folder: Path, rounds: int) -> None:
    """Mistakes a second in one process, and 1,000 cases from the command line."""
    _write(folder)
    cases = 0
    print("### The strength of cases\n\n| cases | mistakes a second of CPU time |\n|---|---|")
    conversation = folder / "conversation.fc.yaml"
    conversation.write_text(CONVERSATION, encoding="utf-8")
    for name, paths in (("single questions", EXAMPLES), ("a conversation of two turns", [conversation])):
        speeds = [_speed(paths) for _ in range(rounds + 1)][1:]
        cases = max(cases, speeds[0][0])
        print(f"| {name} | {median(mistakes / seconds for _, mistakes, seconds in speeds):,.0f} |")
    print()
    command = [sys.executable, "-m", "pytest_fcall.cli", "strength", "cases"]
    runs = side_by_side({"fcall strength": command}, folder, min(rounds, 3))["fcall strength"]
    print(f"`fcall strength` takes {median(run.wall for run in runs):.1f} s for about {cases * COPIES:,} cases.\n")


def _speed(paths: Sequence[Path]) -> tuple[int, int, float]:
    """The number of cases, of mistakes that were judged, and the CPU time."""
    from pytest_fcall.cases.case_file import read_case_file
    from pytest_fcall.core import Case
    from pytest_fcall.matching.context import MatchContexts
    from pytest_fcall.strength.case_strength import strength_of

    files = [read_case_file(path, root=path.parents[1]) for path in paths]
    cases = [entry for file in files for entry in file.entries if isinstance(entry, Case)]
    contexts, started = MatchContexts(), time.process_time()
    found = [strength_of(case, {}, contexts) for case in cases]
    seconds = time.process_time() - started
    judged = sum(round(each.counts.whole) + each.same + each.left_open for each in found)
    return len(cases), judged, seconds


def _write(folder: Path) -> None:
    """Copy the example cases, each file many times."""
    shutil.copytree(ROOT / "cases", folder / "cases", ignore=shutil.ignore_patterns("__fcall__", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for path in sorted((folder / "cases").glob("*.fc.yaml")):
        if path.with_name(path.name.replace(".fc.yaml", ".tools.lock.json")).exists():
            continue  # a copy would need a lock file of its own
        text = path.read_text(encoding="utf-8")
        for number in range(1, COPIES):
            copy = re.sub(r"^(\s*- id: \w+)", rf"\g<1>_{number}", text, flags=re.MULTILINE)
            path.with_name(f"{path.name.partition('.')[0]}_{number}.fc.yaml").write_text(copy, encoding="utf-8")
