"""Chat Completions: the body to send, and the Reply in an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fcall.backends.openai.answer_fields import (
    engine,
    finish,
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
from pytest_fcall.core.values import Json
from pytest_fcall.schema.wire_tools import WireTools

_SENT_BACK = ("extra_content", "reasoning_details", "provider_specific_fields")
"""Google's, OpenRouter's and LiteLLM's names for data that must be sent back unchanged. any-llm uses Google's."""
_REASONING = ("reasoning", "reasoning_content")
"""Sent back together with `extra_content`, which may be a signature of it."""
_MALFORMED_REASONS = ("malformed_function_call", "malformed_tool_call", "unexpected_tool_call")


def request_body(request: WireRequest) -> dict[str, Json]:
    """The body to send."""
    wire_tools, sampling = request.wire_tools, dict(request.sampling)
    if request.is_official and "max_tokens" in sampling:  # OpenAI's newer models know the limit by this name only
        sampling["max_completion_tokens"] = sampling.pop("max_tokens")
    if "tool_choice" in sampling:
        sampling["tool_choice"] = _tool_choice(sampling["tool_choice"], wire_tools)
    body: dict[str, Json] = {
        "model": request.model,
        "messages": [_with_content(with_data_urls(wire_tools.wire_message(message))) for message in request.messages],
    }
    return body | ({"tools": wire_tools.tools} if wire_tools.tools else {}) | sampling


def _with_content(message: Mapping[str, Json]) -> Mapping[str, Json]:
    """The message with `content`, which some servers require even of a message with calls."""
    return message if "content" in message else {**message, "content": None}


def _tool_choice(choice: Json, wire_tools: WireTools) -> Json:
    if isinstance(choice, str):
        if choice in ("auto", "none", "required"):
            return choice
        return {"type": "function", "function": {"name": wire_tools.wire_name(choice)}}
    function = mapping(mapping(choice).get("function"))
    if isinstance(name := function.get("name"), str):
        return {**mapping(choice), "function": {**function, "name": wire_tools.wire_name(name)}}
    return choice


def read_reply(body: Mapping[str, Json], wire_tools: WireTools) -> Reply | None:
    """The reply in the body of an answer, None where there is none. Calls have the tools' own names again."""
    choice = mapping(next(iter(items(body.get("choices"))), None))
    message, reason = choice.get("message"), text(choice.get("finish_reason"))
    if reason == "error" or choice.get("error") or not (isinstance(message, Mapping) or reason):
        return None
    message = mapping(message)
    content, refusal_in_content = text_and_refusal(message.get("content"))
    refusal = text(message.get("refusal")) or refusal_in_content
    calls = items(message.get("tool_calls")) or items(message.get("function_call"))
    return Reply(
        text=content,
        tool_calls=tuple(_call(call, wire_tools) for call in first_calls(calls)),
        finish=_finish(reason, refusal),
        refusal=refusal,
        malformed=_malformed(reason),
        extra=_extra(message),
        usage=usage(body.get("usage")),
        engine=engine(body),
    )


def _call(call: Json, wire_tools: WireTools) -> RawCall:
    """A call in any of its forms: a function, a legacy function call, or a custom tool with text input."""
    if not isinstance(call, Mapping):
        return RawCall(None, call)
    inner = mapping(call.get("function")) or mapping(call.get("custom")) or call
    arguments = next((inner[key] for key in ("arguments", "input") if key in inner), None)
    return RawCall(wire_tools.tool_name(inner.get("name")), arguments, text(call.get("id")), _extra(call))


def _extra(data: Mapping[str, Json]) -> dict[str, Json] | None:
    """The data that must be sent back: Gemini refuses calls without the signatures of the reasoning behind them."""
    names = (*_SENT_BACK, *_REASONING) if data.get("extra_content") else _SENT_BACK
    return {name: data[name] for name in names if data.get(name)} or None


def _finish(reason: str | None, refusal: str | None) -> Finish:
    known = finish(reason)
    return "refusal" if refusal and known in ("stop", "unknown") else known


def _malformed(reason: str | None) -> str | None:
    """A message for a call that the provider could not read."""
    known = reason is not None and any(word in reason.lower() for word in _MALFORMED_REASONS)
    return f"The provider could not read the model's call: {reason}." if known else None


def read_whole_reply(body: Mapping[str, Json], wire_tools: WireTools) -> Reply | None:
    """The reply of a model that was asked here. One that names no end is no abstention: it may be cut short."""
    reply = read_reply(body, wire_tools)
    if reply is None or reply.tool_calls or reply.refusal or reply.malformed or _end(body):
        return reply
    return replace(reply, malformed="The answer has no finish_reason, so that it may be cut short.")


def _end(body: Mapping[str, Json]) -> str | None:
    return text(mapping(next(iter(items(body.get("choices"))), None)).get("finish_reason"))


CHAT = Endpoint("/chat/completions", request_body, read_whole_reply)
