"""Each extra by itself: what it is for works with it, and without it the error names the command that brings it."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.installs.environments import Environment, by_uv, python_of, users_variables
from tests.installs.project import Project
from tests.pages import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
_HELLO = {"hello.fc.yaml": "cases: [{id: hello, prompt: Hello, expect: no_call}]"}
_BM25, _EMBEDDINGS = "{with: bm25, k: 1}", "{with: embeddings, model: ./nowhere, k: 1}"
_CATALOGUE = {
    "catalogue.fc.yaml": f"""
tools:
  - {{name: get_weather, description: The forecast for a place., parameters: {{type: object, properties: {{}}}}}}
  - {{name: book_flight, description: Buy a ticket., parameters: {{type: object, properties: {{}}}}}}
defaults:
  retrieve: {_BM25}
cases:
  - {{id: flight, prompt: Buy a ticket., expect: [book_flight: {{}}]}}
""",
    "first.py": """
def answer(request):
    return [{"name": request.tools[0]["function"]["name"], "arguments": {}}]
""",
}
_FIRST_IS_ASKED = ("pytest", "--fc-model=python:first:answer")
_CAT = {
    "cat.fc.yaml": """
cases:
  - id: cat
    prompt: What sat on the mat?
    expect: no_call
    answer: {$contains: The cat sat on the mat.}
""",
    "says.py": """
def answer(request):
    return "The cat sat on the mat."
""",
}
_CAT_IS_ASKED = ("pytest", "--fc-model=python:says:answer")
_SERVED = {
    "served.fc.yaml": """
tools:
  - mcp: {command: [python, mcp_server.py, tools.json]}
cases:
  - {id: weather, prompt: Will it rain?, expect: [get_weather: {}]}
""",
    "tools.json": '[{"name": "get_weather", "inputSchema": {"type": "object", "properties": {}}}]',
    "mcp_server.py": (ROOT / "tests/mcp_server.py").read_text("utf-8"),
}
_NOBODY = "127.0.0.1:9"
"""Nothing listens there."""
_STORE = f"[pytest]\nfc_store = postgresql://u@{_NOBODY}/d?project=p\nfc_model = openai:m"
_API = {"domain": "Vision", "api_call": "torch.hub.load(repo_or_dir='zoo', model='tiny')"}
_ANSWER = {
    "hub": "torchhub",
    "setting": "mine_0_shot",
    "question_id": 1,
    "response": f"'api_call': \"{_API['api_call']}\", 'api_provider': 'PyTorch'",
    "gold_api_call": _API["api_call"],
    "gold_domain": "Vision",
}


@dataclass(frozen=True)
class Extra:
    """What an extra is for."""

    command: Sequence[str]
    works: str
    """What is said where it is installed: of nobody there to answer, where that is all that a machine can show."""
    files: Mapping[str, str] = field(default_factory=dict)
    made: str = ""
    """The file that the command writes."""
    status: int = 0


def _with(files: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """The files with another text in them."""
    return {name: text.replace(old, new) for name, text in files.items()}


TABLE = {
    "any": Extra(
        ("pytest", f"--fc-model=any:openai/m?base_url=http://{_NOBODY}/v1"), "Connection error", _HELLO, status=10
    ),
    "apibench": Extra(
        ("fcall", "score", "--format=apibench", "--api-db=.", "rows.jsonl"),
        '"verdict": "correct"',
        {"torchhub_api.jsonl": json.dumps(_API), "rows.jsonl": json.dumps(_ANSWER)},
    ),
    "prices": Extra(("pytest", "--fc-dry-run", "--fc-model=openai:gpt-4o-mini"), "$0.0", _HELLO),
    "parquet": Extra(
        ("fcall", "record", "--plan=open.parquet", "--fc-model=openai:m"), "open.parquet", _HELLO, made="open.parquet"
    ),
    "ray": Extra(
        ("fcall", "record", "--engine=ray", f"--address={_NOBODY}", "--fc-model=openai:m"),
        f"no cluster of Ray answers at {_NOBODY}",
        _HELLO,
        status=1,
    ),
    "local": Extra(
        ("pytest", "--fc-model=local:model"),
        "model.safetensors cannot be read",
        {**_HELLO, "model/config.json": "{}", "model/model.safetensors": ""},
        status=10,
    ),
    "mcp": Extra(("fcall", "tools", "lock"), "served.tools.lock.json", _SERVED, made="served.tools.lock.json"),
    "report": Extra((*_CAT_IS_ASKED, "--fc-report=page.html"), "1 passed", _CAT, made="page.html"),
    "inspect": Extra((*_CAT_IS_ASKED, "--fc-report=run.eval"), "1 passed", _CAT, made="run.eval"),
    "postgres": Extra(("pytest",), "port 9 failed", {**_HELLO, "pytest.ini": _STORE}, status=10),
    "retrieval": Extra(_FIRST_IS_ASKED, "1 passed", _CATALOGUE),
    "embeddings": Extra(_FIRST_IS_ASKED, "nowhere", _with(_CATALOGUE, _BM25, _EMBEDDINGS), status=1),
    "text": Extra(_CAT_IS_ASKED, "1 passed", _with(_CAT, "$contains", "$rouge")),
}


def test_the_table_has_all_extras() -> None:
    assert TABLE.keys() == EXTRAS.keys() - {"dev"}


@pytest.mark.parametrize("extra", TABLE)
def test_an_error_names_the_extra_that_is_missing(extra: str, plain: Environment, tmp_path: Path) -> None:
    ended = _tried(TABLE[extra], plain, tmp_path)
    assert f'pip install "pytest-fcall[{extra}]"' in ended.stdout, ended.stdout
    assert "Traceback" not in ended.stdout


@pytest.mark.parametrize("extra", TABLE)
def test_it_works_with_the_extra_alone(extra: str, wheel: Path, tmp_path: Path) -> None:
    environment = by_uv(tmp_path / "venv", python_of("3.11"), f"{wheel}[{extra}]")
    wanted = TABLE[extra]
    ended = _tried(wanted, environment, tmp_path / "project")
    assert ended.returncode == wanted.status, ended.stdout
    assert wanted.works in ended.stdout
    assert "pytest-fcall[" not in ended.stdout
    assert "Traceback" not in ended.stdout
    assert not wanted.made or (tmp_path / "project" / wanted.made).stat().st_size


def _tried(extra: Extra, environment: Environment, folder: Path) -> CompletedProcess[str]:
    variables = users_variables(OPENAI_API_KEY="none", PATH=f"{environment.programs}{os.pathsep}{os.environ['PATH']}")
    project = Project(folder, environment.with_variables(variables))
    for name, text in extra.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return project.run(*extra.command)
