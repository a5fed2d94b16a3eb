"""Tools that are read from other files than those that a case file names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import CaseFileContent, read_case_file
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case, Tool
from pytest_fcall.schema.sources.lock_file import LockEntry, write_lock

CASES = "cases: [{id: a, prompt: Hi, expect: no_call}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.json").write_text('{"name": "buy", "description": "now"}')
    (tmp_path / "shop.tools.yaml").write_text("tools: [{name: find, description: now}]\ndefaults: {tags: [today]}\n")
    return tmp_path


def read(folder: Path, text: str, **others: Path) -> CaseFileContent:
    """Read a case file with other files for those of these names, in which `_` stands for a dot."""
    path = folder / "a.fc.yaml"
    path.write_text(text + CASES)
    files = {folder / name.replace("_", "."): other for name, other in others.items()}
    return read_case_file(path, root=folder, extensions=Extensions(tool_file=lambda path: files.get(path, path)))


def descriptions(file: CaseFileContent) -> dict[str, str]:
    assert file.faults == ()
    return {tool.name: tool.description for case in file.entries if isinstance(case, Case) for tool in case.tools}


def test_tools_of_an_included_file_come_from_the_other_one_and_nothing_else_does(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("outside") / "old.yaml"
    other.write_text("tools: [{name: find, description: then}, {file: tools.json}]\ndefaults: {tags: [then]}\n")
    file = read(folder, "include: shop.tools.yaml\n", shop_tools_yaml=other)
    assert descriptions(file) == {"find": "then", "buy": "now"}
    assert [case.tags for case in file.entries if isinstance(case, Case)] == [("today",)]


def test_files_and_locks_that_tools_name_are_exchanged_as_well(folder: Path) -> None:
    (folder / "old.json").write_text('{"name": "buy", "description": "then"}')
    entry = LockEntry({"mcp": {"command": ["shop"]}}, (Tool("sell", "then", {"type": "object"}),))
    write_lock(folder / "old.lock.json", [entry])
    text = "tools: [{file: tools.json}, {mcp: {command: [shop]}}]\n"
    others = {"tools_json": folder / "old.json", "a_tools_lock_json": folder / "old.lock.json"}
    assert descriptions(read(folder, text, **others)) == {"buy": "then", "sell": "then"}


def test_a_file_that_is_only_there_in_the_other_version_is_read(folder: Path) -> None:
    (folder / "old.json").write_text('{"name": "buy", "description": "then"}')
    assert descriptions(read(folder, "tools: [{file: gone.json}]\n", gone_json=folder / "old.json")) == {"buy": "then"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "the other version of `shop.tools.yaml`: the file cannot be read: No such file"),
        ("tools: [", "a value is missing here, or a bracket above is not closed"),
        ("[1]", "a file of tools must be a mapping"),
        ("tools: 3", "`tools` must be a list"),
    ],
)
def test_another_version_that_cannot_be_read_is_a_fault(folder: Path, content: str | None, said: str) -> None:
    other = folder / "old.yaml"
    if content is not None:
        other.write_text(content)
    (fault,) = read(folder, "include: shop.tools.yaml\n", shop_tools_yaml=other).faults
    assert fault.message.startswith(said)
    assert fault.location.path == "shop.tools.yaml"
