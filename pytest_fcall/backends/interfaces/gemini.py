"""Gemini's `generateContent`, as apps use it at Google's own address and at Vertex AI."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_fcall.backends.interfaces.interface import WireInterface
from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import count, finish, items, mapping, text
from pytest_fcall.core.reply import RawCall, Reply, Usage
from pytest_fcall.core.values import Json, Message

_END_OF_STREAM = re.compile(rb'"(?:finishReason|blockReason)"')
_ROLES = {"model": "assistant"}
_MALFORMED = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE")


def _either(body: Body, camel: str, snake: str) -> Json:
    """The value of a key in either of the spellings that the interface takes."""
    return body[camel] if camel in body else body.get(snake)


def _messages(body: Body) -> Iterator[Message]:
    instruction = _either(body, "systemInstruction", "system_instruction")
    if instruction is not None:
        yield {"role": "system", "content": _content(instruction)}
    for each in items(body.get("contents")):
        if not isinstance(each, Mapping):
            yield {"role": "user", "content": each}
            continue
        role = text(each.get("role")) or "user"
        yield {"role": _ROLES.get(role, role), "content": _content(each)}


def _content(content: Json) -> Json:
    """The text of a content, or its parts where there is more."""
    parts = items(mapping(content).get("parts")) if isinstance(content, Mapping) else items(content)
    texts = [part.get("text") if isinstance(part, Mapping) and set(part) == {"text"} else part for part in parts]
    if all(isinstance(each, str) for each in texts):
        return "".join(str(each) for each in texts)
    return list(parts)


def _tool_data(tools: Json) -> Iterator[Json]:
    """Each declared function, and each tool of Google's own."""
    for tool in items(tools):
        declared = _either(mapping(tool), "functionDeclarations", "function_declarations")
        yield from items(declared) if declared is not None else (tool,)


def _reply(body: Body) -> Reply | None:
    candidate = mapping(next(iter(items(body.get("candidates"))), None))
    blocked = text(mapping(body.get("promptFeedback")).get("blockReason"))
    if not candidate and not blocked:
        return None
    parts = [mapping(part) for part in items(mapping(candidate.get("content")).get("parts"))]
    calls = tuple(_call(part) for part in parts if isinstance(part.get("functionCall"), Mapping))
    reason = text(candidate.get("finishReason"))
    known = "content_filter" if blocked else finish(reason)
    return Reply(
        text="".join(text(part.get("text")) or "" for part in parts if not part.get("thought")),
        tool_calls=calls,
        finish="tool_calls" if calls and known == "stop" else known,
        malformed=f"The provider could not read the model's call: {reason}." if reason in _MALFORMED else None,
        usage=_usage(mapping(body.get("usageMetadata"))),
        engine={"model": version} if (version := text(body.get("modelVersion"))) else {},
    )


def _call(part: Body) -> RawCall:
    call = mapping(part.get("functionCall"))
    return RawCall(call.get("name"), call.get("args") or {}, text(call.get("id")))


def _usage(data: Body) -> Usage | None:
    """The token counts. Thoughts are billed as output, and counted beside the candidates."""
    if not data:
        return None
    said, thought = count(data.get("candidatesTokenCount")), count(data.get("thoughtsTokenCount"))
    return Usage(
        input_tokens=count(data.get("promptTokenCount")),
        output_tokens=None if said is None and thought is None else (said or 0) + (thought or 0),
        cached_tokens=count(data.get("cachedContentTokenCount")),
        reasoning_tokens=thought,
    )


def _join_stream(chunks: Iterable[Body]) -> Body:
    """The first candidate of a stream, with all its parts, and the last of all else."""
    whole: dict[str, Json] = {}
    candidate: dict[str, Json] = {}
    parts: list[Json] = []
    for chunk in chunks:
        whole |= {key: value for key, value in chunk.items() if key != "candidates"}
        found = next((each for each in _candidates(chunk) if not each.get("index")), {})
        candidate |= {key: value for key, value in found.items() if key != "content" and value is not None}
        parts += items(mapping(found.get("content")).get("parts"))
    if not candidate and not parts:
        return whole
    return {**whole, "candidates": [{**candidate, "content": {"role": "model", "parts": parts}}]}


def _candidates(body: Body) -> list[Body]:
    return [mapping(candidate) for candidate in items(body.get("candidates"))]


def _fault(body: Body) -> str:
    if text(mapping(body.get("promptFeedback")).get("blockReason")):
        return ""
    candidates = _candidates(body)
    if not candidates:
        return "holds no candidates"
    finished = all(text(candidate.get("finishReason")) for candidate in candidates)
    return "" if finished else "has no finishReason, so that it may be cut short"


def _stream_fault(_stream: Stream) -> str:
    return ""


GEMINI_INTERFACE = WireInterface(
    "any:gemini/",
    _messages,
    frozenset({"systemInstruction", "system_instruction", "contents"}),
    _reply,
    _join_stream,
    _END_OF_STREAM,
    _fault,
    _stream_fault,
    tool_data=_tool_data,
)
