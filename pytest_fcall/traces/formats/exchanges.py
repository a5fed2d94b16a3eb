"""Logs of requests and answers of Chat Completions, Responses and Anthropic's Messages, by any logger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_fcall.backends.interfaces.anthropic import ANTHROPIC_INTERFACE
from pytest_fcall.backends.interfaces.chat import CHAT_INTERFACE
from pytest_fcall.backends.interfaces.interface import WireInterface
from pytest_fcall.backends.interfaces.responses import RESPONSES_INTERFACE
from pytest_fcall.backends.interfaces.stream import read_events
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, system_message, tools_in
from pytest_fcall.traces.values import first_field, items, mapping, parse_json_text, text

_REQUESTS: Final = ("request", "request_body", "requestBody", "req", "params", "kwargs", "input", "body")
_ANSWERS: Final = ("response", "response_body", "responseBody", "res", "completion", "output", "result", "reply")
_WRAPPERS: Final = ("body", "json", "json_body", "data", "content")
_TIMES: Final = ("timestamp", "time", "created_at", "created", "startTime", "start_time", "date", "ts")


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it holds a request, with or without its answer."""
    return bool(_request(data))


def read(data: Mapping[str, Json], place: str) -> Iterator[Record]:
    """The record of one request and its answer."""
    request, answer = _request(data), _answer(data)
    parameters = mapping(request.get("model_parameters"))  # where LiteLLM logs them
    yield Record(
        messages=(*request_messages(request), *_answer_messages(answer)),
        place=place,
        tools=tools_in(request, parameters),
        model=text(answer.get("model")) or text(request.get("model")) or text(data.get("model")) or "",
        time=_time(data, answer),
        settings=settings_of({**parameters, **request}),
        id=(text(answer.get("id")) or "") if "output" in answer else "",
        previous_id=text(request.get("previous_response_id")) or "",
    )


def request_messages(request: Mapping[str, Json]) -> tuple[Message, ...]:
    """The messages of a request, with the instructions that some providers keep apart from them."""
    messages = messages_of(request["messages"] if "messages" in request else request.get("input"))
    return (*system_message(first_field(request, "instructions", "system")), *messages)


def _request(data: Mapping[str, Json]) -> Mapping[str, Json]:
    """The body of the request, at any depth; empty where there is none."""
    for name in ("", *_REQUESTS):
        body = _body(parse_json_text(data.get(name)) if name else data)
        is_for_a_model = isinstance(body.get("model"), str) and body.get("type") is None
        if isinstance(body.get("messages"), list) or (is_for_a_model and isinstance(body.get("input"), str | list)):
            return body
    return {}


def _body(data: Json) -> Mapping[str, Json]:
    """The mapping inside wrappers."""
    body = mapping(data)
    while "messages" not in body and "choices" not in body:
        candidates = (parse_json_text(body[name]) for name in _WRAPPERS if name in body)
        inner = next((each for each in candidates if isinstance(each, Mapping)), None)
        if inner is None:
            break
        body = inner
    return body


def _answer(data: Mapping[str, Json]) -> Mapping[str, Json]:
    """The body of the answer; chunks of a stream are joined. Empty where there is none."""
    value = parse_json_text(first_field(data, *_ANSWERS))
    if isinstance(value, str) and "data:" in value:
        return _joined_chunks([*read_events(value.encode(errors="replace")).events])
    if isinstance(value, list):
        chunks = [mapping(chunk) for chunk in value]
        return _joined_chunks(chunks) if any("choices" in chunk or "type" in chunk for chunk in chunks) else {}
    return _body(value)


def _joined_chunks(chunks: list[Mapping[str, Json]]) -> Mapping[str, Json]:
    kinds = {text(chunk.get("type")) or "" for chunk in chunks}
    if "message_start" in kinds:
        return ANTHROPIC_INTERFACE.join_stream(chunks)
    if any(kind.startswith("response.") for kind in kinds):
        return RESPONSES_INTERFACE.join_stream(chunks)
    return CHAT_INTERFACE.join_stream(chunks)


def _answer_messages(answer: Mapping[str, Json]) -> tuple[Message, ...]:
    """The answer as messages. Raises UnusableRecord where the model did not finish."""
    if not answer:
        return ()
    if "choices" not in answer and "output" not in answer and answer.get("type") != "message":
        if "role" in answer:
            return messages_of(answer)
        raise _missing_answer(answer)
    interface = _interface(answer)
    reply = interface.reply(answer)
    if reply is None or reply.malformed:
        raise _missing_answer(answer)
    if reply.refusal:
        raise UnusableRecord("the model refused")
    if reply.finish in ("length", "content_filter", "refusal"):
        raise UnusableRecord(f"the answer is incomplete: {reply.finish}")
    if interface is CHAT_INTERFACE:
        choice = mapping(next(iter(items(answer.get("choices"))), None))
        return messages_of({**mapping(choice.get("message")), "role": "assistant"})
    if interface is ANTHROPIC_INTERFACE:
        return messages_of({"role": "assistant", "content": answer.get("content")})
    return messages_of(answer["output"])


def _interface(answer: Mapping[str, Json]) -> WireInterface:
    if "choices" in answer:
        return CHAT_INTERFACE
    return ANTHROPIC_INTERFACE if answer.get("type") == "message" else RESPONSES_INTERFACE


def _missing_answer(answer: Mapping[str, Json]) -> UnusableRecord:
    return UnusableRecord("the request failed" if answer.get("error") else "the answer holds no reply")


def _time(data: Mapping[str, Json], answer: Mapping[str, Json]) -> str:
    value = first_field(data, *_TIMES)
    return str(value if isinstance(value, str | int | float) else first_field(answer, "created", "created_at") or "")
