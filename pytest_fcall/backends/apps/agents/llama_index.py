"""LlamaIndex: `run` of an agent or a workflow of agents, with the conversation as its chat history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_fcall.backends.apps.agents.known import UnreadTool
from pytest_fcall.backends.apps.agents.messages import History, HistoryMessage, read_history
from pytest_fcall.core.app import AppRequest


async def call(agent: Any, request: AppRequest) -> object:
    """Run the agent with a memory of its own, which is what `run` makes where it is given none."""
    from llama_index.core.llms import ChatMessage

    history = read_history(request, "LlamaIndex")
    question = history.question()
    system = [ChatMessage(role="system", content=history.system)] if history.system else []
    said = [*system, *(_message(history, message) for message in history.earlier)]
    return await agent.run(user_msg=_message(history, question), chat_history=said or None)


def tools(agent: Any) -> list[object]:
    """The tools of the agent, or of all agents of a workflow."""
    agents = getattr(agent, "agents", None)
    found: dict[str, object] = {}
    for each in agents.values() if isinstance(agents, dict) else [agent]:
        for name, tool in _tools_of(each):
            found.setdefault(name, tool)
    return [*found.values()]


def _message(history: History, message: HistoryMessage) -> Any:
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock

    if message.call:
        named = {"tool_call_id": message.call.id, "name": message.call.name}
        return ChatMessage(role="tool", content=message.text, additional_kwargs=named)
    blocks: list[Any] = [TextBlock(text=message.text)] if message.text else []
    for url in message.images:
        kind, data = history.image_inside(url)
        blocks.append(ImageBlock(image=data.encode(), image_mimetype=kind))
    blocks += [
        ToolCallBlock(tool_call_id=each.id, tool_name=each.name, tool_kwargs=each.arguments) for each in message.calls
    ]
    return ChatMessage(role=message.role, blocks=blocks)


def _tools_of(agent: Any) -> Iterator[tuple[str, object]]:
    from llama_index.core.tools import FunctionTool

    for each in agent.tools or ():
        tool = each if hasattr(each, "metadata") else FunctionTool.from_defaults(each)
        name, parameters = tool.metadata.get_name(), tool.metadata.get_parameters_dict()
        yield name, {"name": name, "description": tool.metadata.description, "parameters": parameters}
    if getattr(agent, "tool_retriever", None) is not None:
        name = type(agent.tool_retriever).__name__
        yield name, UnreadTool(name, "it chooses tools by what the user says")
