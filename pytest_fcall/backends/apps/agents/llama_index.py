"""LlamaIndex: `run` of an agent or a workflow, with the conversation as chat history; outputs, answers and messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_fcall.backends.apps.agents.agent import UnreadTool
from pytest_fcall.backends.apps.agents.messages import HistoryMessage, MessageHistory, read_history
from pytest_fcall.backends.apps.answers.chat import messages_of
from pytest_fcall.backends.apps.answers.errors import AnswerError, inside, not_understood
from pytest_fcall.backends.apps.answers.message import (
    AnswerMessage,
    AppAnswer,
    call_from,
    call_list,
    call_of,
    result_of,
)
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    as_text,
    check_ignored,
    field,
    fields_of,
    kind_of,
    names,
    numbered_items,
    required_fields,
    word,
)
from pytest_fcall.core.reply import RawCall
from pytest_fcall.core.request import AppRequest


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


def _message(history: MessageHistory, message: HistoryMessage) -> Any:
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


_HARMLESS = frozenset({"image", "audio", "video", "document", "cache", "citable", "citation", "thinking"})
_ROLES = {"chatbot": "assistant", "model": "assistant", "function": "tool"}
_UNDERSTOOD = f"the blocks text, tool_call, {names(_HARMLESS)}"


def read_output(data: Fields, place: str = "") -> AppAnswer:
    """The actions of an agent in a run: its calls, each with its result, and its last message.

    Which of the calls were made at once is not known.
    """
    check_ignored(data, ("response", "tool_calls", "retry_messages", "raw", "structured_response"), place)
    where = inside(place, "response")
    response = read_message(required_fields(data.get("response"), where, "a message with blocks"), where).messages
    messages: list[AnswerMessage] = []
    for each, each_place in numbered_items(data.get("tool_calls"), inside(place, "tool_calls")):
        made = required_fields(each, each_place, "a call, or what it gave")
        call = call_from(made, each_place)
        messages.append(AnswerMessage("assistant", calls=(call,)))
        if (told := fields_of(made.get("tool_output"))) is not None:
            messages.append(_result(call.id, told))
    known = {call.id for message in messages for call in message.calls}
    for message in response:
        message.calls = tuple(call for call in message.calls if call.id not in known)
    structured = data.get("structured_response")
    text = None if structured is None else as_text(structured)
    return AppAnswer([*messages, *response], is_trail=True, is_new=True, text=text)


def refuse_event(event: Any, _place: str = "") -> AppAnswer:
    """Raise AnswerError: what the last event of a workflow holds is the app's own."""
    own = names(getattr(type(event), "model_fields", ())) or "result"
    raise AnswerError(
        f"the app returned the last event of a workflow, the {type(event).__name__}, whose fields are its own ({own}); "
        "return what the answer is in them: text, messages with all calls, or the output of an agent"
    )


def _result(call_id: str | None, data: Fields) -> AnswerMessage:
    blocks = [fields_of(each) or {} for each in data.get("blocks") or ()]
    text = "".join(as_text(block.get("text")) for block in blocks) or as_text(field(data, "content", "raw_output"))
    return result_of(call_id, {"error": text} if data.get("is_error") else text)


def read_chat_response(data: Fields, place: str = "") -> AppAnswer:
    """The answer of a chat engine, and the outputs of the tools that it called."""
    check_ignored(data, ("response", "sources", "source_nodes", "metadata"), place)
    messages: list[AnswerMessage] = []
    for number, (source, source_place) in enumerate(numbered_items(data.get("sources"), inside(place, "sources")), 1):
        output = required_fields(source, source_place, "the output of a tool")
        raw: Any = fields_of(output.get("raw_input")) or {}
        call = call_of(output.get("tool_name"), raw.get("kwargs", raw), f"call_{number}")
        messages += [AnswerMessage("assistant", calls=(call,)), _result(call.id, output)]
    return AppAnswer([*messages, AnswerMessage("assistant", as_text(data.get("response")))], is_trail=True, is_new=True)


def read_llm_response(data: Fields, place: str = "") -> AppAnswer:
    """The reply of a model."""
    where = inside(place, "message")
    return read_message(required_fields(data.get("message"), where, "a message with blocks"), where)


def read_message(data: Fields, place: str = "") -> AppAnswer:
    """The meaning of a message."""
    more = fields_of(data.get("additional_kwargs")) or {}
    if "blocks" not in data:
        return AppAnswer(messages_of(data, place))
    named = word(data.get("role"))
    role = _ROLES.get(named, named)
    if role not in ("assistant", "user", "system", "developer", "tool"):
        raise not_understood(place, kind_of(data), "the roles assistant, chatbot, developer, model, system, tool, user")
    said, calls = "", list[RawCall]()
    for block, block_place in numbered_items(data.get("blocks"), inside(place, "blocks")):
        part = required_fields(block, block_place, _UNDERSTOOD)
        kind = word(part.get("block_type"))
        if kind == "text":
            said += as_text(part.get("text"))
        elif kind == "tool_call":
            calls.append(call_from(part, block_place))
        elif kind not in _HARMLESS:
            raise not_understood(block_place, kind_of(part), _UNDERSTOOD)
    if role == "tool":
        return AppAnswer([result_of(field(more, "tool_call_id", "name"), said)])
    where = inside(place, "additional_kwargs")
    known = {call.id for call in calls}
    calls += [call for call in call_list(more.get("tool_calls"), f"{where}.tool_calls") if call.id not in known]
    check_ignored(more, ("tool_calls",), where)
    check_ignored(data, ("blocks", "additional_kwargs", "role"), place)
    if calls and role != "assistant":
        raise not_understood(place, f"a message of the {role} that holds calls", "calls of the assistant")
    return AppAnswer([AnswerMessage(role, said, tuple(calls))])
