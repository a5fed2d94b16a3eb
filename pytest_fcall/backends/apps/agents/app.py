"""An agent as an app, which is called with a request like a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.apps.agents.known import UnreadTool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.python_tools import tool_from_object

if TYPE_CHECKING:
    from pytest_fcall.core import Tool
    from pytest_fcall.core.app import AppRequest
    from pytest_fcall.core.extension import AgentKind


class AgentApp:
    """Calls an agent. It has tools and settings of its own, so those of cases are compared with them, not handed on."""

    def __init__(self, agent: Any, kind: AgentKind) -> None:
        self.agent = agent
        self._kind = kind
        self._own: frozenset[str] | None = None
        self._only_cases: dict[str, None] = {}
        self._only_agent: dict[str, None] = {}
        self._settings: dict[str, None] = {}
        self._unreadable = ""

    def __call__(self, request: AppRequest) -> object:
        """The answer of the agent, or an awaitable of it."""
        self._settings.update(dict.fromkeys(request.settings))
        if request.tools:
            self._compare({tool["function"]["name"] for tool in request.tools})
        return self._kind.call(self.agent, request)

    def note(self) -> str:
        """A line on what the cases and the agent differ in; empty where there is nothing to say."""
        differences = [
            _named("only the cases have the tools", self._only_cases),
            _named("only the agent has the tools", self._only_agent),
            _named("an agent is given no settings, so these of the cases were left out:", self._settings),
            self._unreadable,
        ]
        return "; ".join(filter(None, differences))

    def _compare(self, offered: set[str]) -> None:
        own = self._own_names()
        if own is not None:
            self._only_cases.update(dict.fromkeys(sorted(offered - own)))
            self._only_agent.update(dict.fromkeys(sorted(own - offered)))

    def _own_names(self) -> frozenset[str] | None:
        """The names of the agent's tools; None where not all of them can be read."""
        if self._own is None and not self._unreadable:
            try:
                tools, unread = read_agent_tools(self.agent, self._kind, "")
            except Exception as error:  # the code of a framework, or of another package
                self._unreadable = f"its tools cannot be compared with those of the cases: {error}"
                return None
            if unread:
                names = ", ".join(each.name for each in unread)
                self._unreadable = f"its tools cannot be compared with those of the cases, as of {names}"
                return None
            self._own = frozenset(tool.name for tool in tools)
        return self._own


def _named(what: str, names: Mapping[str, None]) -> str:
    return f"{what} {', '.join(names)}" if names else ""


def read_agent_tools(agent: Any, kind: AgentKind, source: str) -> tuple[list[Tool], list[UnreadTool]]:
    """The tools of an agent, and what it offers its model besides. Raises SchemaError."""
    given: Sequence[object] = kind.tools(agent)
    tools = [tool_from_object(tool) for tool in given if not isinstance(tool, UnreadTool)]
    names = [tool.name for tool in tools]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SchemaError(f"the agent has two tools of the name {twice[0]!r}")
    return [replace(tool, source=source) for tool in tools], [each for each in given if isinstance(each, UnreadTool)]
