"""Ollama's own interface, `/api/chat` and `/api/generate`, as apps use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_fcall.backends.interfaces.interface import WireInterface, called_function, messages_of_body
from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import count, finish, items, mapping, text
from pytest_fcall.core.reply import Finish, RawCall, Reply, Usage
from pytest_fcall.core.values import Json, Message

_END_OF_STREAM = re.compile(rb'"done" ?: ?true')
_LOADED = ("load", "unload")
"""Reasons of an answer to a request without a message, which only loads the model."""


def _prompt_messages(body: Body) -> Iterator[Message]:
    if system := text(body.get("system")):
        yield {"role": "system", "content": system}
    yield {"role": "user", "content": body.get("prompt")}


def _chat_reply(body: Body) -> Reply | None:
    message = body.get("message")
    if not isinstance(message, dict):
        return None
    calls = tuple(called_function(mapping(call)) for call in items(message.get("tool_calls")))
    return Reply(
        text=text(message.get("content")) or "",
        tool_calls=calls,
        finish=_finish(body, calls),
        usage=_usage(body),
        engine={"model": model} if (model := text(body.get("model"))) else {},
    )


def _prompt_reply(body: Body) -> Reply | None:
    answer = body.get("response")
    if not isinstance(answer, str):
        return None
    engine: dict[str, Json] = {"model": model} if (model := text(body.get("model"))) else {}
    return Reply(text=answer, finish=_finish(body, ()), usage=_usage(body), engine=engine)


def _finish(body: Body, calls: tuple[RawCall, ...]) -> Finish:
    reason = text(body.get("done_reason"))
    known: Finish = "stop" if reason in _LOADED or (reason is None and body.get("done")) else finish(reason)
    return "tool_calls" if calls and known == "stop" else known


def _usage(body: Body) -> Usage | None:
    """The token counts. A prompt that is cached whole has none."""
    read, written = count(body.get("prompt_eval_count")), count(body.get("eval_count"))
    return None if read is None and written is None else Usage(input_tokens=read or 0, output_tokens=written or 0)


def _join_chat(chunks: Iterable[Body]) -> Body:
    """The message of all lines, with the figures of the last."""
    whole: dict[str, Json] = {}
    answer: list[str] = []
    calls: list[Json] = []
    for chunk in chunks:
        whole |= chunk
        message = mapping(chunk.get("message"))
        answer.append(text(message.get("content")) or "")
        calls += items(message.get("tool_calls"))
    return {**whole, "message": {"role": "assistant", "content": "".join(answer), "tool_calls": calls}}


def _join_prompt(chunks: Iterable[Body]) -> Body:
    whole: dict[str, Json] = {}
    answer: list[str] = []
    for chunk in chunks:
        whole |= chunk
        answer.append(text(chunk.get("response")) or "")
    return {**whole, "response": "".join(answer)}


def _chat_fault(body: Body) -> str:
    return _undone(body) if isinstance(body.get("message"), dict) else "holds no message"


def _prompt_fault(body: Body) -> str:
    return _undone(body) if isinstance(body.get("response"), str) else "holds no response"


def _undone(body: Body) -> str:
    return "" if body.get("done") is True else "does not end with `done`, so that it may be cut short"


def _stream_fault(_stream: Stream) -> str:
    return ""


OLLAMA_CHAT_INTERFACE = WireInterface(
    "any:ollama/",
    messages_of_body,
    frozenset({"messages"}),
    _chat_reply,
    _join_chat,
    _END_OF_STREAM,
    _chat_fault,
    _stream_fault,
)
OLLAMA_PROMPT_INTERFACE = WireInterface(
    "any:ollama/",
    _prompt_messages,
    frozenset({"system", "prompt"}),
    _prompt_reply,
    _join_prompt,
    _END_OF_STREAM,
    _prompt_fault,
    _stream_fault,
)
