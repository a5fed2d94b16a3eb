"""The classes of the multi-turn categories do in our environment what they do in the official one."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.conversation.environments.context import EnvironmentContext
from pytest_fcall.conversation.environments.environment import open_environment
from pytest_fcall.conversation.execution.limits import CallLimits
from pytest_fcall.core import CallResult, ConversationSettings, Json, Tool
from pytest_fcall.suites.bfcl.function_docs import DOCUMENT_FILES
from tests.conformance.official.client import PYTHON, ROOT
from tests.conformance.official.conversations import CATEGORIES, DATA, PACKAGES

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="`make conformance` makes the official environment")
GROUND = EnvironmentContext(ROOT, ROOT, CallLimits(result=1 << 24))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as opened:
        yield from map(json.loads, opened)


def worlds() -> list[dict[str, Any]]:
    """Worlds of every twentieth entry of each category, with all its right calls. Categories have most in common."""
    found: list[dict[str, Any]] = []
    for category in CATEGORIES:
        asked = lines(DATA / f"BFCL_v4_{category}.json")
        right = lines(DATA / "possible_answer" / f"BFCL_v4_{category}.json")
        both = [*zip(asked, right, strict=True)][::20]
        assert len(both) >= 10
        for entry, truth in both:
            world = {
                "classes": entry["involved_classes"],
                "config": entry["initial_config"],
                "long_context": "long_context" in category,
                "calls": [call for turn in truth["ground_truth"] for call in turn],
            }
            if world not in found:
                found.append(world)
    return found


def arguments_of(call: str, order: dict[str, list[str]]) -> tuple[str, dict[str, Json]]:
    """The name and the arguments by name: the right calls give some by place."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    given = dict(zip(order[node.func.id], map(ast.literal_eval, node.args), strict=False))
    return node.func.id, {**given, **{each.arg or "": ast.literal_eval(each.value) for each in node.keywords}}


def orders(classes: list[str]) -> dict[str, list[str]]:
    documents = [DATA / "multi_turn_func_doc" / f"{DOCUMENT_FILES[name]}.json" for name in classes]
    return {tool["name"]: list(tool["parameters"]["properties"]) for document in documents for tool in lines(document)}


async def ours(
    settings: ConversationSettings, calls: list[tuple[str, dict[str, Json]]]
) -> tuple[list[CallResult], CallResult]:
    environment = await open_environment(settings, [Tool(name) for name in {name for name, _ in calls}], GROUND)
    try:
        return [await environment.call(*call) for call in calls], await environment.state()
    finally:
        await environment.close()


def same(official: str, result: CallResult) -> bool:
    """Whether a result is what the official checker writes of it."""
    if result.error is not None:
        return official == f"Error during execution: {result.error.partition(': ')[2]}"
    if isinstance(result.value, dict):
        try:
            return bool(json.loads(official) == result.value)
        except ValueError:  # it writes Python where an object is in it
            return official.startswith("{")
    return official == str(result.value)


def test_calls_come_to_the_same_and_leave_the_same_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGES)])
    questions = worlds()
    told = subprocess.run(
        [PYTHON, "-m", "tests.conformance.official.worlds"],
        cwd=ROOT,
        input="".join(f"{json.dumps(each)}\n" for each in questions),
        capture_output=True,
        text=True,
        check=True,
    )
    for question, line in zip(questions, told.stdout.splitlines(), strict=True):
        official = json.loads(line)
        setup = {name: question[name] for name in ("classes", "config", "long_context")}
        order = orders(question["classes"])
        calls = [arguments_of(call, order) for call in question["calls"]]
        results, state = asyncio.run(ours(ConversationSettings("pytest_fcall.suites.bfcl.world:make", setup), calls))
        for call, wanted, result in zip(question["calls"], official["results"], results, strict=True):
            assert same(wanted, result), (call, wanted, result)
        assert state == CallResult(official["state"])
