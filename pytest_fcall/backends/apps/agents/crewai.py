"""CrewAI: `kickoff` of an agent with the conversation, or of a crew with the user's text as its only input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_fcall.backends.apps.agents.messages import History, read_history, with_content
from pytest_fcall.core.app import AppRequest


def call(agent: Any, request: AppRequest) -> object:
    """Run the agent or the crew, whose memory must be off: it would last from case to case."""
    history = read_history(request, "CrewAI")
    if any(getattr(each, "memory", None) for each in (agent, *_members(agent))):
        raise history.unfit("its memory is on, which lasts from case to case")
    if hasattr(agent, "tasks"):
        return agent.copy().kickoff(inputs=_inputs(agent, history))
    for message in (*history.earlier, history.question()):
        history.without_images(message)
    _forget_results(agent)
    output = agent.kickoff(with_content(request))
    if history.earlier:
        output.messages = since_question(history, output.messages)
    return output


def tools(agent: Any) -> list[object]:
    """The tools of the agent, or of all agents and tasks of a crew."""
    from crewai.utilities.agent_utils import convert_tools_to_openai_schema

    held = {id(tool): tool for each in (agent, *_members(agent)) for tool in getattr(each, "tools", None) or ()}
    return [*convert_tools_to_openai_schema([*held.values()])[0]]


def since_question(history: History, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages from the user's last one on, which the agent puts into a sentence of its own."""
    text = history.question().text
    asked = [
        number
        for number, message in enumerate(messages)
        if message.get("role") == "user" and text in str(message.get("content"))
    ]
    if not asked:
        raise history.refused("a conversation of several messages, as its output does not show where the last one is")
    return [*messages[asked[-1] :]]


def _members(agent: Any) -> Iterator[Any]:
    """The agents and tasks of a crew."""
    yield from getattr(agent, "agents", None) or ()
    yield from getattr(agent, "tasks", None) or ()


def _inputs(crew: Any, history: History) -> dict[str, str]:
    names = sorted(crew.fetch_inputs())
    if len(names) != 1:
        known = ", ".join(f"{{{name}}}" for name in names) or "none"
        raise history.unfit(f"the placeholders of its tasks are not one but {known}")
    return {names[0]: history.text_alone()}


def _forget_results(agent: Any) -> None:
    """Let no result of an earlier case answer a call: agents keep results by the arguments of calls."""
    if getattr(agent, "cache", False) and hasattr(agent, "set_cache_handler"):
        from crewai.agents.cache.cache_handler import CacheHandler

        agent.set_cache_handler(CacheHandler())
