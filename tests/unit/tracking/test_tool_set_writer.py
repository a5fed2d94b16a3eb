from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from pytest_fcall.core import Tool
from pytest_fcall.tracking import run_accounts
from pytest_fcall.tracking.question_digests import tool_digests
from pytest_fcall.tracking.run_accounts import ToolSetWriter, tool_of_line, tool_set_of_line

FIND, BOOK = Tool("find", "Finds.", {"type": "object"}), Tool("book", "Books.", {"type": "object"})


def test_a_set_and_its_tools_are_written_once() -> None:
    tools, offered = (FIND, BOOK), ToolSetWriter()

    name, lines = offered.name(tools)
    again, more = offered.name(tools)
    other, fewer = offered.name((FIND,))

    found = [tool_of_line(json.loads(line)) for line in lines]
    assert [tool and (tool.name, tool.description, tool.parameters) for tool in found] == [
        ("find", "Finds.", {"type": "object"}),
        ("book", "Books.", {"type": "object"}),
        None,
    ]
    assert lines
    named = tool_set_of_line(json.loads(lines[-1]))
    assert named == (name, [(tool.name, tool.digest) for tool in found if tool])
    assert (again, more) == (name, ())
    assert other != name
    assert [tool_set_of_line(json.loads(line)) for line in fewer] == [(other, named[1][:1])]


def test_equal_sets_have_one_name_in_all_processes() -> None:
    same = Tool("find", "Finds.", {"type": "object"}, source="elsewhere")
    assert ToolSetWriter().name((FIND, BOOK))[0] == ToolSetWriter().name((same, BOOK))[0]


def test_no_tools_need_no_name() -> None:
    assert ToolSetWriter().name(()) == ("", ())


def test_many_sets_do_not_pile_up() -> None:
    offered = ToolSetWriter()
    tools = [(Tool(f"tool {number}"), FIND) for number in range(3000)]
    names = [offered.name(each)[0] for each in tools]
    assert len({*names}) == 3000
    assert offered.name(tools[0]) == (names[0], [])


def test_tools_that_json_cannot_say_have_no_name() -> None:
    assert ToolSetWriter().name((Tool("find", "", {"default": float("nan")}),)) == ("", ())


def test_the_names_of_as_many_sets_as_a_run_may_have_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[object] = []

    def counting(tools: tuple[Tool, ...]) -> Sequence[tuple[str, str]]:
        counted.append(tools)
        return tool_digests(tools)

    monkeypatch.setattr(run_accounts, "tool_digests", counting)
    offered = ToolSetWriter()
    tools = [(Tool(f"tool {number}"),) for number in range(1_025)]
    for each in (*tools[:1_024], tools[0], tools[1_023], tools[1_024], tools[0]):
        offered.name(each)
    assert len(counted) == 1_026
