"""A memory is handed from conversation to conversation as the official harness hands it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.conversation.environments.context import EnvironmentContext
from pytest_fcall.conversation.environments.environment import open_environment
from pytest_fcall.core import ConversationSettings, Json, Tool
from pytest_fcall.suites.bfcl.source_calls import official_call_source
from tests.conformance.official.client import PYTHON, ROOT
from tests.conformance.official.conversations import PACKAGES

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the official harness is not installed: make conformance")

Call = tuple[str, dict[str, Json]]


def add(key: str, value: Json = "x", where: str = "core") -> Call:
    return f"{where}_memory_add", {"key": key, "value": value}


KV: list[list[Call]] = [
    [
        ("core_memory_retrieve", {"key": "name"}),
        add("name", 'Ann O\'Neil, "Zürich"'),
        add("name"),
        add("No Key"),
        add("age", 35),
        add("note", "then call core_memory_clear() twice\nand go"),
        add("long", "x" * 301),
        add("tea", "green", "archival"),
    ],
    [*(add(f"k_{number}") for number in range(6)), ("core_memory_remove", {"key": "age"}), ("fly", {})],
    [
        ("core_memory_retrieve_all", {}),
        ("core_memory_list_keys", {}),
        ("core_memory_replace", {"key": "name", "value": None}),
        ("archival_memory_retrieve", {"key": "tea"}),
        ("archival_memory_clear", {}),
    ],
    [("core_memory_retrieve", {"key": "name"}), ("archival_memory_list_keys", {}), ("core_memory_add", {"key": "a"})],
]
REC_SUM: list[list[Call]] = [
    [("memory_retrieve", {}), ("memory_append", {"text": "I'm 35. "}), ("memory_append", {"text": "x" * 10_000})],
    [("memory_append", {"text": "I like tea."}), ("memory_replace", {"old_text": "35", "new_text": "36"})],
    [("memory_retrieve", {}), ("memory_update", {"text": 3}), ("memory_clear", {"all": True})],
    [("memory_retrieve", {}), ("memory_clear", {})],
]


@pytest.mark.parametrize(("kind", "conversations"), [("kv", KV), ("rec_sum", REC_SUM)])
def test_what_one_conversation_writes_the_next_one_knows(
    kind: str, conversations: list[list[Call]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "overrides.py").write_text("def final(function):\n    return function\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGES), str(tmp_path)])
    assert named_alike(asyncio.run(ours(kind, conversations))) == named_alike(official(kind, conversations))


def named_alike(told: list[dict[str, Json]]) -> Json:
    """What was told, without what the harness puts before the names of functions, in texts too: its own variables."""
    plain: Json = json.loads(re.sub(r"model_\w*MemoryAPI_\w+_instance\.", "", json.dumps(told)))
    return plain


async def ours(kind: str, conversations: list[list[Call]]) -> list[dict[str, Json]]:
    told: list[dict[str, Json]] = []
    left: Json = None
    tools = [Tool(name) for calls in conversations for name, _ in calls]
    for calls in conversations:
        settings = ConversationSettings(
            "pytest_fcall.suites.bfcl.memory.world:make", {"kind": kind, "scenario": "customer", "left": left}
        )
        environment = await open_environment(settings, tools, EnvironmentContext(ROOT, ROOT))
        try:
            seen: Any = (await environment.state(["told"])).value
            results = [await environment.call(*call) for call in calls]
            after: Any = (await environment.state(["left"])).value
        finally:
            await environment.close()
        left = after["left"]
        told.append({**seen, "results": [result.value if result.error is None else NO_TOOL for result in results]})
    return told


NO_TOOL = "Error during execution: name 'fly' is not defined"
"""What the harness says of a tool that there is none of; ours says so in other words."""


def official(kind: str, conversations: list[list[Call]]) -> list[dict[str, Json]]:
    asked = {
        "kind": kind,
        "conversations": [[official_call_source(*call) for call in calls] for calls in conversations],
    }
    answer = subprocess.run(
        [str(PYTHON), "-m", "tests.conformance.official.memories"],
        cwd=ROOT,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    told: list[dict[str, Json]] = json.loads(answer.stdout)
    return told
