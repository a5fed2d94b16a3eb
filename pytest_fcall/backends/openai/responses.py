"""Responses: the body to send, and the Reply in an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pytest_fcall.backends.images import with_data_urls
from pytest_fcall.backends.openai.answer_fields import engine, items, mapping, text, text_and_refusal, usage
from pytest_fcall.backends.openai.wire_request import Endpoint, WireRequest
from pytest_fcall.core import Finish, Json, Message, RawCall, Reply
from pytest_fcall.schema.wire_tools import WireTools

_CALLS = ("function_call", "custom_tool_call")
_INCOMPLETE: Mapping[str, Finish] = MappingProxyType(
    {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "content_filter"}
)


def written(question: WireRequest) -> dict[str, Json]:
    """The body to send."""
    out, sampling = question.out, dict(question.sampling)
    if "max_tokens" in sampling:
        sampling["max_output_tokens"] = sampling.pop("max_tokens")
    if "reasoning_effort" in sampling:
        sampling["reasoning"] = {**mapping(sampling.get("reasoning")), "effort": sampling.pop("reasoning_effort")}
    if "tool_choice" in sampling:
        sampling["tool_choice"] = _choice(sampling["tool_choice"], out)
    asked = [item for message in question.messages for item in _items(with_data_urls(out.wire_message(message)))]
    body: dict[str, Json] = {"model": question.model, "input": asked, "stream": False}  # some stream unless told not to
    return body | ({"tools": out.tools} if out.tools else {}) | sampling


def _items(message: Message) -> Iterator[Json]:
    """A message as items: what is said, each call, or the result of one."""
    role = message.get("role")
    if role in ("tool", "function"):
        name = message.get("tool_call_id") or message.get("name")
        yield {"type": "function_call_output", "call_id": name, "output": _output(message.get("content"))}
        return
    calls = items(message.get("tool_calls")) or [
        {"id": mapping(call).get("name"), "function": call} for call in items(message.get("function_call"))
    ]
    if (content := message.get("content")) or not calls:
        yield {"role": role, "content": _content(content, "output" if role == "assistant" else "input")}
    for call in calls:
        function = mapping(mapping(call).get("function"))
        called = {"name": function.get("name"), "arguments": _json(function.get("arguments"))}
        yield {"type": "function_call", "call_id": mapping(call).get("id"), **called}


def _output(content: Json) -> Json:
    return content if isinstance(content, str) else text_and_refusal(content)[0]


def _json(arguments: Json) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _content(content: Json, side: str) -> Json:
    if not isinstance(content, Sequence) or isinstance(content, str):
        return content
    return [_part(part, side) for part in content]


def _part(part: Json, side: str) -> Json:
    told = mapping(part)
    if told.get("type") == "text":
        return {"type": f"{side}_text", "text": told.get("text")}
    if told.get("type") == "image_url":
        image = mapping(told.get("image_url"))
        detail = {"detail": image["detail"]} if "detail" in image else {}
        return {"type": "input_image", "image_url": image.get("url"), **detail}
    return part


def _choice(choice: Json, out: WireTools) -> Json:
    if isinstance(choice, str):
        named = choice not in ("auto", "none", "required")
        return {"type": "function", "name": out.wire_name(choice)} if named else choice
    name = mapping(mapping(choice).get("function")).get("name")
    return {"type": "function", "name": out.wire_name(name)} if isinstance(name, str) else choice


def read(body: Mapping[str, Json], out: WireTools) -> Reply | None:
    """The reply in a body, None where there is none. Calls have the tools' own names again."""
    ended = body.get("status") in ("completed", "incomplete", None) and not body.get("error")
    if not ended or not isinstance(body.get("output"), list):
        return None
    output = [mapping(item) for item in items(body["output"])]
    saying = [text_and_refusal(item.get("content")) for item in output if item.get("type") == "message"]
    calls = tuple(_call(item, out) for item in output if item.get("type") in _CALLS)
    refusal = next((refused for _, refused in saying if refused), None)
    return Reply(
        text="".join(spoken for spoken, _ in saying),
        tool_calls=calls,
        finish=_finish(body, calls, refusal),
        refusal=refusal,
        usage=usage(body.get("usage")),
        engine=engine(body),
    )


def _call(item: Mapping[str, Json], out: WireTools) -> RawCall:
    arguments = item["arguments"] if "arguments" in item else item.get("input")
    return RawCall(out.tool_name(item.get("name")), arguments, text(item.get("call_id")) or text(item.get("id")))


def _finish(body: Mapping[str, Json], calls: Sequence[RawCall], refusal: str | None) -> Finish:
    if body.get("status") == "incomplete":
        return _INCOMPLETE.get(text(mapping(body.get("incomplete_details")).get("reason")) or "", "unknown")
    if refusal:
        return "refusal"
    return "tool_calls" if calls else "stop"


RESPONSES = Endpoint("/responses", written, read)
