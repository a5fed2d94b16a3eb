"""The example agent runs offline from the recordings beside it, and a changed prompt is found."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.command import run_pytest

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "agent"
OFFLINE = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "", "CI": ""}
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLE, tmp_path / "agent", ignore=shutil.ignore_patterns("__pycache__", ".fcall"))


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    options = ["-p", "no:cacheprovider", "-p", "no:randomly", "-q"]
    return run_pytest(folder, *options, *arguments, **environment)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_both_agents_run_offline(example: Path) -> None:
    done = run(example, "--fc-replay", **OFFLINE)
    assert "6 passed" in done.stdout, done.stdout


@needs_node
def test_the_agent_in_javascript_runs_offline(example: Path) -> None:
    done = run(example, "--fc-replay", "--fc-model=http:node", **OFFLINE)
    assert "3 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("file", "model"),
    [
        ("shop/agent.py", "python:shop.agent:answer"),
        ("shop/agent.py", "python:shop.agent:answer_async"),
        pytest.param("server.mjs", "http:node", marks=needs_node),
    ],
)
def test_a_changed_prompt_is_caught_and_named(example: Path, file: str, model: str) -> None:
    change(example / file, "Be brief.", "Answer in rhymes.")
    done = run(example, "--fc-replay", f"--fc-model={model}", **OFFLINE)
    assert done.returncode == 10, done.stdout
    assert "3 errors" in done.stdout
    assert f"{model}: request 1 to gpt-5.2 is not recorded" in done.stdout
    assert re.search(r"- …?.*Be brief\.\n +\+ …?.*Answer in rhymes\.", done.stdout)


def test_a_mistake_in_a_tool_is_caught_where_it_changes_what_is_asked(example: Path) -> None:
    change(example / "shop" / "tools.py", "owner == customer", "owner != customer")
    done = run(example, "--fc-replay", "--fc-model=python:shop.agent:answer", "-k", "status", **OFFLINE)
    assert "request 2 to gpt-5.2 is not recorded" in done.stdout
    assert '["B4"]' in done.stdout.replace("\\", "")


def test_a_mistake_after_the_last_request_is_a_failure(example: Path) -> None:
    change(example / "shop" / "agent.py", "    return messages\n\n\nasync", "    return messages[:-1]\n\n\nasync")
    done = run(example, "--fc-replay", "--fc-model=python:shop.agent:answer", **OFFLINE)
    assert done.returncode == 1, done.stdout


@pytest.fixture
def stand_in(example: Path) -> Iterator[dict[str, str]]:
    command = [sys.executable, "stand_in.py"]
    with subprocess.Popen(command, cwd=example, stdout=subprocess.PIPE, encoding="utf-8") as running:
        assert running.stdout
        told = running.stdout.readline().removeprefix("export ").split()
        yield dict(each.split("=", 1) for each in told)
        running.kill()


def test_what_is_recorded_is_what_its_stand_in_says(example: Path, stand_in: dict[str, str]) -> None:
    shutil.rmtree(example / "cases" / "__fcall__")
    done = run(example, "--fc-live", **stand_in)
    assert "6 passed" in done.stdout, done.stdout
    offline = run(example, "--fc-replay", **OFFLINE)
    assert "6 passed" in offline.stdout, offline.stdout
    assert (example / ".fcall" / "replies.db").exists()
