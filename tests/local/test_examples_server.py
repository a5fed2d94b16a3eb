"""The server of which the apps of examples/ are recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

SERVER = Path(__file__).parents[2] / "examples/smollm2_server.py"
PATIENCE = 900
"""Seconds for an answer, the first of which takes an import of torch, a conversion and a load, on few cores."""
CANCEL = {
    "type": "function",
    "function": {
        "name": "cancel_order",
        "description": "Cancel an order.",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    },
}


@pytest.fixture(scope="module")
def url(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    command = [sys.executable, str(SERVER)]
    root = str(SERVER.parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(cache)}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as running:
        assert running.stdout
        yield running.stdout.readline().removeprefix("export OPENAI_BASE_URL=").split()[0]
        running.terminate()


def said(url: str, *messages: dict[str, Any]) -> dict[str, Any]:
    asked = {"model": "smollm2", "messages": list(messages), "tools": [CANCEL]}
    headers = {"content-type": "application/json"}
    request = Request(f"{url}/chat/completions", json.dumps(asked).encode(), headers)  # noqa: S310 - our own
    with urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
        choice: dict[str, Any] = json.load(answer)["choices"][0]
    return choice


@pytest.mark.nightly  # most of a minute, for a program that only makes the recordings of examples/
def test_a_wish_becomes_a_call_and_its_result_a_text(url: str) -> None:
    wish = {"role": "user", "content": "Cancel the order A18."}
    called = said(url, wish)
    assert called["finish_reason"] == "tool_calls"
    (call,) = called["message"]["tool_calls"]
    assert call["function"] == {"name": "cancel_order", "arguments": '{"order": "A18"}'}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "The order A18 is cancelled."}
    told = said(url, wish, called["message"], result)
    assert "tool_calls" not in told["message"]
    assert "A18" in told["message"]["content"]
