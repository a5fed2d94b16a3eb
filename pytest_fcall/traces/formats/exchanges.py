"""Logs of requests and answers: Chat Completions, Responses and Anthropic's Messages, whoever wrote them down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_fcall.backends.interfaces.anthropic import ANTHROPIC_INTERFACE
from pytest_fcall.backends.interfaces.chat import CHAT_INTERFACE
from pytest_fcall.backends.interfaces.interface import Interface, stream_events
from pytest_fcall.backends.interfaces.responses import RESPONSES_INTERFACE
from pytest_fcall.core import Json, Message
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, tools_of
from pytest_fcall.traces.values import first, items, mapping, parsed, text

_REQUESTS: Final = ("request", "request_body", "requestBody", "req", "params", "kwargs", "input", "body")
_ANSWERS: Final = ("response", "response_body", "responseBody", "res", "completion", "output", "result", "reply")
_WITHIN: Final = ("body", "json", "json_body", "data", "content")
_MOMENTS: Final = ("timestamp", "time", "created_at", "created", "startTime", "start_time", "date", "ts")


def recognises(told: Mapping[str, Json]) -> bool:
    """Whether there is a request for an answer in it, by itself or beside an answer."""
    return bool(_request(told))


def read(told: Mapping[str, Json], place: str) -> Iterator[Record]:
    """The record of one request and its answer."""
    request, answer = _request(told), _answer(told)
    beside = mapping(request.get("model_parameters"))  # where LiteLLM logs them
    yield Record(
        trail=(*request_messages(request), *_answer_messages(answer)),
        place=place,
        tools=tools_of(first(request, "tools", "functions") or first(beside, "tools", "functions")),
        model=text(answer.get("model")) or text(request.get("model")) or text(told.get("model")) or "",
        moment=_moment(told, answer),
        settings=settings_of({**beside, **request}),
        id=(text(answer.get("id")) or "") if "output" in answer else "",
        after=text(request.get("previous_response_id")) or "",
    )


def request_messages(request: Mapping[str, Json]) -> tuple[Message, ...]:
    """The messages of a request, the instructions that stand beside them included."""
    system = first(request, "instructions", "system")
    said = messages_of({"role": "system", "content": system}) if system is not None else ()
    return (*said, *messages_of(request["messages"] if "messages" in request else request.get("input")))


def _request(told: Mapping[str, Json]) -> Mapping[str, Json]:
    """The body of the request, at whatever depth loggers put it; empty where there is none."""
    for name in ("", *_REQUESTS):
        body = _body(parsed(told.get(name)) if name else told)
        if isinstance(body.get("messages"), list) or (
            isinstance(body.get("input"), str | list) and _is_for_a_model(body)
        ):
            return body
    return {}


def _is_for_a_model(body: Mapping[str, Json]) -> bool:
    return isinstance(body.get("model"), str) and body.get("type") is None


def _body(told: Json) -> Mapping[str, Json]:
    body = mapping(told)
    while "messages" not in body and "choices" not in body:
        inner = next((parsed(body[name]) for name in _WITHIN if isinstance(parsed(body.get(name)), Mapping)), None)
        if inner is None:
            break
        body = mapping(inner)
    return body


def _answer(told: Mapping[str, Json]) -> Mapping[str, Json]:
    """The body of the answer; one that was streamed is put together. Empty where there is none."""
    given = parsed(first(told, *_ANSWERS))
    if isinstance(given, str) and "data:" in given:
        return _joined_chunks([*stream_events(given.encode(errors="replace"))])
    if isinstance(given, list):
        chunks = [mapping(chunk) for chunk in given]
        return _joined_chunks(chunks) if any("choices" in chunk or "type" in chunk for chunk in chunks) else {}
    return _body(given)


def _joined_chunks(chunks: list[Mapping[str, Json]]) -> Mapping[str, Json]:
    kinds = {text(chunk.get("type")) or "" for chunk in chunks}
    if "message_start" in kinds:
        return ANTHROPIC_INTERFACE.join_stream(chunks)
    return (
        RESPONSES_INTERFACE.join_stream(chunks)
        if any(kind.startswith("response.") for kind in kinds)
        else CHAT_INTERFACE.join_stream(chunks)
    )


def _answer_messages(answer: Mapping[str, Json]) -> tuple[Message, ...]:
    """The answer as a message. NotSaid where the model did not come to an end."""
    if not answer:
        return ()
    if "choices" not in answer and "output" not in answer and answer.get("type") != "message":
        return messages_of(answer) if "role" in answer else _no_answer(answer)
    form = _form(answer)
    reply = form.reply(answer)
    if reply is None or reply.malformed:
        return _no_answer(answer)
    if reply.refusal or reply.finish in ("length", "content_filter", "refusal"):
        raise UnusableRecord("the model refused" if reply.refusal else f"the answer broke off: {reply.finish}")
    if form is CHAT_INTERFACE:
        choice = mapping(next(iter(items(answer.get("choices"))), None))
        return messages_of({**mapping(choice.get("message")), "role": "assistant"})
    if form is ANTHROPIC_INTERFACE:
        return messages_of({"role": "assistant", "content": answer.get("content")})
    return messages_of(answer["output"])


def _form(answer: Mapping[str, Json]) -> Interface:
    if "choices" in answer:
        return CHAT_INTERFACE
    return ANTHROPIC_INTERFACE if answer.get("type") == "message" else RESPONSES_INTERFACE


def _no_answer(answer: Mapping[str, Json]) -> tuple[Message, ...]:
    raise UnusableRecord("the request failed" if answer.get("error") else "its answer holds no reply")


def _moment(told: Mapping[str, Json], answer: Mapping[str, Json]) -> str:
    moment = first(told, *_MOMENTS)
    return str(moment if isinstance(moment, str | int | float) else first(answer, "created", "created_at") or "")
