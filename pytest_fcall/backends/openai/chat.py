"""Chat Completions: the body to send, and the Reply in an answer."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.backends.images import with_data_urls
from pytest_fcall.backends.openai.answer_fields import engine, finish, items, mapping, text, text_and_refusal, usage
from pytest_fcall.backends.openai.wire_request import Endpoint, WireRequest
from pytest_fcall.core import Finish, Json, RawCall, Reply
from pytest_fcall.schema.wire_tools import WireTools

_SENT_BACK = ("extra_content", "reasoning_details", "provider_specific_fields")
"""Google's, OpenRouter's and LiteLLM's names for it. any-llm has Google's for all."""
_THOUGHTS = ("reasoning", "reasoning_content")
"""What a signature is good for with nothing else."""
_UNREADABLE = ("malformed_function_call", "malformed_tool_call", "unexpected_tool_call")


def written(question: WireRequest) -> dict[str, Json]:
    """The body to send."""
    out, sampling = question.out, dict(question.sampling)
    if question.official and "max_tokens" in sampling:  # its newer models know the limit by this name only
        sampling["max_completion_tokens"] = sampling.pop("max_tokens")
    if "tool_choice" in sampling:
        sampling["tool_choice"] = _choice(sampling["tool_choice"], out)
    body: dict[str, Json] = {
        "model": question.model,
        "messages": [_message(with_data_urls(out.wire_message(message))) for message in question.messages],
    }
    return body | ({"tools": out.tools} if out.tools else {}) | sampling


def _message(message: Mapping[str, Json]) -> Mapping[str, Json]:
    """Only `content` of a message with calls may be missing, and some servers want it even there."""
    return message if "content" in message else {**message, "content": None}


def _choice(choice: Json, out: WireTools) -> Json:
    if isinstance(choice, str):
        named = choice not in ("auto", "none", "required")
        return {"type": "function", "function": {"name": out.wire_name(choice)}} if named else choice
    function = mapping(mapping(choice).get("function"))
    if isinstance(name := function.get("name"), str):
        return {**mapping(choice), "function": {**function, "name": out.wire_name(name)}}
    return choice


def read(body: Mapping[str, Json], out: WireTools) -> Reply | None:
    """The reply in a body, None where there is none. Calls have the tools' own names again."""
    choice = mapping(next(iter(items(body.get("choices"))), None))
    message, reason = choice.get("message"), text(choice.get("finish_reason"))
    if reason == "error" or choice.get("error") or not (isinstance(message, Mapping) or reason):
        return None
    message = mapping(message)
    content, refused = text_and_refusal(message.get("content"))
    refusal = text(message.get("refusal")) or refused
    calls = items(message.get("tool_calls")) or items(message.get("function_call"))
    return Reply(
        text=content,
        tool_calls=tuple(_call(call, out) for call in calls),
        finish=_finish(reason, refusal),
        refusal=refusal,
        malformed=_malformed(reason),
        extra=_extra(message),
        usage=usage(body.get("usage")),
        engine=engine(body),
    )


def _call(call: Json, out: WireTools) -> RawCall:
    """A call in whatever shape: with its function inside, as a function of old, or as a tool of free text."""
    if not isinstance(call, Mapping):
        return RawCall(None, call)
    inner = mapping(call.get("function")) or mapping(call.get("custom")) or call
    arguments = next((inner[key] for key in ("arguments", "input") if key in inner), None)
    return RawCall(out.tool_name(inner.get("name")), arguments, text(call.get("id")), _extra(call))


def _extra(told: Mapping[str, Json]) -> dict[str, Json] | None:
    """What is to go back as it came: Gemini refuses calls without the signatures of the thoughts behind them."""
    names = (*_SENT_BACK, *_THOUGHTS) if told.get("extra_content") else _SENT_BACK
    return {name: told[name] for name in names if told.get(name)} or None


def _finish(reason: str | None, refusal: str | None) -> Finish:
    known = finish(reason)
    return "refusal" if refusal and known in ("stop", "unknown") else known


def _malformed(reason: str | None) -> str | None:
    """Why a call could not be read, where the provider ended on it."""
    known = reason is not None and any(word in reason.lower() for word in _UNREADABLE)
    return f"The provider could not read the model's call: {reason}." if known else None


CHAT = Endpoint("/chat/completions", written, read)
