"""CrewAI: outputs of crews, tasks and agents, which keep the messages that were exchanged with models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_fcall.backends.apps.answers.chat import messages_of
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside
from pytest_fcall.backends.apps.answers.message import Answer, AnswerMessage, call_of, result_of
from pytest_fcall.backends.apps.answers.values import Fields, as_text, check_ignored, numbered, required_fields

_UNDERSTOOD = "an output with `messages`"
_ACTION = re.compile(
    r"Action\s*\d*\s*:\s*(?P<name>.*?)\s*Action\s*\d*\s*Input\s*\d*\s*:\s*(?P<input>.*?)"
    r"\s*(?:\n\s*Observation\s*:\s*(?P<told>.*))?\Z",
    re.DOTALL,
)
"""A call as agents write it for models without native calls, with what it gave."""
_SUMMARY = re.compile(r"\s*<summary>.*</summary>\s*Continue the task from where the conversation left off", re.DOTALL)
_HARMLESS = frozenset({"description", "expected_output", "summary", "tool_failures", "plan", "todos", "usage_metrics"})


def read_output(data: Fields, place: str = "") -> Answer:
    """The actions of the agents of a crew, or of one of them."""
    outputs = [(data, place)]
    if "tasks_output" in data:
        check_ignored(data, ("tasks_output", "pydantic", "json_dict"), place)
        tasks = numbered(data["tasks_output"], inside(place, "tasks_output"))
        outputs = [(required_fields(task, task_place, _UNDERSTOOD), task_place) for task, task_place in tasks]
    messages = [message for output, output_place in outputs for message in _messages(output, output_place)]
    return Answer(messages, is_trail=True, text=as_text(data.get("raw")))


def _messages(data: Fields, place: str) -> Iterator[AnswerMessage]:
    where = inside(place, "messages")
    check_ignored(data, ("messages", "pydantic", "json_dict", *_HARMLESS), place)
    if not data.get("messages"):
        raise AnswerError(
            f"the app returned an output of CrewAI without {where}, which would say what was called; expect what the "
            "agents ask of models with `wire:`, or return the text alone if it is all that counts"
        )
    for each, each_place in numbered(data["messages"], where):
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
