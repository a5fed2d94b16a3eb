"""Agents of AG2 Classic, which was AutoGen 0.2: `generate_reply`, until nothing is left to be called; `ChatResult`."""

from __future__ import annotations

from typing import Any

from pytest_fcall.backends.apps.agents.messages import read_history, with_content
from pytest_fcall.backends.apps.answers.chat import messages_of
from pytest_fcall.backends.apps.answers.errors import inside
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, result_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    fields_of,
    numbered_items,
    required_fields,
)
from pytest_fcall.core.request import AppRequest

_MOST_REPLIES = 100
"""As many as the framework allows unless it is told otherwise."""


def call(agent: Any, request: AppRequest) -> list[dict[str, Any]]:
    """Let the agent reply, which it does to the conversation that it is given, and to no other."""
    read_history(request, "AG2 Classic").question()
    messages = with_content(request)
    executor = _executor(agent)
    for _ in range(_MOST_REPLIES):
        messages.append(_reply(agent, messages))
        called = [each["function"]["name"] for each in messages[-1].get("tool_calls") or ()]
        if not (called and all(map(executor.can_execute_function, called))):
            break
        messages.append(_reply(executor, messages))
    new = messages[len(request.messages) :]
    return [each for message in new for each in message.get("tool_responses") or [message]]


def _reply(agent: Any, messages: list[dict[str, Any]]) -> dict[str, Any]:
    reply = agent.generate_reply(messages=messages)
    return {"role": "assistant", **reply} if isinstance(reply, dict) else {"role": "assistant", "content": reply or ""}


def _executor(agent: Any) -> Any:
    """The agent that runs the agent's tools: the agent if it may, else another one, as in the framework's own `run`."""
    from autogen import ConversableAgent

    executor = ConversableAgent("user", human_input_mode="NEVER", llm_config=False)
    executor.register_function(dict(agent.function_map))
    for tool in agent.tools:
        tool.register_for_execution(executor)
    return executor


def tools(agent: Any) -> list[object]:
    """The tools that the agent's model is offered."""
    config = agent.llm_config
    offered = config.get("tools") if isinstance(config, dict) else getattr(config, "tools", None)
    return [*(offered or ())]


_OTHER_SIDE = {"assistant": "user", "user": "assistant"}
"""The history is that of the agent that began the chat, and so asked: its own messages are an assistant's to it."""


def read_chat(data: Fields, place: str = "") -> AppAnswer:
    """The messages of a chat, the question included."""
    check_ignored(data, ("chat_history",), place)
    messages = [
        message
        for item, item_place in numbered_items(data["chat_history"], inside(place, "chat_history"))
        for message in _messages(required_fields(item, item_place, "a message"), item_place)
    ]
    return AppAnswer(messages, is_trail=True)


def _messages(data: Fields, place: str) -> list[AnswerMessage]:
    """A message, or what each of several calls gave. Those with calls have the role of the assistant in any case."""
    if responses := data.get("tool_responses"):
        results = [fields_of(each) or {} for each, _ in numbered_items(responses, inside(place, "tool_responses"))]
        return [result_of(each.get("tool_call_id"), as_text(each.get("content"))) for each in results]
    role = data.get("role")
    if isinstance(role, str) and not (data.get("tool_calls") or data.get("function_call")):
        role = _OTHER_SIDE.get(role, role)
    return messages_of({**data, "role": role}, place)
