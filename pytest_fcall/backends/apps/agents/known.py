"""The frameworks whose agents are known, told apart by the names of classes, so that none has to be imported."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from pytest_fcall.core.app import AppRequest
    from pytest_fcall.core.extension import AgentKind


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
