from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.mcp_server import list_mcp_tools

SERVER = str(Path(__file__).parents[3] / "mcp_server.py")
TOOLS: list[dict[str, Json]] = [
    {
        "name": f"tool_{number}",
        "description": f"The tool number {number}.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
    for number in range(5)
]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "offered.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return path


def ask(server: dict[str, Json], folder: Path, timeout: float = 30, **environment: str) -> list[dict[str, Json]]:
    return list_mcp_tools(server, folder=folder, environment=environment, timeout=timeout)


def refusal(server: dict[str, Json], folder: Path, timeout: float = 30, **environment: str) -> str:
    with pytest.raises(SchemaError) as caught:
        ask(server, folder, timeout, **environment)
    return f"{caught.value.message}\n{caught.value.hint}"


def stdio(*arguments: str | Path, **more: Json) -> dict[str, Json]:
    return {"command": [sys.executable, SERVER, *map(str, arguments)], **more}


@contextmanager
def served(python: str, *arguments: str | Path) -> Iterator[str]:
    command = [python, SERVER, *map(str, arguments), "--http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
        finally:
            server.terminate()


def test_a_server_is_started_asked_and_stopped(tools: Path) -> None:
    assert ask(stdio(tools), tools.parent) == TOOLS


@pytest.mark.parametrize("arguments", [[], ["--sdk"]])
def test_all_pages_are_read(tools: Path, python: str, arguments: list[str]) -> None:
    assert ask({"command": [python, SERVER, str(tools), "--page", "2", *arguments]}, tools.parent) == TOOLS


def test_the_command_runs_in_the_folder_of_the_case_file_or_where_it_says(tools: Path) -> None:
    assert ask(stdio(tools.name), tools.parent) == TOOLS
    assert ask(stdio(tools.name, cwd=tools.parent.name), tools.parent.parent) == TOOLS


def test_variables_reach_the_server_and_come_from_the_environment(tools: Path) -> None:
    server = stdio(tools, "--token", "s3cret", env={"SHOP_TOKEN": "s${REST}"})
    assert ask(server, tools.parent, REST="3cret") == TOOLS


def test_a_variable_that_is_not_set_is_named(tools: Path) -> None:
    said = refusal(stdio(tools, env={"SHOP_TOKEN": "${NOT_SET}"}), tools.parent)
    assert "the environment variable NOT_SET is not set\nexport NOT_SET=…" in said


def test_a_server_that_ends_at_once_is_quoted(tools: Path) -> None:
    said = refusal(stdio(tools, "--token", "s3cret"), tools.parent)
    assert "ended before it listed its tools; its last output:\n    shop: SHOP_TOKEN is wrong" in said


def test_of_a_long_last_speech_the_end_is_quoted(tmp_path: Path) -> None:
    said = refusal(
        {"command": [sys.executable, "-c", "import sys\nfor n in range(99): print(n, 'x' * 999, file=sys.stderr)"]},
        tmp_path,
    )
    assert "    98 xxx" in said
    assert "    90 xxx" not in said
    assert len(said) < 4000


def test_a_missing_command_is_named(tmp_path: Path) -> None:
    assert "command not found: no-such-server" in refusal({"command": ["no-such-server"]}, tmp_path)


def test_the_running_interpreter_has_a_name_of_its_own(tools: Path) -> None:
    assert ask({"command": ["{python}", SERVER, str(tools)]}, tools.parent) == TOOLS


@pytest.mark.skipif(sys.platform == "win32", reason="a script for a shell")
def test_another_interpreter_on_the_path_is_named_beside_what_it_said(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 'No module named shop' >&2\nexit 1\n", encoding="utf-8")
    other.chmod(0o755)
    said = refusal({"command": ["python", "server.py"], "env": {"PATH": str(tmp_path)}}, tmp_path)
    assert "'python server.py' ended before it listed its tools; its last output:\n    No module named shop\n" in said
    assert said.endswith(f'python is {other}; "{{python}}" in its place is {sys.executable}, which runs this')


def test_where_there_is_no_python_the_running_one_is_named(tmp_path: Path) -> None:
    said = refusal({"command": ["python", "server.py"], "env": {"PATH": str(tmp_path)}}, tmp_path)
    assert said == f'command not found: python\n"{{python}}" in its place is {sys.executable}, which runs this'


def test_the_placeholder_without_quotes_is_a_mapping_of_yaml(tmp_path: Path) -> None:
    said = refusal({"command": [{"python": None}, "server.py"]}, tmp_path)
    assert said == 'a word of `command` is a mapping\nin quotes: ["{python}", …]'


def test_a_file_that_is_no_program_is_named(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("print()", encoding="utf-8")
    assert "is not executable" in refusal({"command": [str(tmp_path / "server.py")]}, tmp_path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    said = refusal({"command": [sys.executable], "cwd": "nowhere"}, tmp_path)
    assert f"the folder {tmp_path / 'nowhere'} does not exist" in said


def test_a_program_that_talks_something_else_is_quoted(tmp_path: Path) -> None:
    # It ends only once it was asked: one that ends before may do so before anybody has read what it says.
    talks = "import sys; print('Hello, world', flush=True); sys.stdin.readline()"
    said = refusal({"command": [sys.executable, "-c", talks]}, tmp_path)
    assert "ended before it listed its tools; its last output:\n    Hello, world" in said


def test_a_program_that_repeats_what_it_hears_is_no_server(tmp_path: Path) -> None:
    echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    assert "is not an MCP server" in refusal({"command": [sys.executable, "-c", echo]}, tmp_path)


def test_a_program_that_never_answers_is_given_up_and_stopped(tmp_path: Path) -> None:
    deaf = "import sys, pathlib\nfor line in sys.stdin: pass\npathlib.Path('ended').touch()"
    said = refusal({"command": [sys.executable, "-c", deaf]}, tmp_path, timeout=0.5)
    assert "did not answer as an MCP server within 0.5 seconds" in said
    assert (tmp_path / "ended").exists()


def test_a_server_is_asked_over_http(tools: Path, python: str) -> None:
    with served(python, tools, "--page", "2") as url:
        assert ask({"url": url}, tools.parent) == TOOLS


def test_headers_are_sent_and_come_from_the_environment(tools: Path, python: str) -> None:
    headers: dict[str, Json] = {"Authorization": "Bearer ${KEY}"}
    with served(python, tools, "--token", "s3cret") as url:
        server: dict[str, Json] = {"url": url.replace("127.0.0.1", "${HOST}"), "headers": headers}
        assert ask(server, tools.parent, KEY="s3cret", HOST="127.0.0.1") == TOOLS
        refused = refusal(server, tools.parent, KEY="wrong", HOST="127.0.0.1")
    assert "${HOST}" in refused
    assert "answered 401 Unauthorized" in refused
    assert "wrong" not in refused


def test_a_wrong_path_is_told_from_a_dead_server(tools: Path, python: str) -> None:
    with served(python, tools) as url:
        assert "answered 404 Not Found: not an MCP server\nthe path of many servers is /mcp" in refusal(
            {"url": url.removesuffix("/mcp")}, tools.parent
        )


def test_a_dead_server_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = refusal({"url": f"http://me:s3cret@127.0.0.1:{port}/mcp"}, tmp_path)
    assert f"http://127.0.0.1:{port}/mcp cannot be reached" in said


def test_a_server_that_accepts_and_is_silent_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = refusal({"url": f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"}, tmp_path, timeout=0.3)
    assert "did not answer as an MCP server within 0.3 seconds" in said


@pytest.mark.parametrize("url", ["shop", "ftp://127.0.0.1/mcp", "http://"])
def test_what_is_no_address_is_told(tmp_path: Path, url: str) -> None:
    assert f"{url} is not a valid address" in refusal({"url": url}, tmp_path)


@pytest.mark.parametrize("value", ["a\nb", "ä"])
def test_a_header_that_cannot_be_sent_is_named_without_its_value(tmp_path: Path, value: str) -> None:
    said = refusal({"url": "http://127.0.0.1:9", "headers": {"X-Key": value}}, tmp_path)
    assert "the header X-Key contains a character that is not allowed" in said
    assert value not in said


@pytest.mark.parametrize(
    "server",
    [
        {},
        {"command": "python server.py"},
        {"command": []},
        {"command": [["python"]]},
        {"command": ["python"], "args": ["server.py"]},
        {"command": ["python"], "url": "http://127.0.0.1:9"},
        {"url": 3},
        {"url": "http://127.0.0.1:9", "env": {}},
    ],
)
def test_a_server_that_is_not_described_right_is_refused(tmp_path: Path, server: dict[str, Json]) -> None:
    assert "an MCP server needs either a `command` or a `url`\nwrite {command: [" in refusal(server, tmp_path)


@pytest.mark.parametrize("env", [["A"], {"A": True}, {"A": ["b"]}, "A=b"])
def test_variables_that_are_no_texts_are_refused(tmp_path: Path, env: Json) -> None:
    assert "`env` must be a mapping of names to strings" in refusal({"command": ["python"], "env": env}, tmp_path)
