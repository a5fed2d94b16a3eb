"""`python:module:function`: the team's own app, called in process; and the Reply in what an app returns."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from inspect import isawaitable
from pathlib import Path
from traceback import extract_tb
from types import MappingProxyType
from typing import Any, cast

from pytest_fcall.backends.images import with_data_urls
from pytest_fcall.backends.openai.answer_fields import engine, finish, text, text_and_refusal, usage
from pytest_fcall.backends.pretty_json import pretty_json
from pytest_fcall.core import Call, Json, Message, Model, ModelUnavailable, RawCall, Reply, Request, Tool

ACCEPTED_FORMS = (
    "text, a list of calls ({'name': ..., 'arguments': {...}}), an OpenAI or Anthropic message, "
    "or the list of all messages"
)


class AnswerError(TypeError):
    """An app returned something that is neither text nor calls."""


def reply_of(answer: object, asked: Sequence[Message] = ()) -> Reply:
    """Read what an app returned. `asked` are the messages it was given, to tell the new part of a trail.

    Raises AnswerError, in words, for what cannot be read.
    """
    if isinstance(answer, Reply):
        return answer
    if answer is None or isinstance(answer, str):
        return Reply(text=answer or "")
    if isinstance(answer, Call):
        return _reply_of_calls([answer])
    if callable(dump := getattr(answer, "model_dump", None)):
        return reply_of(dump(), asked)
    if isinstance(answer, Mapping):
        return _reply_of_mapping(answer)
    if isinstance(answer, Sequence) and not isinstance(answer, (bytes, bytearray)):
        items = [_plain(item) for item in answer]
        return _reply_of_trail(items, asked) if items and all(map(_is_message, items)) else _reply_of_calls(items)
    raise AnswerError(f"the app returned a {type(answer).__name__}; it may return {ACCEPTED_FORMS}")


def _plain(item: object) -> object:
    dump = getattr(item, "model_dump", None)
    return dump() if callable(dump) else item


def _is_message(item: object) -> bool:
    return isinstance(item, Mapping) and "role" in item


def _reply_of_mapping(answer: Mapping[str, Any]) -> Reply:
    if isinstance(choices := answer.get("choices"), Sequence) and choices:
        choice = _object(choices[0], "choices[0]")
        message = _object(choice.get("message"), "choices[0].message")
        reply = replace(_reply_of_message(message), usage=usage(answer.get("usage")), engine=engine(answer))
        return _with_finish(reply, choice.get("finish_reason"))
    if "role" in answer or "tool_calls" in answer or "content" in answer or "function_call" in answer:
        reply = replace(_reply_of_message(answer), usage=usage(answer.get("usage")), engine=engine(answer))
        return _with_finish(reply, answer.get("stop_reason"))
    if "name" in answer:
        return _reply_of_calls([answer])
    keys = ", ".join(repr(key) for key in list(answer)[:5]) or "no keys"
    raise AnswerError(f"the app returned a dict with {keys}; it may return {ACCEPTED_FORMS}")


def _object(value: object, where: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise AnswerError(f"the app returned an answer whose {where} is a {type(value).__name__}, not an object")


def _with_finish(reply: Reply, reason: object) -> Reply:
    return replace(reply, finish=finish(reason)) if isinstance(reason, str) else reply


def _reply_of_message(message: Mapping[str, Any]) -> Reply:
    content = message.get("content", message.get("text"))
    spoken, refused = text_and_refusal(content)
    calls = list(_anthropic_calls(content))
    tool_calls = message.get("tool_calls") or ()
    if not isinstance(tool_calls, (list, tuple)):
        raise AnswerError(f"the app returned a message whose tool_calls are a {type(tool_calls).__name__}, not a list")
    calls += map(_raw_call, tool_calls)
    if (legacy := message.get("function_call")) is not None:
        calls.append(_raw_call(legacy))
    return Reply(
        text=spoken,
        tool_calls=tuple(calls),
        refusal=text(message.get("refusal")) or refused,
        finish="tool_calls" if calls else "stop",
    )


def _anthropic_calls(content: object) -> Iterator[RawCall]:
    """The calls among the parts of a content, as Anthropic has them."""
    for part in content if isinstance(content, list | tuple) else ():
        if isinstance(part, Mapping) and part.get("type") == "tool_use":
            yield RawCall(part.get("name"), part.get("input"), text(part.get("id")))


def _reply_of_calls(items: Sequence[object]) -> Reply:
    if not items:
        # Said outright, an empty list is a decision to call nothing; an empty text would not be.
        return Reply(text="[]", decoder="json")
    return Reply(tool_calls=tuple(_raw_call(item) for item in items), finish="tool_calls")


def _raw_call(item: object) -> RawCall:
    if isinstance(item, Call):
        return RawCall(item.name, item.arguments, item.id)
    if isinstance(item, Mapping):
        inner = item.get("function")
        call = inner if isinstance(inner, Mapping) else item
        if "name" in call:
            return RawCall(call["name"], _arguments(call), text(item.get("id")))
    raise AnswerError(f"the app returned a list with {item!r:.80} in it; it may return {ACCEPTED_FORMS}")


def _arguments(call: Mapping[str, Any]) -> Json:
    for key in ("arguments", "args", "input"):
        if key in call:
            return cast("Json", call[key])
    return {}


def _reply_of_trail(messages: list[object], asked: Sequence[Message]) -> Reply:
    """Calls of all new assistant messages, in order, and the text of the last one.

    The trail of the reply begins with what was asked.
    """
    added = _new_messages(cast("list[Message]", messages), asked)
    new = [_reply_of_message(message) for message in added if message["role"] == "assistant"]
    if not new:
        raise AnswerError("the app returned messages without a new one of role 'assistant'")
    calls = tuple(call for reply in new for call in reply.tool_calls)
    return replace(new[-1], tool_calls=calls, trail=(*asked, *added))


def _new_messages(trail: Sequence[Message], asked: Sequence[Message]) -> Sequence[Message]:
    """What is new in a trail.

    It may begin with the messages that were asked, or leave them out; an app that has a system message of its own, or
    keeps only a part of what was said, repeats at least what was said last.
    """
    said, known = [_role_and_content(message) for message in trail], [_role_and_content(message) for message in asked]
    if said[: len(known)] == known:
        return trail[len(known) :]
    last = [number for number, each in enumerate(said, 1) if each == known[-1]]
    return trail[last[-1] :] if last else trail


def _role_and_content(message: Message) -> tuple[object, object]:
    return message.get("role"), message.get("content")


AppFunction = Callable[["AppRequest"], object]


@dataclass(frozen=True, slots=True)
class AppRequest:
    """What an app is handed: plain lists and dicts in OpenAI's form, its own to change."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)
    now: datetime | None = None
    """The case's clock: what the app should take for the present."""


class PythonBackend:
    """Calls `app`, or the function that `model` names, which is imported with the first request."""

    settings: Mapping[str, Json] = MappingProxyType({})
    reusable = False
    ahead = False

    def __init__(self, find: Callable[[], AppFunction]) -> None:
        self._find = find
        self._app: AppFunction | None = None
        self._missing = ""
        """Why there is no app: a module that fails is not run again for every case."""
        self._catalogue = CopyableTools(())

    def call(self, request: Request) -> Reply | Coroutine[Any, None, Reply]:
        """Call the app. The reply, or a coroutine that gives it; an exception of the app is left to rise."""
        app = self._found()
        started = time.perf_counter()
        if self._catalogue.tools is not request.tools:
            self._catalogue = CopyableTools(request.tools)
        asked = app_request(request, self._catalogue)
        given = list(asked.messages)
        answer = app(asked)
        if isawaitable(answer):
            return _awaited_reply(answer, given, started)
        return replace(reply_of(answer, given), seconds=time.perf_counter() - started)

    async def complete(self, request: Request) -> Reply:
        """Answer by calling the app; an exception of the app is left to rise."""
        reply = self.call(request)
        return reply if isinstance(reply, Reply) else await reply

    def _found(self) -> AppFunction:
        if self._missing:
            raise ModelUnavailable(self._missing)
        if self._app is None:
            try:
                self._app = self._find()
            except ModelUnavailable as error:
                self._missing = str(error)
                raise
        return self._app

    def prompt(self, request: Request) -> str:
        """What the app is handed."""
        return pretty_json(asdict(app_request(request, CopyableTools(request.tools))))

    async def close(self) -> None:
        """Nothing to give back: the app is the user's."""


async def _awaited_reply(answer: Awaitable[object], given: list[dict[str, Any]], started: float) -> Reply:
    return replace(reply_of(await answer, given), seconds=time.perf_counter() - started)


def python_backend(model: Model, root: Path) -> PythonBackend:
    """Make the backend of `python:module:function`."""
    return PythonBackend(partial(find_app, model.name, root))


class CopyableTools:
    """Tools in OpenAI's form, kept as text: reading it again is the fastest way to a copy that an app may change."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        self._text = json.dumps([{"type": "function", "function": _function_spec(tool)} for tool in tools])

    def copy(self) -> list[dict[str, Any]]:
        """Give the tools as new lists and dicts."""
        return cast("list[dict[str, Any]]", json.loads(self._text))


def app_request(request: Request, catalogue: CopyableTools) -> AppRequest:
    """Put a Request, whose tools the catalogue holds, into the plain form that apps are handed."""
    return AppRequest(
        messages=[_deep_copy(with_data_urls(message)) for message in request.messages],
        tools=catalogue.copy(),
        settings=_deep_copy(request.settings),
        now=request.now,
    )


def _function_spec(tool: Tool) -> dict[str, Json]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def find_app(name: str, root: Path) -> AppFunction:
    """Import `module:function`; the root folder is importable. Raises ModelUnavailable with what to do."""
    module_name, colon, path = name.partition(":")
    if not (colon and module_name and path):
        raise ModelUnavailable(f"python:{name}: write python:module:function, such as python:shop.agent:answer")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    try:
        found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise _import_failure(name, module_name, root, error) from error
        raise ModelUnavailable(
            f"python:{name}: there is no module {error.name!r}; looked in {root} and on sys.path"
        ) from None
    except (Exception, SystemExit) as error:
        raise _import_failure(name, module_name, root, error) from error
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ModelUnavailable(f"python:{name}: {module_name} has no {path!r}") from None
    if not callable(found):
        raise ModelUnavailable(f"python:{name}: {path} is a {type(found).__name__}, which cannot be called")
    return found


def _import_failure(name: str, module: str, root: Path, error: BaseException) -> ModelUnavailable:
    """Say what a module breaks on, and where in the project."""
    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(root)]
    place = f" at {Path(own[-1].filename).relative_to(root)}:{own[-1].lineno}" if own else ""
    return ModelUnavailable(f"python:{name}: importing {module} fails{place}: {type(error).__name__}: {error}")


def _deep_copy(value: Json | Mapping[str, Json]) -> Any:
    if isinstance(value, Mapping):
        return {key: _deep_copy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep_copy(item) for item in value]
    return value
