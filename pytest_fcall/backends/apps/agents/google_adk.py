"""Agents of Google ADK: an `InMemoryRunner`, with the conversation as events of a new session; the events of a run."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from pytest_fcall.backends.apps.agents.agent import UnreadTool
from pytest_fcall.backends.apps.agents.messages import HistoryMessage, MessageHistory, read_history
from pytest_fcall.backends.apps.answers.errors import inside
from pytest_fcall.backends.apps.answers.gemini import read_content
from pytest_fcall.backends.apps.answers.message import AppAnswer
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    field,
    fields_of,
    list_items,
    required_fields,
)
from pytest_fcall.core.request import AppRequest

_APP, _USER = "fcall", "fcall"


async def call(agent: Any, request: AppRequest) -> object:
    """Run the agent in a session of its own, and return its events."""
    from google.adk.runners import InMemoryRunner

    history = read_history(request, "Google ADK")
    question = _content(history, history.question())
    app = _app(agent, history.system)
    runner = InMemoryRunner(app=app)
    try:
        session = await runner.session_service.create_session(app_name=app.name, user_id=_USER)
        for event in _events(history, app.root_agent.name):
            await runner.session_service.append_event(session, event)
        events = runner.run_async(user_id=_USER, session_id=session.id, new_message=question)
        return [event async for event in events]
    finally:
        await runner.close()


def tools(agent: Any) -> list[object]:
    """The tools of the agent and of those that it may hand over to."""
    found: dict[str, object] = {}
    root = agent.root_agent if hasattr(agent, "root_agent") and not hasattr(agent, "sub_agents") else agent
    for name, tool in _tools_of(root, set()):
        found.setdefault(name, tool)
    return [*found.values()]


def _app(agent: Any, system: str) -> Any:
    """The agent as an app with a plugin that adds the case's system message to what the model is told."""
    from google.adk.apps import App

    app = agent if isinstance(agent, App) else App(name=_APP, root_agent=agent)
    return app.model_copy(update={"plugins": [*app.plugins, _instructions(system)]}) if system else app


def _instructions(system: str) -> Any:
    from google.adk.plugins.base_plugin import BasePlugin

    plugin = BasePlugin(name="fcall_instructions")

    async def add(*, llm_request: Any, **_: object) -> None:
        llm_request.append_instructions([system])

    plugin.before_model_callback = add
    return plugin


def _events(history: MessageHistory, agent: str) -> Iterator[Any]:
    from google.adk.events import Event

    for message in history.earlier:
        if message.role == "system":
            raise history.refused("a system message in the middle of a conversation")
        author = "user" if message.role == "user" else agent
        yield Event(author=author, invocation_id="fcall", content=_content(history, message))


def _content(history: MessageHistory, message: HistoryMessage) -> Any:
    from google.genai import types

    if message.call:
        part = types.Part.from_function_response(name=message.call.name, response={"result": message.text})
        part.function_response.id = message.call.id
        return types.Content(role="user", parts=[part])
    parts = [types.Part(text=message.text)] if message.text else []
    for url in message.images:
        kind, data = history.image_inside(url)
        parts.append(types.Part.from_bytes(data=base64.b64decode(data), mime_type=kind))
    calls = [types.FunctionCall(id=each.id, name=each.name, args=each.arguments) for each in message.calls]
    parts += [types.Part(function_call=each) for each in calls]
    return types.Content(role="model" if message.role == "assistant" else "user", parts=parts)


def _tools_of(agent: Any, seen: set[int]) -> Iterator[tuple[str, object]]:
    """The tools with their names, of an agent or of what runs agents."""
    if id(agent) in seen:
        return
    seen.add(id(agent))
    for each in getattr(agent, "tools", None) or ():
        yield _tool(each)
    others = getattr(agent, "sub_agents", None) or ()
    if others and hasattr(agent, "tools"):
        yield _transfer([other.name for other in others])
    for other in others:
        yield from _tools_of(other, seen)


def _tool(given: Any) -> tuple[str, object]:
    from google.adk.tools import FunctionTool
    from google.adk.tools.base_tool import BaseTool

    if not isinstance(given, BaseTool) and not callable(given):
        name = type(given).__name__
        return name, UnreadTool(name, "its tools are known to a server only, which `mcp:` or `openapi:` can name")
    tool = given if isinstance(given, BaseTool) else FunctionTool(given)
    declaration = tool._get_declaration()  # noqa: SLF001 - it is how tools of the library override what is declared
    if declaration is None:
        return tool.name, UnreadTool(tool.name, "the provider runs it")
    return tool.name, _data(declaration)


def _transfer(names: list[str]) -> tuple[str, object]:
    """The tool by which an agent hands over to another."""
    from google.adk.tools.transfer_to_agent_tool import TransferToAgentTool

    return _tool(TransferToAgentTool(agent_names=names))


def _data(declaration: Any) -> dict[str, Any]:
    schema = declaration.parameters_json_schema
    if schema is None and declaration.parameters is not None:
        schema = declaration.parameters.model_dump(mode="json", exclude_none=True)
    return {"name": declaration.name, "description": declaration.description or "", "parameters": schema}


_OUTPUT_TOOL = "set_model_response"
"""The library's own tool, in which an agent with tools and a schema for its output answers."""
_CALL = ("function_call", "functionCall")
_RESULT = ("function_response", "functionResponse")


def read_event(data: Fields, place: str = "") -> AppAnswer:
    """The meaning of an event: none if it is about the session, or a piece of a stream that comes whole later."""
    if data.get("partial"):
        return AppAnswer([])
    check_ignored(data, ("content", "actions", "long_running_tool_ids", "longRunningToolIds", "node_info"), place)
    if data.get("content") is None:
        return AppAnswer([])
    where = inside(place, "content")
    content = required_fields(data["content"], where, "a content with parts")
    parts = [_without_output_tool(part) for part in list_items(content.get("parts"), inside(where, "parts"))]
    tells = [field(fields_of(part) or {}, *_RESULT) is not None for part in parts]
    is_users = data.get("author") == "user" or (bool(tells) and all(tells))
    return read_content({**content, "parts": parts, "role": "user" if is_users else "model"}, where)


def _without_output_tool(part: object) -> Any:
    """The part, with the answer as text where the library's own tool carries it."""
    data = fields_of(part) or {}
    call, result = fields_of(field(data, *_CALL)), fields_of(field(data, *_RESULT))
    if call and call.get("name") == _OUTPUT_TOOL:
        return {"text": as_text(call.get("args"))}
    return {"text": ""} if result and result.get("name") == _OUTPUT_TOOL else part
