"""CrewAI: `kickoff` of an agent with the conversation, or of a crew with the user's text; outputs of both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_fcall.backends.apps.agents.messages import MessageHistory, read_history, with_content
from pytest_fcall.backends.apps.answers.chat import messages_of
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_of, result_of
from pytest_fcall.backends.apps.answers.values import Fields, as_text, check_ignored, numbered_items, required_fields
from pytest_fcall.core.request import AppRequest


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


def since_question(history: MessageHistory, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
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


def _inputs(crew: Any, history: MessageHistory) -> dict[str, str]:
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


_UNDERSTOOD = "an output with `messages`"
_ACTION = re.compile(
    r"Action\s*\d*\s*:\s*(?P<name>.*?)\s*Action\s*\d*\s*Input\s*\d*\s*:\s*(?P<input>.*?)"
    r"\s*(?:\n\s*Observation\s*:\s*(?P<told>.*))?\Z",
    re.DOTALL,
)
"""A call as agents write it for models without native calls, with what it gave."""
_SUMMARY = re.compile(r"\s*<summary>.*</summary>\s*Continue the task from where the conversation left off", re.DOTALL)
_HARMLESS = frozenset({"description", "expected_output", "summary", "tool_failures", "plan", "todos", "usage_metrics"})


def read_output(data: Fields, place: str = "") -> AppAnswer:
    """The actions of the agents of a crew, or of one of them."""
    outputs = [(data, place)]
    if "tasks_output" in data:
        check_ignored(data, ("tasks_output", "pydantic", "json_dict"), place)
        tasks = numbered_items(data["tasks_output"], inside(place, "tasks_output"))
        outputs = [(required_fields(task, task_place, _UNDERSTOOD), task_place) for task, task_place in tasks]
    messages = [message for output, output_place in outputs for message in _messages(output, output_place)]
    return AppAnswer(messages, is_trail=True, text=as_text(data.get("raw")))


def _messages(data: Fields, place: str) -> Iterator[AnswerMessage]:
    where = inside(place, "messages")
    check_ignored(data, ("messages", "pydantic", "json_dict", *_HARMLESS), place)
    if not data.get("messages"):
        raise AnswerError(
            f"the app returned an output of CrewAI without {where}, which would say what was called; expect what the "
            "agents ask of models with `wire:`, or return the text alone if it is all that counts"
        )
    for each, each_place in numbered_items(data["messages"], where):
        for message in messages_of(required_fields(each, each_place, "a message"), each_place):
            if message.role == "user" and _SUMMARY.match(message.text):
                raise AnswerError(
                    f"the app returned an output of CrewAI in which {each_place} is a summary of earlier messages, "
                    "because the model's context was full; expect what the agents ask of models with `wire:`"
                )
            yield from _with_action(message)


def _with_action(message: AnswerMessage) -> Iterator[Any]:
    """The message, with the call that it has in its text, and what that gave."""
    found = _ACTION.search(message.text) if message.role == "assistant" and not message.calls else None
    if found is None:
        yield message
        return
    call = call_of(found["name"], found["input"], f"call_{found.start()}_{len(message.text)}")
    yield AnswerMessage("assistant", message.text[: found.start()].strip(), (call,))
    if found["told"] is not None:
        yield result_of(call.id, found["told"].strip())
