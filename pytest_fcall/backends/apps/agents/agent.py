"""Agents of frameworks: known by the names of classes, without any import of a framework; as apps; and their tools."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pytest_fcall.schema.errors import SchemaError

if TYPE_CHECKING:
    from pytest_fcall.core.extension import AgentKind
    from pytest_fcall.core.request import AppRequest, Tool


class UnreadTool(NamedTuple):
    """Something that an agent offers its model, and that is no tool with arguments to test."""

    name: str
    why: str


class Framework(NamedTuple):
    """A framework: the classes that its agents derive from, and the module of this room that calls them."""

    title: str
    package: str
    """The package that defines the classes, or their module where the package has a name that others may have."""
    classes: frozenset[str]
    module: str
    attributes: tuple[str, ...] = ()
    """Attributes that its agents have besides."""

    def recognizes(self, thing: object) -> bool:
        """Whether the class of this object, or one that it derives from, is one of the framework's."""
        return any(
            kind.__name__ in self.classes and f"{kind.__module__}.".startswith(f"{self.package}.")
            for kind in type(thing).__mro__
        ) and all(hasattr(thing, name) for name in self.attributes)

    def call(self, agent: Any, request: AppRequest) -> object:
        """Run the agent, and return its answer, or an awaitable of it."""
        return self._calls().call(agent, request)

    def tools(self, agent: Any) -> Sequence[object]:
        """The agent's tools: functions, or mappings in some provider's shape."""
        return self._calls().tools(agent)

    def _calls(self) -> AgentKind:
        return cast("AgentKind", import_module(f"{__package__}.{self.module}"))


FRAMEWORKS: Mapping[str, Framework] = MappingProxyType(
    {
        framework.title: framework
        for framework in (
            Framework("pydantic-ai", "pydantic_ai", frozenset({"AbstractAgent"}), "pydantic_ai"),
            Framework("openai-agents", "agents.agent", frozenset({"Agent"}), "openai_agents", ("handoffs",)),
            Framework("LangChain", "langchain_core", frozenset({"Runnable"}), "langchain"),
            Framework("smolagents", "smolagents", frozenset({"MultiStepAgent"}), "smolagents"),
            Framework("AutoGen", "autogen_agentchat", frozenset({"BaseChatAgent", "BaseGroupChat"}), "autogen"),
            Framework("AG2", "ag2", frozenset({"Agent"}), "ag2", ("ask",)),
            Framework("AG2 Classic", "autogen", frozenset({"ConversableAgent"}), "ag2_classic"),
            Framework("Google ADK", "google.adk", frozenset({"App", "BaseAgent", "BaseNode"}), "google_adk"),
            Framework("CrewAI", "crewai", frozenset({"BaseAgent", "Crew"}), "crewai"),
            Framework("LlamaIndex", "llama_index", frozenset({"BaseWorkflowAgent", "AgentWorkflow"}), "llama_index"),
            Framework("DSPy", "dspy", frozenset({"Module"}), "dspy"),
        )
    }
)

_NO_KINDS: Mapping[str, AgentKind] = MappingProxyType({})


def agent_kind(thing: object, added: Mapping[str, AgentKind] = _NO_KINDS) -> AgentKind | None:
    """The framework of this agent, among those known here and those that others `added`; None if it is none."""
    if isinstance(thing, type):
        return None
    kinds = (*added.values(), *FRAMEWORKS.values())
    return next((kind for kind in kinds if kind.recognizes(thing)), None)


def known_agents(added: Mapping[str, AgentKind] = _NO_KINDS) -> str:
    """The names of all frameworks whose agents can be called, for messages."""
    return ", ".join((*FRAMEWORKS, *added))


def result_without_waiting(work: Coroutine[object, None, Any]) -> Any:
    """The result of a coroutine that has nothing to wait for; None where it has."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    except RuntimeError:  # there is no event loop
        return None
    finally:
        work.close()
    return None


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
    from pytest_fcall.schema.sources.python_tools import tool_from_object

    given: Sequence[object] = kind.tools(agent)
    tools = [tool_from_object(tool) for tool in given if not isinstance(tool, UnreadTool)]
    names = [tool.name for tool in tools]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SchemaError(f"the agent has two tools of the name {twice[0]!r}")
    return [replace(tool, source=source) for tool in tools], [each for each in given if isinstance(each, UnreadTool)]
