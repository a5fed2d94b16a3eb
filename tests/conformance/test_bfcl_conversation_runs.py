"""Real conversations through pytest: a model that calls what is right passes, one that forgets a turn does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conformance.official.client import PYTHON
from tests.conformance.official.conversations import CATEGORIES, PACKAGES, read_conversations

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the classes are not installed: make conformance")

APP = """
import json
from pathlib import Path

TURNS = json.loads(Path("turns.json").read_text())


def right(request):
    said = [message["content"] for message in request.messages if message["role"] == "user"]
    calls = TURNS[said[0]][len(said) - 1]
    return calls if calls and request.messages[-1]["role"] == "user" else "Done."


def forgetful(request):
    turns = sum(message["role"] == "user" for message in request.messages)
    return "Done." if turns == len(TURNS[request.messages[0]["content"]]) else right(request)
"""


@pytest.mark.parametrize("category", CATEGORIES)
def test_right_calls_pass_and_a_forgotten_turn_fails(category: str, tmp_path: Path) -> None:
    ids = [f"{category}_{number}" for number in range(10, 16)]
    chosen = [each for each in read_conversations() if each.entry["id"] in ids]
    turns = {
        each.entry["question"][0][0]["content"]: [
            [{"name": name, "arguments": given} for reply in turn if isinstance(reply, list) for name, given in reply]
            for turn in each.right()
        ]
        for each in chosen
    }
    (tmp_path / "turns.json").write_text(json.dumps(turns), encoding="utf-8")
    (tmp_path / "model.py").write_text(APP, encoding="utf-8")
    unlike = sum(bool(each.truth[-1]) for each in chosen)
    said = run(ids, tmp_path)
    assert "python:model:right 6/6 right" in said, said
    assert f"python:model:forgetful {6 - unlike}/6 right" in said, said


def run(ids: Sequence[str], folder: Path) -> str:
    command = [
        *(sys.executable, "-m", "pytest", "-p", "no:randomly", "--fc-suite=bfcl:multi_turn"),
        *(
            f"--fc-pick={','.join(ids)}",
            f"--fc-suite-path={PACKAGES}",
            "--fc-model=python:model:right",
            "--fc-model=python:model:forgetful",
        ),
    ]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout
