"""The files that a version writes: those of a small project whose cases are planned, asked, accepted and kept."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.integration.command import fcall, run_pytest
from tests.servers import Answer, Asked, Server, chat

FOLDER = Path(__file__).parent
PROJECT = FOLDER / "project"
"""The project as a person writes it."""
VERSIONS = FOLDER / "versions"
"""A folder for each version, with what it wrote. That of a released version never changes."""
PLAN, REPLIES, RUN = "requests.jsonl", "replies.jsonl", "run.json"
KEPT = "kept"
"""What is `.fcall` in a project."""
AGENT = "--fc-model=python:agent:answer"
_MOST_ROUNDS = 5


def this_version() -> str:
    """The version that is installed."""
    return version("pytest-fcall")


def write_version(folder: Path) -> None:
    """Write what the installed version makes of the project. Raises AssertionError where a command fails."""
    shutil.copytree(PROJECT, folder)
    _plan_and_answer(folder)
    with Server(_served) as server:
        _run(folder, "-q", AGENT, "cases/agent.fc.yaml", "--fc-accept=all", upstream=f"{server.url}/v1")
    _run(folder, "-q", "cases/weather.fc.yaml", "--fc-replay", "--fc-accept=all", status=1)
    _record(folder, "--export")
    _run(folder, "-q", "cases/weather.fc.yaml", "--fc-replay", f"--fc-report={RUN}")
    for name in (".gitignore", "replies.db.lock"):
        (folder / ".fcall" / name).unlink()
    (folder / ".fcall").rename(folder / KEPT)
    for left in (".pytest_cache", "__pycache__"):
        shutil.rmtree(folder / left, ignore_errors=True)


def _plan_and_answer(folder: Path) -> None:
    """Have all requests answered round by round. The first plan and its replies stay."""
    _record(folder, "--plan", PLAN, "cases/weather.fc.yaml")
    plan, replies = folder / PLAN, folder / REPLIES
    for number in range(_MOST_ROUNDS):
        replies.write_text("".join(f"{json.dumps(row)}\n" for row in _answered(plan)), "utf-8")
        if number == 0:
            first = plan.read_bytes(), replies.read_bytes()
        said = fcall(folder, "record", "--from", REPLIES, "--plan", PLAN, "cases/weather.fc.yaml")
        if "0 requests" in said.stdout:
            plan.write_bytes(first[0])
            replies.write_bytes(first[1])
            return
    raise AssertionError(f"requests are open after {_MOST_ROUNDS} rounds: {said.stdout}{said.stderr}")


def _answered(plan: Path) -> Iterator[dict[str, Any]]:
    for line in plan.read_text("utf-8").splitlines():
        row = json.loads(line)
        if "digest" in row:
            calls = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in _calls(row)]
            reply = {"tool_calls": calls, "finish": "tool_calls"} if calls else {"text": "You are welcome."}
            usage = {"input_tokens": 40, "output_tokens": 12}
            yield {"digest": row["digest"], "reply": reply | {"usage": usage, "seconds": 0.25}}


def _calls(row: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a model that knows too little of Bergen, and is not always sure of Paris."""
    last = row["messages"][-1]
    said = str(last["content"]) if last["role"] == "user" else ""
    if "table" in said:
        return [("book_table", {"guest": "Ada"})]
    sure = row["sample"] != 1
    return [("get_weather", {"city": city}) for city in re.findall("Oslo|Rome|Bergen|Paris", said) if sure]


def _served(asked: Asked) -> Answer:
    return chat(calls=[("get_weather", {"city": "Oslo"})])


def _record(folder: Path, *arguments: str) -> None:
    done = fcall(folder, "record", *arguments)
    assert done.returncode in (0, 10), done.stdout + done.stderr


def _run(folder: Path, *arguments: str, status: int = 0, upstream: str = "") -> None:
    done = run_pytest(folder, *arguments, OPENAI_BASE_URL=upstream, CI="")
    assert done.returncode == status, done.stdout + done.stderr
