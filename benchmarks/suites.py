"""The leaderboard's 3,641 single requests: replayed and judged by pytest, and judged by its own harness.

The harness needs an environment of its own, with all that it requires, and one that it does not name:
`python -m venv .venv-bfcl` and `.venv-bfcl/bin/pip install bfcl-eval==2026.3.23 soundfile`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.measure import pytest_command, side_by_side, table

HARNESS = Path(__file__).parents[1] / ".venv-bfcl" / "bin"
MODEL = "gpt-4o-2024-11-20-FC"
"""A model of the harness that is asked in native calls, by names without dots."""

APP = '''
"""Gives the first right answer to every question, and leaves out the last call of every fifth."""
import json
from pathlib import Path

RIGHT = json.loads(Path(__file__).with_name("right.json").read_text(encoding="utf-8"))


def answer(request):
    return RIGHT.get(request.messages[-1]["content"]) or "I cannot say."
'''


def suites(folder: Path, rounds: int) -> None:
    """Judge the same answers by both."""
    if not (HARNESS / "bfcl").exists():
        print(f"### 3,641 answers to the leaderboard\n\nNot measured: there is no {HARNESS}.\n")
        return
    (data,) = HARNESS.parent.glob("lib/python3*/site-packages/bfcl_eval/data")
    (folder / "app.py").write_text(APP, encoding="utf-8")
    (folder / "right.json").write_text(json.dumps(dict(_right(data))), encoding="utf-8")
    ours = pytest_command(
        "--fc-model=python:app:answer", "--fc-suite=bfcl", f"--fc-suite-path={data}", "--fc-report=bfcl:out", "--tb=no"
    )
    # Wrong answers are no failure of the benchmark; and what only developers of this project install is left out.
    apart = ["-p", "no:rerunfailures", "-p", "no:timeout", "-p", "no:anyio", "-p", "no:hypothesispytest"]
    judged = [*ours, *apart, "--fc-fail=gates", "--fc-gate=cases>=3641"]
    subprocess.run(judged, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    # The harness makes a client of its vendor even to judge, and that one wants a key.
    os.environ |= {"BFCL_PROJECT_ROOT": str(folder / "official"), "OPENAI_API_KEY": "none"}
    shutil.copytree(folder / "out" / "result" / "app_answer-FC", folder / "official" / "result" / MODEL)
    evaluate = ["evaluate", "--model", MODEL, "--test-category", "single_turn"]
    commands = {
        "bfcl evaluate": [str(HARNESS / "bfcl"), *evaluate],
        "pytest, replayed": [*judged, "--fc-replay"],
    }
    runs = side_by_side(commands, folder, rounds)
    _check(folder / "out" / "score" / "app_answer-FC", folder / "official" / "score" / MODEL)
    print("### 3,641 answers to the leaderboard\n")
    print(table(runs, "bfcl evaluate"), "\n")


def _right(data: Path) -> dict[str, object]:
    """A right answer by the question; where two questions are the same, the last one's."""
    found: dict[str, object] = {}
    for path in sorted(data.glob("possible_answer/BFCL_v4_*.json")):
        if "multi_turn" in path.name or "memory" in path.name or "web_search" in path.name:
            continue
        with (data / path.name).open(encoding="utf-8") as questions, path.open(encoding="utf-8") as truths:
            for number, (question, truth) in enumerate(zip(questions, truths, strict=True)):
                calls = [_call(call) for call in json.loads(truth)["ground_truth"]]
                found[json.loads(question)["question"][0][-1]["content"]] = calls[: len(calls) - (number % 5 == 0)]
    return found


def _call(call: dict[str, dict[str, object]]) -> dict[str, object]:
    ((name, arguments),) = call.items()
    given = {key: _first(options) for key, options in arguments.items()}
    return {"name": name, "arguments": {key: value for key, value in given.items() if value != ""}}


def _first(options: object) -> object:
    option = options[0] if isinstance(options, list) and options else options
    return {key: _first(inner) for key, inner in option.items()} if isinstance(option, dict) else option


def _check(ours: Path, theirs: Path) -> None:
    """Both must have counted alike, or the times say nothing."""
    for path in theirs.rglob("*_score.json"):
        other = next(ours.rglob(path.name))
        heads = [json.loads(file.read_text(encoding="utf-8").split("\n", 1)[0]) for file in (path, other)]
        assert heads[0]["correct_count"] == heads[1]["correct_count"], path.name
