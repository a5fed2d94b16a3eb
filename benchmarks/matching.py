"""Decoding and judging stored answers, side by side with the official BFCL checker in its own environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import TypeAlias

from benchmarks.measure import side_by_side
from tests.conformance.official.client import PYTHON, ROOT

CORPUS = os.environ.get("FCALL_CORPUS", "")
STYLES = {"fc": "native calls (JSON)", "prompt": "calls as Python text", "all": "all"}
CASE = {
    "id": "simple_python_0",
    "category": "simple_python",
    "question": [[{"role": "user", "content": "Weather in Oslo?"}]],
    "function": [
        {
            "name": "get_weather",
            "parameters": {"type": "dict", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }
    ],
    "ground_truth": [{"get_weather": {"city": ["Oslo"]}}],
}
ROW = {"id": "simple_python_0", "category": "simple_python", "style": "prompt", "raw": '[get_weather(city="Oslo")]'}

Speeds: TypeAlias = dict[str, list[dict[str, float]]]
"""Answers a second of each judge, by style, a pass each."""


def matching(folder: Path, rounds: int) -> None:
    """Answers a second; and how long `fcall score` takes over one."""
    if not PYTHON.exists() or not CORPUS:
        print("### Judging\n\nLeft out: it needs the official checker (make conformance) and answers (FCALL_CORPUS).\n")
        return
    speeds = _speeds(rounds)
    print("### Decoding and checking\n")
    print(_table(speeds, "official", "bfcl"))
    print("\n### Judging what is decoded, by profile\n")
    print(_table(speeds, "profile-bfcl", "profile-strict"))
    print(f"\n### One answer\n\n`fcall score` takes {_start(folder, max(rounds, 20)):.2f} s for a single answer.\n")


def _speeds(rounds: int) -> Speeds:
    pythons = {"official": str(PYTHON), **dict.fromkeys(("bfcl", "profile-bfcl", "profile-strict"), sys.executable)}
    speeds: Speeds = {judge: [] for judge in pythons}
    for _ in range(rounds):
        for judge, python in pythons.items():
            command = [python, "-m", "benchmarks.judges", judge, str(Path(CORPUS).absolute())]
            done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
            passed = json.loads(done.stdout)
            passed["all"] = {what: sum(style[what] for style in passed.values()) for what in ("rows", "seconds")}
            speeds[judge].append({style: passed[style]["rows"] / passed[style]["seconds"] for style in STYLES})
    return speeds


def _table(speeds: Speeds, floor: str, judge: str) -> str:
    lines = [f"| answers | {floor}, a second | {judge}, a second | {judge} ÷ {floor} |", "|---|---|---|---|"]
    for style, name in STYLES.items():
        pairs = [(slow[style], fast[style]) for slow, fast in zip(speeds[floor], speeds[judge], strict=True)]
        figures = (f"{median(pair[side] for pair in pairs):,.0f}" for side in (0, 1))
        lines.append(f"| {name} | {' | '.join(figures)} | {median(b / a for a, b in pairs):.2f} |")
    return "\n".join(lines)


def _start(folder: Path, rounds: int) -> float:
    files: Mapping[str, object] = {"cases.jsonl": CASE, "answers.jsonl": ROW}
    for name, row in files.items():
        (folder / name).write_text(json.dumps(row) + "\n")
    command = [sys.executable, "-m", "pytest_fcall.cli", "score", "--format", "bfcl", "--cases", *files]
    return median(run.wall for run in side_by_side({"fcall score": command}, folder, rounds)["fcall score"])
