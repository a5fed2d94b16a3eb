from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fcall.suites.bfcl.memory.world import make
from tests.unit.suites.bfcl.memory.package import write_memories


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package can be imported, in a folder of its own, and is forgotten afterwards."""
    write_memories(tmp_path, {})
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BFCL_PROJECT_ROOT", "elsewhere")
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "bfcl_eval"]:
        del sys.modules[name]


def call(memory: object, tool: str, **arguments: str) -> str:
    said = getattr(memory, tool)(**arguments)
    assert isinstance(said, str)
    return said


def test_a_memory_hands_on_what_was_written() -> None:
    first = make("kv", "customer", None)
    assert (first.left, first.told) == ({}, "nothing")
    assert call(first, "add", key="tea", value="green") == '{"status": "added"}'
    second = make("kv", "customer", first.left)
    assert (second.left, second.told) == ({"tea": "green"}, '{"tea": "green"}')
    assert call(second, "read", key="tea") == '{"value": "green"}'


def test_what_one_conversation_writes_another_does_not_see() -> None:
    left = make("kv", "customer", None).left
    one, other = make("kv", "customer", left), make("kv", "customer", left)
    call(one, "add", key="tea", value="green")
    assert other.left == {}


def test_errors_are_told_as_the_official_harness_tells_them() -> None:
    memory = make("kv", "customer", None)
    assert call(memory, "read", key="tea") == "Error during execution: 'tea'"
    assert call(memory, "read", cup="tea").endswith("got an unexpected keyword argument 'cup'")


def test_files_of_the_package_are_made_where_the_process_may_write(tmp_path: Path) -> None:
    make("kv", "customer", None)
    assert (tmp_path / "notes").is_dir()
