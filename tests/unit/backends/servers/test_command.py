from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_fcall.backends.servers.command import Command, command_from_data, command_words, is_command
from pytest_fcall.core import Json


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("vllm serve {model} --port {port}", ["vllm", "serve", "Qwen/Qwen3-8B", "--port", "{port}"]),
        ("'my server' --port={port} ''", ["my server", "--port={port}", ""]),
        ("""serve --json '{"a": {"b": 1}}' {port}""", ["serve", "--json", '{"a": {"b": 1}}', "{port}"]),
        ("serve {port} $HOME `id` > x; y && z", ["serve", "{port}", "$HOME", "`id`", ">", "x;", "y", "&&", "z"]),
    ],
)
def test_a_command_is_taken_apart_as_by_a_shell_that_replaces_nothing(written: str, words: list[str]) -> None:
    assert is_command(written)
    assert command_words(written, "Qwen/Qwen3-8B") == words


def test_the_running_interpreter_has_a_name_of_its_own() -> None:
    assert command_words("{python} -m shop --port {port}") == [sys.executable, "-m", "shop", "--port", "{port}"]


@pytest.mark.parametrize(
    "value",
    ["", "  ", "''", "vllm serve", "{port}", "serve 'x {port}", "'' {port}", "serve \0 {port}", None, 1, ["{port}"]],
)
def test_what_cannot_be_started_at_a_port_of_ours_is_no_command(value: Json) -> None:
    assert not is_command(value)


def test_the_port_is_put_wherever_it_is_wanted() -> None:
    command = Command(["serve", "127.0.0.1:{port}", '{"port": {port}}'], "", Path())
    assert command.words_at(80) == ["serve", "127.0.0.1:80", '{"port": 80}']


def test_a_command_is_the_same_on_the_other_side(tmp_path: Path) -> None:
    command = Command(["/opt/vllm", "{port}"], "http://127.0.0.1:{port}/v1", tmp_path, 0.5)
    assert command_from_data(json.loads(json.dumps(command.to_data()))) == command
    assert command.program == "vllm"
