"""Responses: the body to send, and the Reply in an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pytest_fcall.backends.openai.answer_fields import (
    engine,
    first_calls,
    items,
    mapping,
    text,
    text_and_refusal,
    usage,
)
from pytest_fcall.backends.openai.endpoint import Endpoint, WireRequest
from pytest_fcall.backends.request_json import with_data_urls
from pytest_fcall.core.reply import Finish, RawCall, Reply
from pytest_fcall.core.values import Json, Message
from pytest_fcall.schema.wire_tools import WireTools

_CALL_TYPES = ("function_call", "custom_tool_call")
_INCOMPLETE: Mapping[str, Finish] = MappingProxyType(
    {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "content_filter"}
)


def request_body(request: WireRequest) -> dict[str, Json]:
    """The body to send."""
    wire_tools, sampling = request.wire_tools, dict(request.sampling)
    if "max_tokens" in sampling:
        sampling["max_output_tokens"] = sampling.pop("max_tokens")
    if "reasoning_effort" in sampling:
        sampling["reasoning"] = {**mapping(sampling.get("reasoning")), "effort": sampling.pop("reasoning_effort")}
    if "tool_choice" in sampling:
        sampling["tool_choice"] = _tool_choice(sampling["tool_choice"], wire_tools)
    body: dict[str, Json] = {
        "model": request.model,
        "input": [
            item for message in request.messages for item in _items(with_data_urls(wire_tools.wire_message(message)))
        ],
        "stream": False,  # some servers stream by default
    }
    return body | ({"tools": wire_tools.tools} if wire_tools.tools else {}) | sampling


def _items(message: Message) -> Iterator[Json]:
    """The items of a message: its content and each of its calls, or the result of a call."""
    role = message.get("role")
    if role in ("tool", "function"):
        content = message.get("content")
        output = content if isinstance(content, str) else text_and_refusal(content)[0]
        call_id = message.get("tool_call_id") or message.get("name")
        yield {"type": "function_call_output", "call_id": call_id, "output": output}
        return
    calls = items(message.get("tool_calls")) or [
        {"id": mapping(call).get("name"), "function": call} for call in items(message.get("function_call"))
    ]
    if (content := message.get("content")) or not calls:
        yield {"role": role, "content": _content(content, "output" if role == "assistant" else "input")}
    for call in calls:
        function = mapping(mapping(call).get("function"))
        arguments = function.get("arguments")
        yield {
            "type": "function_call",
            "call_id": mapping(call).get("id"),
            "name": function.get("name"),
            "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
        }


def _content(content: Json, side: str) -> Json:
    if not isinstance(content, Sequence) or isinstance(content, str):
        return content
    return [_part(part, side) for part in content]


def _part(part: Json, side: str) -> Json:
    data = mapping(part)
    if data.get("type") == "text":
        return {"type": f"{side}_text", "text": data.get("text")}
    if data.get("type") == "image_url":
        image = mapping(data.get("image_url"))
        detail = {"detail": image["detail"]} if "detail" in image else {}
        return {"type": "input_image", "image_url": image.get("url"), **detail}
    return part


def _tool_choice(choice: Json, wire_tools: WireTools) -> Json:
    if choice in ("auto", "none", "required"):
        return choice
    name = choice if isinstance(choice, str) else mapping(mapping(choice).get("function")).get("name")
    return {"type": "function", "name": wire_tools.wire_name(name)} if isinstance(name, str) else choice


def read_reply(body: Mapping[str, Json], wire_tools: WireTools) -> Reply | None:
    """The reply in the body of an answer, None where there is none. Calls have the tools' own names again."""
    ended = body.get("status") in ("completed", "incomplete", None) and not body.get("error")
    if not ended or not isinstance(body.get("output"), list):
        return None
    output = [mapping(item) for item in items(body["output"])]
    contents = [text_and_refusal(item.get("content")) for item in output if item.get("type") == "message"]
    made = first_calls(item for item in output if item.get("type") in _CALL_TYPES)
    calls = tuple(_call(mapping(item), wire_tools) for item in made)
    refusal = next((refusal for _, refusal in contents if refusal), None)
    return Reply(
        text="".join(content for content, _ in contents),
        tool_calls=calls,
        finish=_finish(body, calls, refusal),
        refusal=refusal,
        usage=usage(body.get("usage")),
        engine=engine(body),
    )


def _call(item: Mapping[str, Json], wire_tools: WireTools) -> RawCall:
    arguments = item["arguments"] if "arguments" in item else item.get("input")
    return RawCall(wire_tools.tool_name(item.get("name")), arguments, text(item.get("call_id")) or text(item.get("id")))


def _finish(body: Mapping[str, Json], calls: Sequence[RawCall], refusal: str | None) -> Finish:
    if body.get("status") == "incomplete":
        return _INCOMPLETE.get(text(mapping(body.get("incomplete_details")).get("reason")) or "", "unknown")
    if refusal:
        return "refusal"
    return "tool_calls" if calls else "stop"


def read_whole_reply(body: Mapping[str, Json], wire_tools: WireTools) -> Reply | None:
    """The reply of a model that was asked here. One that has no status is no abstention: it may be cut short."""
    reply = read_reply(body, wire_tools)
    if reply is None or reply.tool_calls or reply.refusal or body.get("status"):
        return reply
    return replace(reply, malformed="The answer has no status, so that it may be cut short.")


RESPONSES = Endpoint("/responses", request_body, read_whole_reply)
