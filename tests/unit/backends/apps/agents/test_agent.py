from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_fcall.backends.apps.agents.agent import AgentApp, UnreadTool, read_agent_tools
from pytest_fcall.core.request import AppRequest
from pytest_fcall.schema.errors import SchemaError
from tests.unit.backends.apps.agents.shapes import asked

SEARCH = {"name": "search", "parameters": {"type": "object", "properties": {}}}


class Kind:
    """A framework whose agents are lists of tools."""

    def recognizes(self, thing: object) -> bool:
        return isinstance(thing, list)

    def call(self, agent: Any, request: AppRequest) -> object:
        return request.messages[-1]["content"]

    def tools(self, agent: Any) -> Sequence[object]:
        if not agent:
            raise RuntimeError("out of tools")
        return list(agent)


def test_an_agent_answers_like_a_function() -> None:
    assert AgentApp([SEARCH], Kind())(asked()) == "hello"


def test_nothing_is_said_where_cases_and_agent_agree() -> None:
    app = AgentApp([SEARCH], Kind())
    app(asked(tools=("search",)))
    app(asked())
    assert app.note() == ""


def test_tools_by_which_they_differ_are_named_once_for_all_cases() -> None:
    app = AgentApp([SEARCH, {"name": "buy"}], Kind())
    app(asked(tools=("search", "sell")))
    app(asked(tools=("give", "buy")))
    assert app.note() == "only the cases have the tools sell, give; only the agent has the tools buy, search"


def test_settings_of_cases_are_named_as_left_out() -> None:
    app = AgentApp([SEARCH], Kind())
    app(asked(temperature=0))
    assert app.note() == "an agent is given no settings, so these of the cases were left out: temperature"


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ([], "out of tools"),
        ([SEARCH, UnreadTool("files", "a server has them")], "as of files"),
        ([SEARCH, SEARCH], "two tools of the name 'search'"),
        ([3], "a tool must be a function"),
    ],
    ids=["broken", "partly", "twice", "no tool"],
)
def test_tools_that_cannot_be_read_are_told_and_the_agent_still_answers(agent: list[Any], why: str) -> None:
    app = AgentApp(agent, Kind())
    assert app(asked(tools=("search",))) == "hello"
    assert app.note().startswith("its tools cannot be compared with those of the cases")
    assert why in app.note()


def test_tools_are_read_with_their_source_and_apart_from_what_is_no_tool() -> None:
    unread = UnreadTool("files", "a server has them")
    (tool,), left = read_agent_tools([SEARCH, unread], Kind(), "agent: shop:agent")
    assert (tool.name, tool.source, left) == ("search", "agent: shop:agent", [unread])


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(SchemaError, match="the agent has two tools of the name 'search'"):
        read_agent_tools([SEARCH, SEARCH], Kind(), "")
