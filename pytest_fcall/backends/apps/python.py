"""`python:module:function`: the team's own app, called in process; and the Reply in what an app returns."""

from __future__ import annotations

import json
import marshal
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from inspect import isawaitable
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from pytest_fcall.backends.images import with_data_urls
from pytest_fcall.backends.openai.answer_fields import engine, finish, text, text_and_refusal, usage
from pytest_fcall.core import Call, Json, Message, ModelUnavailable, RawCall, Reply, Request, Tool
from pytest_fcall.core.app_request import AppRequest

AppFunction: TypeAlias = Callable[[AppRequest], object]


class PythonBackend:
    """Calls the app that `import_app` returns; the first request imports it."""

    settings: Mapping[str, Json] = MappingProxyType({})
    reusable = False
    ahead = False

    def __init__(self, import_app: Callable[[], AppFunction], check: Callable[[], None] = lambda: None) -> None:
        self._import = import_app
        self.check = check
        """Raises ModelUnavailable where there is no such module. Nothing is imported, as the app's imports may need
        the fixtures of the first test."""
        self._app: AppFunction | None = None
        self._import_failure = ""
        """Kept, so that a failing module is not run again for every case."""
        self._tools = CopyableTools(())

    def call(self, request: Request) -> Reply | Coroutine[Any, None, Reply]:
        """Call the app. Gives the reply, or a coroutine that gives it; an exception of the app is not caught."""
        app = self._imported()
        started = time.perf_counter()
        if self._tools.tools is not request.tools:
            self._tools = CopyableTools(request.tools)
        handed = app_request(request, self._tools)
        messages = list(handed.messages)
        answer = app(handed)
        if isawaitable(answer):
            return _awaited_reply(answer, messages, started)
        return reply_of(answer, messages, time.perf_counter() - started)

    async def complete(self, request: Request) -> Reply:
        """Answer by calling the app, within the event loop of an async test. An exception of the app is not caught."""
        with _loop_advice(_CALLED_IN_ASYNC_TEST):
            reply = self.call(request)
        return reply if isinstance(reply, Reply) else await reply

    def prompt(self, request: Request) -> str:
        """The request as the app gets it."""
        from pytest_fcall.backends.pretty_json import pretty_json

        return pretty_json(asdict(app_request(request, CopyableTools(request.tools))))

    def note(self) -> str:
        """A line on what the app and the cases differ in, where it is an agent; else nothing."""
        note: Callable[[], str] | None = getattr(self._app, "note", None)
        return note() if note else ""

    async def close(self) -> None:
        """Do nothing: the backend holds no resources."""

    def _imported(self) -> AppFunction:
        if self._import_failure:
            raise ModelUnavailable(self._import_failure)
        if self._app is None:
            try:
                self._app = self._import()
            except ModelUnavailable as error:
                self._import_failure = str(error)
                raise
        return self._app


async def _awaited_reply(answer: Awaitable[object], messages: list[dict[str, Any]], started: float) -> Reply:
    with _loop_advice(_OWN_LOOP_IN_ASYNC_APP):
        answered = await answer
    return reply_of(answered, messages, time.perf_counter() - started)


_CALLED_IN_ASYNC_TEST = (
    "the app runs an event loop of its own, and was called in an async test: write a test without `async` that calls "
    "`fc_model(…)`, or an app with `async` that awaits"
)
_OWN_LOOP_IN_ASYNC_APP = (
    "the app is async, and something in it runs an event loop of its own: await it (`await agent.run(…)`, not "
    "`agent.run_sync(…)`), or write the app without `async`"
)


@contextmanager
def _loop_advice(advice: str) -> Iterator[None]:
    """Add to Python's error what to do where an event loop was to run inside another one."""
    try:
        yield
    except RuntimeError as error:
        if "event loop" in str(error) and advice not in getattr(error, "__notes__", ()):
            error.add_note(advice)
        raise


class CopyableTools:
    """Tools in OpenAI's form, marshalled: that is the fastest way to a copy that an app may change."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        functions = (
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
        )
        text = json.dumps([{"type": "function", "function": function} for function in functions])
        self._data = marshal.dumps(json.loads(text))

    def copy(self) -> list[dict[str, Any]]:
        """The tools as new lists and dicts."""
        tools: list[dict[str, Any]] = marshal.loads(self._data)  # noqa: S302 - made above
        return tools


def app_request(request: Request, tools: CopyableTools) -> AppRequest:
    """The request as an app gets it; `tools` are its tools."""
    return AppRequest(
        messages=[_deep_copy(with_data_urls(message)) for message in request.messages],
        tools=tools.copy(),
        settings=_deep_copy(request.settings),
        now=request.now,
    )


def _deep_copy(value: Json | Mapping[str, Json]) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, Mapping)):  # the test for a mapping takes ten times as long
        return {key: _deep_copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep_copy(item) for item in value]
    return value


ALLOWED_ANSWERS = (
    "text, a list of calls ({'name': ..., 'arguments': {...}}), an OpenAI or Anthropic message, "
    "or the list of all messages"
)


class AnswerError(TypeError):
    """An app returned a value that is not an answer."""


def reply_of(answer: object, sent: Sequence[Message] = (), seconds: float | None = None) -> Reply:
    """The Reply in what an app returned after `seconds`.

    `sent` are the messages that the app got, with which its own may begin.

    Raises AnswerError for a value that is not an answer.
    """
    if isinstance(answer, Reply):
        return answer if seconds is None else replace(answer, seconds=seconds)
    if answer is None or isinstance(answer, str):
        return Reply(text=answer or "", seconds=seconds)
    if isinstance(answer, Call):
        return _reply_of_calls([answer], seconds)
    if callable(dump := getattr(answer, "model_dump", None)):
        return reply_of(dump(), sent, seconds)
    if isinstance(answer, (dict, Mapping)):
        return replace(_reply_of_mapping(answer), seconds=seconds)
    if isinstance(answer, (list, Sequence)) and not isinstance(answer, (bytes, bytearray)):
        items = [_dumped(item) for item in answer]
        if items and all(map(_is_message, items)):
            return replace(_reply_of_trail(items, sent), seconds=seconds)
        return _reply_of_calls(items, seconds)
    raise AnswerError(f"the app returned a value of type {type(answer).__name__}; allowed: {ALLOWED_ANSWERS}")


def _dumped(item: object) -> object:
    dump = getattr(item, "model_dump", None)
    return dump() if callable(dump) else item


def _is_message(item: object) -> bool:
    return isinstance(item, (dict, Mapping)) and "role" in item


def _reply_of_mapping(answer: Mapping[str, Any]) -> Reply:
    if isinstance(choices := answer.get("choices"), Sequence) and choices:
        choice = _object(choices[0], "choices[0]")
        message = _object(choice.get("message"), "choices[0].message")
        return _reply_of_answer(message, answer, choice.get("finish_reason"))
    if "role" in answer or "tool_calls" in answer or "content" in answer or "function_call" in answer:
        return _reply_of_answer(answer, answer, answer.get("stop_reason"))
    if "name" in answer:
        return _reply_of_calls([answer])
    keys = ", ".join(repr(key) for key in list(answer)[:5]) or "no keys"
    raise AnswerError(f"the app returned a dict with {keys}; allowed: {ALLOWED_ANSWERS}")


def _object(value: object, place: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise AnswerError(f"the app returned an answer whose {place} is a {type(value).__name__}, not an object")


def _reply_of_answer(message: Mapping[str, Any], answer: Mapping[str, Any], reason: object) -> Reply:
    reply = replace(_reply_of_message(message), usage=usage(answer.get("usage")), engine=engine(answer))
    return replace(reply, finish=finish(reason)) if isinstance(reason, str) else reply


def _reply_of_message(message: Mapping[str, Any]) -> Reply:
    content = message.get("content", message.get("text"))
    content_text, refusal = text_and_refusal(content)
    calls = list(_anthropic_calls(content))
    tool_calls = message.get("tool_calls") or ()
    if not isinstance(tool_calls, (list, tuple)):
        raise AnswerError(f"the app returned a message whose tool_calls are a {type(tool_calls).__name__}, not a list")
    calls += map(_raw_call, tool_calls)
    if (legacy := message.get("function_call")) is not None:
        calls.append(_raw_call(legacy))
    return Reply(
        text=content_text,
        tool_calls=tuple(calls),
        refusal=text(message.get("refusal")) or refusal,
        finish="tool_calls" if calls else "stop",
    )


def _anthropic_calls(content: object) -> Iterator[RawCall]:
    """The calls among the parts of a content in Anthropic's form."""
    for part in content if isinstance(content, list | tuple) else ():
        if isinstance(part, Mapping) and part.get("type") == "tool_use":
            yield RawCall(part.get("name"), part.get("input"), text(part.get("id")))


def _reply_of_calls(items: Sequence[object], seconds: float | None = None) -> Reply:
    if not items:
        # An explicit empty list is the decision to call nothing; an empty text would not be one.
        return Reply(text="[]", decoder="json", seconds=seconds)
    return Reply(tool_calls=tuple(map(_raw_call, items)), finish="tool_calls", seconds=seconds)


def _raw_call(item: object) -> RawCall:
    if isinstance(item, Call):
        return RawCall(item.name, item.arguments, item.id)
    if isinstance(item, (dict, Mapping)):
        inner = item.get("function")
        call = inner if isinstance(inner, (dict, Mapping)) else item
        if "name" in call:
            arguments: Json = next((call[key] for key in ("arguments", "args", "input") if key in call), {})
            return RawCall(call["name"], arguments, text(item.get("id")))
    raise AnswerError(f"the app returned a list with {item!r:.80} in it; allowed: {ALLOWED_ANSWERS}")


def _reply_of_trail(messages: list[object], sent: Sequence[Message]) -> Reply:
    """The calls of all new assistant messages, in order, and the text of the last one."""
    added = _new_messages(cast("list[Message]", messages), sent)  # `_is_message` has seen each
    new = [_reply_of_message(message) for message in added if message["role"] == "assistant"]
    if not new:
        raise AnswerError("the app returned no new message with the role 'assistant'")
    calls = tuple(call for reply in new for call in reply.tool_calls)
    return replace(new[-1], tool_calls=calls, trail=(*sent, *added))


def _new_messages(trail: Sequence[Message], sent: Sequence[Message]) -> Sequence[Message]:
    """The new messages of a trail.

    A trail may begin with the messages that were sent, or leave them out. An app with a system message of its own, or
    one that keeps a part of the conversation, repeats at least the last message that was sent.
    """
    keys, sent_keys = [_role_and_content(message) for message in trail], [_role_and_content(each) for each in sent]
    if keys[: len(sent_keys)] == sent_keys:
        return trail[len(sent_keys) :]
    ends = [end for end, key in enumerate(keys, 1) if key == sent_keys[-1]]
    return trail[ends[-1] :] if ends else trail


def _role_and_content(message: Message) -> tuple[object, object]:
    return message.get("role"), message.get("content")
