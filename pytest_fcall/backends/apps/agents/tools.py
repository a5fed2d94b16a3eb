"""The tools of an agent, as its model is offered them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.apps.agents.known import UnreadTool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.python_tools import tool_from_object

if TYPE_CHECKING:
    from pytest_fcall.core import Tool
    from pytest_fcall.core.extension import AgentKind


def read_agent_tools(agent: Any, kind: AgentKind, source: str) -> tuple[list[Tool], list[UnreadTool]]:
    """The tools of an agent, and what it offers its model besides. Raises SchemaError."""
    given: Sequence[object] = kind.tools(agent)
    tools = [tool_from_object(tool) for tool in given if not isinstance(tool, UnreadTool)]
    names = [tool.name for tool in tools]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SchemaError(f"the agent has two tools of the name {twice[0]!r}")
    return [replace(tool, source=source) for tool in tools], [each for each in given if isinstance(each, UnreadTool)]
