from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.preamble import tool_sources

CASES = "cases: [{id: a, prompt: Hi, expect: no_call}]\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_servers_and_addresses_are_sources_and_nothing_else_is(tmp_path: Path) -> None:
    path = write(
        tmp_path / "cases/a.fc.yaml",
        """
tools:
  - {name: get_weather}
  - python: shop:buy
  - file: tools.json
  - openapi: pets.yaml
  - {openapi: "https://example.org/api.json", operations: [list]}
  - {mcp: {command: [server], env: {A: "${A}"}}, as: shop, only: [buy], without: [sell]}
"""
        + CASES,
    )
    assert [source.key for source in tool_sources(path, root=tmp_path)] == [
        {"openapi": "https://example.org/api.json", "operations": ["list"]},
        {"mcp": {"command": ["server"], "env": {"A": "${A}"}}},
    ]


def test_included_files_name_sources_too(tmp_path: Path) -> None:
    write(tmp_path / "all.tools.yaml", "tools: [{mcp: {url: 'https://example.org/mcp'}}]\n")
    path = write(tmp_path / "cases/a.fc.yaml", "include: [../all.tools.yaml]\ntools: [{mcp: {command: [x]}}]\n" + CASES)
    assert tool_sources(path, root=tmp_path) == [
        (path, tmp_path / "cases/a.tools.lock.json", {"mcp": {"command": ["x"]}}),
        (
            tmp_path / "all.tools.yaml",
            tmp_path / "all.tools.yaml.lock.json",
            {"mcp": {"url": "https://example.org/mcp"}},
        ),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tools: [{mcp: {command: [x]}}]\n",
        "- a list\n",
        CASES,
        "tools: nothing\n" + CASES,
        "tools: [3, {mcp: {a: 1, a: 2}}]\n" + CASES,
        "include: [nowhere.yaml]\n" + CASES,
    ],
)
def test_a_file_that_names_no_sound_source_has_none(tmp_path: Path, text: str) -> None:
    assert tool_sources(write(tmp_path / "a.fc.yaml", text), root=tmp_path) == []


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        tool_sources(write(tmp_path / "a.fc.yaml", "tools: ["), root=tmp_path)
