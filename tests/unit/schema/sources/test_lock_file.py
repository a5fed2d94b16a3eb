from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.lock_file import (
    LockEntry,
    describe_source,
    lock_path,
    public_source,
    read_lock,
    source_key,
    write_lock,
)

SHOP: dict[str, Json] = {"mcp": {"command": ["python", "shop.py"]}}
SEARCH = Tool(
    "search",
    "Find goods – schnell und überall.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
BUY = Tool("buy", "", {"type": "object", "properties": {}})


@pytest.mark.parametrize(
    ("case_file", "lock"),
    [
        ("cases/shop.fc.yaml", "cases/shop.tools.lock.json"),
        ("cases/shop.fc.yml", "cases/shop.tools.lock.json"),
        ("cases/shop.yaml", "cases/shop.tools.lock.json"),
        ("cases/v1.2.fc.yaml", "cases/v1.2.tools.lock.json"),
    ],
)
def test_a_lock_stands_beside_its_case_file(case_file: str, lock: str) -> None:
    assert lock_path(Path(case_file)) == Path(lock)


def test_what_was_locked_is_read_back_in_the_servers_order(tmp_path: Path) -> None:
    path = tmp_path / "shop.tools.lock.json"
    write_lock(path, [LockEntry(SHOP, (SEARCH, BUY))])
    tools = read_lock(path).tools(SHOP)
    assert tools is not None
    assert [(tool.name, tool.description, tool.parameters) for tool in tools] == [
        ("search", SEARCH.description, SEARCH.parameters),
        ("buy", "", BUY.parameters),
    ]
    assert tools[0].source == "mcp: python shop.py"


def test_a_source_that_was_never_locked_has_no_tools(tmp_path: Path) -> None:
    path = tmp_path / "shop.tools.lock.json"
    assert read_lock(path).tools(SHOP) is None
    write_lock(path, [LockEntry(SHOP, (SEARCH,))])
    assert read_lock(path).tools({"mcp": {"command": ["python", "other.py"]}}) is None


def test_renaming_and_choosing_come_after_reading() -> None:
    chosen: dict[str, Json] = {**SHOP, "as": "shop", "only": ["search"], "without": ["buy"]}
    assert source_key(chosen) == source_key(SHOP)


def test_the_same_tools_make_the_same_bytes_whatever_the_order_of_sources(tmp_path: Path) -> None:
    web: dict[str, Json] = {"openapi": "https://example.org/api.json"}
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    write_lock(one, [LockEntry(SHOP, (SEARCH,)), LockEntry(web, (BUY,))])
    write_lock(two, [LockEntry(web, (BUY,)), LockEntry(SHOP, (SEARCH,))])
    assert one.read_bytes() == two.read_bytes()


def test_arguments_keep_the_servers_order(tmp_path: Path) -> None:
    path = tmp_path / "shop.tools.lock.json"
    names = ["title", "author", "year"]
    parameters: dict[str, Json] = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    write_lock(path, [LockEntry(SHOP, (Tool("find", "", parameters),))])
    tools = read_lock(path).tools(SHOP)
    assert tools is not None
    properties = tools[0].parameters["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == names


def test_a_lock_is_made_for_reviewers(tmp_path: Path) -> None:
    path = tmp_path / "shop.tools.lock.json"
    write_lock(path, [LockEntry(SHOP, (SEARCH,))])
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    assert text == json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    assert data["version"] == 1
    assert data["sources"][source_key(SHOP)]["source"] == SHOP
    assert "überall" in text


def test_nothing_but_the_lock_is_left_in_the_folder(tmp_path: Path) -> None:
    write_lock(tmp_path / "shop.tools.lock.json", [LockEntry(SHOP, (SEARCH,))])
    assert os.listdir(tmp_path) == ["shop.tools.lock.json"]  # noqa: PTH208  # hidden files count


def test_a_lock_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "shop.tools.lock.json"
    write_lock(path, [LockEntry(SHOP, (SEARCH,))])
    before = path.read_bytes()
    endless = Tool("odd", "", {"maximum": float("inf")})
    with pytest.raises(SchemaError, match="cannot be written as JSON"):
        write_lock(path, [LockEntry(SHOP, (endless,))])
    assert path.read_bytes() == before


def test_a_folder_that_does_not_exist_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="cannot be written"):
        write_lock(tmp_path / "missing" / "shop.tools.lock.json", [])


@pytest.mark.parametrize(
    "secretive",
    [
        {"mcp": {"command": ["server"], "env": {"TOKEN": "hunter2", "B": "hunter2"}}},
        {"mcp": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer hunter2"}}},
        {"mcp": {"url": "https://me:hunter2@example.org/mcp"}},
        {"mcp": {"url": "https://me:a@hunter2@example.org/mcp"}},
        {"mcp": {"command": ["server", "--database=postgres://me:hunter2@example.org/shop"]}},
        {"openapi": "https://hunter2@example.org/api.json"},
        {"file": "https://me:hunter2@example.org/tools.json"},
    ],
)
def test_no_secret_is_stored_nor_has_a_part_in_the_key(tmp_path: Path, secretive: dict[str, Json]) -> None:
    path = tmp_path / "shop.tools.lock.json"
    write_lock(path, [LockEntry(secretive, (SEARCH,))])
    assert "hunter2" not in path.read_text(encoding="utf-8")
    assert "hunter2" not in describe_source(secretive)
    other: dict[str, Json] = json.loads(json.dumps(secretive).replace("hunter2", "swordfish"))
    assert source_key(other) == source_key(secretive)
    assert read_lock(path).tools(other) is not None


def test_the_names_of_variables_and_headers_are_stored() -> None:
    source: dict[str, Json] = {"mcp": {"command": ["server"], "env": {"B": "1", "A": "2"}}}
    assert public_source(source) == {"mcp": {"command": ["server"], "env": ["A", "B"]}}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (SHOP, "mcp: python shop.py"),
        ({"mcp": {"url": "https://example.org/mcp"}}, "mcp: https://example.org/mcp"),
        ({"openapi": "https://example.org/api.json", "operations": ["list"]}, "openapi: https://example.org/api.json"),
        ({"as": "x"}, "tools: "),
    ],
)
def test_a_source_is_described_in_a_few_words(source: dict[str, Json], words: str) -> None:
    assert describe_source(source) == words


def test_a_lone_surrogate_survives(tmp_path: Path) -> None:
    path = tmp_path / "shop.tools.lock.json"
    write_lock(path, [LockEntry(SHOP, (Tool("odd", "\ud800 é"),))])
    tools = read_lock(path).tools(SHOP)
    assert tools is not None
    assert tools[0].description == "\ud800 é"


def locked(**changes: object) -> str:
    entry = {"source": SHOP, "tools": [{"name": "a", "description": "", "parameters": {}}]}
    return json.dumps({"version": 1, "sources": {source_key(SHOP): entry}} | changes)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is JSON that is nested too deeply"),
        ('{"version": ' + "9" * 5000 + "}", "is JSON with a number of thousands of digits"),
        ("[]", "is not a lock file"),
        ("{}", "is not a lock file"),
        (locked(version=2), "has version 2; this pytest-fcall reads version 1"),
        (locked(sources=[]), "is not a lock file"),
        (locked(sources={"abc": {"source": SHOP, "tools": []}}), "was changed by hand at abc"),
        (locked(sources={source_key(SHOP): {"source": SHOP, "tools": [{"name": 1}]}}), "contains a tool without name"),
        (locked(sources={source_key(SHOP): 3}), "was changed by hand"),
        ("<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> other\n", "contains merge conflict markers"),
        ('{\n<<<<<<< HEAD\n"version": 1,\n=======\n"version": 1,\n>>>>>>> x\n}', "contains merge conflict markers"),
    ],
)
def test_a_damaged_lock_is_told_in_words_with_the_way_out(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "shop.tools.lock.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        read_lock(path)
    assert f"shop.tools.lock.json {words}" in caught.value.message
    assert "fcall tools lock" in caught.value.hint


def test_a_lock_that_is_no_text_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "shop.tools.lock.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match="cannot be read"):
        read_lock(path)
    with pytest.raises(SchemaError, match="cannot be read"):
        read_lock(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(parameters=st.dictionaries(st.text(), JSON, max_size=3), description=st.text())
def test_any_tool_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, parameters: dict[str, Json], description: str
) -> None:
    path = tmp_path_factory.mktemp("lock") / "shop.tools.lock.json"
    write_lock(path, [LockEntry(SHOP, (Tool("any", description, parameters),))])
    tools = read_lock(path).tools(SHOP)
    assert tools is not None
    assert (tools[0].description, tools[0].parameters) == (description, parameters)


@given(source=st.dictionaries(st.sampled_from(["mcp", "openapi", "file", "as"]), JSON, max_size=2))
def test_any_source_has_a_key_which_its_public_form_keeps(source: dict[str, Json]) -> None:
    assert source_key(public_source(source)) == source_key(source)
    assert isinstance(describe_source(source), str)


def test_how_an_operation_is_asked_for_is_kept(tmp_path: Path) -> None:
    origin: dict[str, Json] = {"openapi": {"method": "get", "path": "/pets", "parameters": {}}}
    source: dict[str, Json] = {"openapi": "https://pets.example/openapi.json"}
    path = tmp_path / "shop.tools.lock.json"
    write_lock(path, [LockEntry(source, (Tool("pets", origin=origin), Tool("plain")))])
    read = read_lock(path).tools(source)
    assert read is not None
    assert [tool.origin for tool in read] == [origin, None]
