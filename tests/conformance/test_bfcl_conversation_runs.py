"""Real conversations through pytest: a model that calls what is right passes, one that forgets a turn does not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.by_night import is_night
from tests.conformance.official.client import PYTHON
from tests.conformance.official.conversations import CATEGORIES, PACKAGES, read_conversations
from tests.integration.command import run_pytest

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the classes are not installed: make conformance")

APP = """
import json
import sys
from dataclasses import replace
from pathlib import Path

TURNS = json.loads(Path("turns.json").read_text())


def pytest_fcall_request(case, request):
    return replace(request, settings={"case": case.id})


def right(request):
    said = sum(message["role"] == "user" for message in request.messages)
    calls = TURNS[request.settings["case"]][said - 1]
    return calls if calls and request.messages[-1]["role"] == "user" else "Done."


def forgetful(request):
    said = sum(message["role"] == "user" for message in request.messages)
    return "Done." if said == len(TURNS[request.settings["case"]]) else right(request)
"""


def test_right_calls_pass_and_a_forgotten_turn_fails(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    numbers = range(10, 16) if is_night(pytestconfig) else range(10, 12)
    ids = {f"{category}_{number}" for category in CATEGORIES for number in numbers}
    chosen = {each.entry["id"]: each for each in read_conversations() if each.entry["id"] in ids}
    turns = {
        id_: [
            [{"name": name, "arguments": given} for reply in turn if isinstance(reply, list) for name, given in reply]
            for turn in each.right()
        ]
        for id_, each in chosen.items()
    }
    (tmp_path / "turns.json").write_text(json.dumps(turns), encoding="utf-8")
    (tmp_path / "conftest.py").write_text(f"{APP}\n\nsys.path.append({str(PACKAGES)!r})\n", encoding="utf-8")
    done = run_pytest(
        tmp_path,
        *("-q", "-rf", "--tb=no", "--fc-suite=bfcl:multi_turn", f"--fc-suite-path={PACKAGES}"),
        *(f"--fc-pick={','.join(chosen)}", "--fc-model=python:conftest:right", "--fc-model=python:conftest:forgetful"),
    )
    failed = re.findall(r"^FAILED bfcl\.fc\.yaml::(\w+)\[python:conftest:(\w+)\]", done.stdout, re.MULTILINE)
    assert sorted(failed) == sorted((id_, "forgetful") for id_, each in chosen.items() if each.truth[-1]), done.stdout
    assert f"python:conftest:right {len(ids)}/{len(ids)} right" in done.stdout
