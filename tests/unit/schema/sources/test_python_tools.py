"""Tools are found by their place in Python code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.python_tools import tools_from_python
from pytest_fcall.schema.tool_schema import tool_schema

Module = Callable[..., str]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Module]:
    """Write a module and return its name, which no other test uses."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(text: str, name: str = "tools") -> str:
        package = f"shop_{abs(hash(request.node.nodeid))}"
        (tmp_path / package).mkdir(exist_ok=True)
        (tmp_path / package / f"{name}.py").write_text(text, encoding="utf-8")
        return f"{package}.{name}"

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("shop_"):
            del sys.modules[name]


SHOP = '''
from __future__ import annotations
from os.path import join

def search(city: str) -> list[str]:
    """Search."""

def book(seat: Seat) -> None:
    """Book."""

def _private() -> None:
    pass

class Seat(TypedDict):
    row: int

class Desk:
    """A desk."""

    class Drawer:
        def open(self, key: str) -> None:
            """Open."""

    def ask(self, question: str) -> None:
        """Ask."""

DESK = Desk()
ALL = [search, Seat, {"name": "plain", "parameters": {}}]
DATA = {"name": "plain", "parameters": {}}
NUMBER = 3
'''.replace("from os.path", "from typing import TypedDict\nfrom os.path")


@pytest.mark.parametrize(
    ("attributes", "names"),
    [
        (":search", ["search"]),
        (":Seat", ["Seat"]),
        (":Desk.ask", ["ask"]),
        (":Desk.Drawer.open", ["open"]),
        (":DESK.ask", ["ask"]),
        (":ALL", ["search", "Seat", "plain"]),
        (":DATA", ["plain"]),
        (":_private", ["_private"]),
        ("", ["search", "book"]),
    ],
)
def test_tools_are_named_by_their_place(module: Module, attributes: str, names: list[str]) -> None:
    name = module(SHOP)
    tools = tools_from_python(f"{name}{attributes}")
    assert [tool.name for tool in tools] == names
    assert {tool.source for tool in tools} == {f"python: {name}{attributes}"}


def test_the_self_of_a_method_is_no_argument(module: Module) -> None:
    (tool,) = tools_from_python(f"{module(SHOP)}:Desk.ask")
    assert set(tool_schema(tool).parameters) == {"question"}


def test_hints_written_as_strings_are_resolved_in_their_module(module: Module) -> None:
    (tool,) = tools_from_python(f"{module(SHOP)}:book")
    assert tool_schema(tool).check({"seat": {"row": 1}}) == []
    assert tool_schema(tool).check({"seat": {"row": "1"}})


@pytest.mark.skipif(sys.version_info < (3, 12), reason="`type` statements came with Python 3.12")
def test_an_alias_may_hold_itself(module: Module) -> None:
    name = module("type Deep = int | list[Deep]\ndef dig(x: Deep) -> None: ...")
    (tool,) = tools_from_python(f"{name}:dig")
    assert tool_schema(tool).check({"x": [1, [2, [3]]]}) == []
    assert tool_schema(tool).check({"x": [1, ["2"]]})


@pytest.mark.parametrize(
    "spec",
    [
        "",
        ":",
        "a b",
        "shop:",
        ":search",
        "shop..tools",
        "shop.tools:search()",
        "shop.tools:a.",
        "shop/tools.py",
        "1",
        "a:b:c",
        "\0",
    ],
)
def test_what_is_no_place_in_python_code_is_told(spec: str) -> None:
    with pytest.raises(SchemaError) as caught:
        tools_from_python(spec)
    assert "is not of the form module:function" in caught.value.message
    assert caught.value.hint == "write package.module:function"


@pytest.mark.parametrize(
    ("attributes", "message", "hint"),
    [
        (":serch", "has no `serch`", "did you mean `search`?"),
        (":Desk.aks", "`Desk` has no `aks`", "did you mean `ask`?"),
        (":zzzz", "has no `zzzz`", ""),
        (":Desk", "the class `Desk` is not a tool", "name one of its methods"),
        (":NUMBER", "not the integer 3", ""),
    ],
)
def test_what_is_not_there_is_told(module: Module, attributes: str, message: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        tools_from_python(f"{module(SHOP)}{attributes}")
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_module_without_functions_of_its_own_is_told(module: Module) -> None:
    name = module("from os.path import join\nclass A: ...\ndef _b(): ...")
    with pytest.raises(SchemaError) as caught:
        tools_from_python(name)
    assert caught.value.message == f"{name} defines no public function"
    assert caught.value.hint == f"name one: {name}:NAME"


def test_a_module_that_is_not_there_asks_for_the_root_folder() -> None:
    with pytest.raises(SchemaError) as caught:
        tools_from_python("no_such_shop.tools:search")
    assert caught.value.message == "cannot import no_such_shop.tools: No module named 'no_such_shop'"
    assert "root folder" in caught.value.hint


@pytest.mark.parametrize(
    ("below", "hint"),
    [
        (".search", "did you mean `{}:search`?"),
        (".serch", "did you mean `{}:search`?"),
        (".py:search", "did you mean `{}:search`?"),
        (".py", "did you mean `{}`?"),
        (".Desk.book", "did you mean `{}:Desk.book`?"),
        (".Desk:book", "did you mean `{}:Desk.book`?"),
        (".zebra", "{} has no module and no function of this name"),
    ],
)
def test_a_name_in_a_module_may_be_written_with_a_colon(module: Module, below: str, hint: str) -> None:
    name = module("def search(city: str): ...\nclass Desk:\n    def book(self): ...\n")
    with pytest.raises(SchemaError) as caught:
        tools_from_python(name + below)
    assert caught.value.hint == hint.format(name)


def test_a_typo_in_the_name_of_a_module_beside_it_is_told(module: Module) -> None:
    name = module("def search(city: str): ...\n")
    with pytest.raises(SchemaError) as caught:
        tools_from_python(f"{name[:-1]}:search")
    assert caught.value.hint == f"did you mean `{name}:search`?"


def test_a_missing_library_of_the_module_is_told_with_the_line(module: Module) -> None:
    name = module("import os\n\nimport no_such_library\n")
    with pytest.raises(SchemaError) as caught:
        tools_from_python(name)
    assert caught.value.message == f"cannot import {name}: No module named 'no_such_library' (tools.py, line 3)"
    assert caught.value.hint == "the module needs `no_such_library`, which is not installed here"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ny = 1 / 0\n", "ZeroDivisionError: division by zero (tools.py, line 2)"),
        ("def f():\n    raise KeyError('a')\nf()\n", "KeyError: 'a' (tools.py, line 2)"),
        (
            "import json\njson.loads('')\n",
            "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (tools.py, line 2)",
        ),
        ("raise SystemExit('bye')\n", "SystemExit: bye (tools.py, line 1)"),
        ("import sys\nsys.exit()\n", "SystemExit (tools.py, line 2)"),
        ("raise ValueError('one\\ntwo\\n' + 'x' * 9999)\n", "ValueError: one two xxx"),
        ("raise ValueError('\\ud800 \\x1b[31m')\n", "ValueError: "),
        ("def f(:\n", "invalid syntax (tools.py, line 1)"),
        ("from os import nothing_like_it\n", "cannot import name 'nothing_like_it' from 'os'"),
        ("def f():\n    f()\nf()\n", "RecursionError: "),
        ("class E(Exception):\n    def __str__(self): raise TypeError\nraise E\n", "E (tools.py, line 3)"),
    ],
)
def test_whatever_a_module_raises_is_told_with_the_line(module: Module, text: str, told: str) -> None:
    name = module(text)
    with pytest.raises(SchemaError) as caught:
        tools_from_python(name)
    assert told in caught.value.message
    assert caught.value.message.startswith(f"cannot import {name}: ")
    assert len(caught.value.message) < 500
    assert "\n" not in caught.value.message


def test_the_line_of_another_file_of_the_team_is_told(module: Module) -> None:
    inner = module("\n\nraise ValueError('inside')\n", name="inner")
    name = module(f"import {inner}\n")
    with pytest.raises(SchemaError, match=r"inside \(inner\.py, line 3\)"):
        tools_from_python(name)


CLIENT = """
import os

KEY = os.environ["OPENAI_API_KEY"]

def search(city: str) -> str:
    \"\"\"Search.\"\"\"
"""


def test_a_module_that_makes_a_client_needs_no_key_to_be_read(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tool,) = tools_from_python(f"{module(CLIENT)}:search")
    assert tool.name == "search"
    assert "OPENAI_API_KEY" not in os.environ


def test_a_key_that_the_module_itself_sets_stays(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "before")
    monkeypatch.delenv("OPENAI_API_KEY")
    name = module('import os\nos.environ.setdefault("OPENAI_API_KEY", "own")' + CLIENT)
    (tool,) = tools_from_python(f"{name}:search")
    assert (tool.name, os.environ["OPENAI_API_KEY"]) == ("search", "own")


def test_a_module_that_fails_with_a_key_too_is_told_with_that_failure(
    module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SchemaError) as caught:
        tools_from_python(f"{module(CLIENT + 'raise ValueError(KEY[:3])')}:search")
    assert "ValueError: sk-" in caught.value.message
