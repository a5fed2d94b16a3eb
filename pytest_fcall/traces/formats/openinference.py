"""OpenInference's attributes of a model request: the bodies of request and answer, and the messages in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.traces.formats import exchanges
from pytest_fcall.traces.formats.spans import nested_attributes
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.request_parts import answer_messages, messages_of, settings_of, tools_of
from pytest_fcall.traces.values import first_text, items, mapping, parse_json_text

_PROVIDER_CALLS: Final = frozenset(
    f"{name}_call"
    for name in (
        *("web_search", "file_search", "tool_search", "computer", "code_interpreter", "image_generation"),
        *("local_shell", "shell", "apply_patch", "mcp"),
    )
)
"""Items of Responses that are written as if they were calls of functions."""


def is_request(attributes: Mapping[str, Json]) -> bool:
    """Whether these are attributes of a model request."""
    return attributes.get("openinference.span.kind") == "LLM" or any(
        name.startswith(("llm.input_messages.", "llm.output_messages.")) for name in attributes
    )


def record(attributes: Mapping[str, Json], place: str, time: str) -> Record:
    """The record of a request. Raises UnusableRecord where anything of it is not understood."""
    whole = _body_record(attributes, place)
    if whole is not None:
        return replace(whole, time=time)
    request = messages_of([_message(each) for each in items(nested_attributes(attributes, "llm.input_messages"))])
    if not request:
        raise UnusableRecord("the span of a request holds no messages")
    parameters = mapping(parse_json_text(attributes.get("llm.invocation_parameters")))
    answer = [_message(each) for each in items(nested_attributes(attributes, "llm.output_messages"))]
    if not answer:
        raise UnusableRecord("there is no answer")
    # Choices beside the first are other answers; without them, each message is a part of the answer.
    one = answer[:1] if parameters.get("n") not in (None, 1) else answer
    return Record(
        messages=(*request, *answer_messages(one)),
        place=place,
        tools=_tools(attributes),
        model=first_text(attributes, "llm.response.model_name", "llm.model_name", "llm.request.model_name"),
        time=time,
        settings=settings_of(parameters),
    )


def _body_record(attributes: Mapping[str, Json], place: str) -> Record | None:
    """The record of the bodies that were sent, which hold more than the messages do. None for what is no such body."""
    request, answer = (mapping(parse_json_text(attributes.get(name))) for name in ("input.value", "output.value"))
    is_answer = (
        isinstance(answer.get("choices"), list)
        or (answer.get("object") == "response" and isinstance(answer.get("output"), list))
        or (answer.get("type") == "message" and isinstance(answer.get("content"), list))
    )
    body = {"request": request, "response": answer}
    return next(exchanges.read(body, place), None) if is_answer and exchanges.matches(body) else None


def _message(data: Json) -> Json:
    """The message with its parts and calls in the form of OpenAI. Raises UnusableRecord for one that holds nothing."""
    message = mapping(mapping(data).get("message"))
    parts = [_part(mapping(each)) for each in items(message.get("contents"))]
    beside = [mapping(mapping(each).get("tool_call")) for each in items(message.get("tool_calls"))]
    inside = [mapping(part["tool_call"]) for part in parts if part.get("type") == "tool_use"]
    known = [call.get("id") for call in beside]
    calls: list[Json] = [*beside, *(call for call in inside if call.get("id") is None or call.get("id") not in known)]
    if name := message.get("function_call_name"):
        calls.append({"name": name, "arguments": message.get("function_call_arguments_json")})
    if (own := next((name for name in map(_called_name, calls) if name in _PROVIDER_CALLS), None)) is not None:
        raise UnusableRecord(f"the model called a tool of the provider: {own!r}")
    if message.get("role") == "assistant" and not parts and not calls and "content" not in message:
        raise UnusableRecord("an answer has a part that is not understood")
    content: list[Json] = [part for part in parts if part.get("type") != "tool_use"]
    return {**message, "content": content or message.get("content"), "tool_calls": calls}


def _called_name(call: Json) -> str:
    return first_text(mapping(mapping(call).get("function")), "name")


def _part(data: Mapping[str, Json]) -> Mapping[str, Json]:
    content = mapping(data.get("message_content"))
    if content.get("type") == "image":
        image = mapping(mapping(content.get("image")).get("image"))
        return {"type": "image_url", "image_url": {"url": image.get("url")}}
    return {**content, "tool_call": data.get("tool_call")} if content.get("type") == "tool_use" else content


def _tools(attributes: Mapping[str, Json]) -> tuple[Tool, ...]:
    tools = [mapping(mapping(each).get("tool")) for each in items(nested_attributes(attributes, "llm.tools"))]
    return tools_of(tools)
