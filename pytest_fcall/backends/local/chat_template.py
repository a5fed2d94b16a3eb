"""Chat templates: messages and tools in the form that a template takes, and the ways in which templates differ."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from pytest_fcall.core import CaseRefused, Json, Message, ModelUnavailable, Request, Tool

Change: TypeAlias = Callable[[Json], Json]


def message_text(message: Message) -> str:
    """The text of a message, its parts joined. Raises CaseRefused for what is no text, such as an image."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list | tuple):
        return "".join(map(_part, content))
    raise CaseRefused("a message is neither text nor a list of parts")


def _part(part: Json) -> str:
    if isinstance(part, Mapping) and part.get("type") in ("text", "input_text") and isinstance(part.get("text"), str):
        return str(part["text"])
    kind = part.get("type") if isinstance(part, Mapping) else None
    raise CaseRefused(f"local models read text only, and a message has a part of type {kind!r:.40}")


def normalise_message(message: Message) -> Message:
    """The message as templates expect it: text as one, calls with arguments as mappings, today's names of roles."""
    role = {"developer": "system", "function": "tool"}.get(str(message.get("role")), message.get("role"))
    return _with_calls({**message, "role": role, "content": message_text(message)}, _parsed)


def with_names(messages: Sequence[Message]) -> list[Message]:
    """Results with the names of the functions that gave them: some templates ask for these, and not for ids."""
    names: dict[str, Json] = {}
    for message in messages:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list | tuple) else ():
            if isinstance(call, Mapping) and isinstance(function := call.get("function"), Mapping):
                names[str(call.get("id"))] = function.get("name")
    return [_with_name(message, names) for message in messages]


def _with_name(message: Message, names: Mapping[str, Json]) -> Message:
    if message.get("role") != "tool" or "name" in message:
        return message
    name = names.get(str(message.get("tool_call_id")))
    return {**message, "name": name} if name is not None else message


def with_short_ids(messages: Sequence[Message]) -> Sequence[Message]:
    """Calls named by nine digits each: the templates of Mistral take no other names than those of nine characters."""
    ids: dict[str, str] = {}

    def short(given: Json) -> str:
        return ids.setdefault(str(given), f"{len(ids):09}")

    def renamed(message: Message) -> Message:
        calls = message.get("tool_calls")
        if isinstance(calls, list | tuple):
            named = [{**call, "id": short(call.get("id"))} for call in calls if isinstance(call, Mapping)]
            return {**message, "tool_calls": named}
        return {**message, "tool_call_id": short(message["tool_call_id"])} if "tool_call_id" in message else message

    return [renamed(message) for message in messages]


def with_arguments_as_text(messages: Sequence[Message]) -> Sequence[Message]:
    """Arguments are mappings to most templates, and text to some."""

    def text(given: Json) -> Json:
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)

    return [_with_calls(message, text) for message in messages]


def merge_user_messages(messages: Sequence[Message]) -> Sequence[Message]:
    """What the user says in one go as one message, for templates that want users and assistants to alternate."""
    turns: list[Message] = []
    for message in messages:
        if turns and turns[-1].get("role") == message.get("role") == "user":
            turns[-1] = {**turns[-1], "content": f"{turns[-1]['content']}\n\n{message['content']}"}
        else:
            turns.append(message)
    return turns


def with_text_parts(messages: Sequence[Message]) -> Sequence[Message]:
    """Each text as a list of one part."""
    return [{**message, "content": [{"type": "text", "text": message["content"]}]} for message in messages]


def _with_calls(message: Message, change: Change) -> Message:
    calls = message.get("tool_calls")
    if not isinstance(calls, list | tuple):
        return message
    return {**message, "tool_calls": [_with_arguments(call, change) for call in calls if isinstance(call, Mapping)]}


def _with_arguments(call: Mapping[str, Json], change: Change) -> Json:
    called = call.get("function")
    if not isinstance(called, Mapping):
        return call
    return {"type": "function", **call, "function": {**called, "arguments": change(called.get("arguments"))}}


def _parsed(given: Json) -> Json:
    if not isinstance(given, str):
        return given
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return found if isinstance(found, dict) else given


def fold_system_messages(messages: Sequence[Message]) -> Sequence[Message]:
    """What the system says put before the first question, for templates that take no such message."""
    system = [str(message["content"]) for message in messages if message.get("role") == "system"]
    rest = [message for message in messages if message.get("role") != "system"]
    if not system:
        return rest
    if not rest or rest[0].get("role") != "user":
        return [{"role": "user", "content": "\n\n".join(system)}, *rest]
    return [{**rest[0], "content": "\n\n".join([*system, str(rest[0]["content"])])}, *rest[1:]]


def with_tools(messages: Sequence[Message], tools: Sequence[Json]) -> Sequence[Message]:
    """The tools as JSON in the system message, under the key that templates like Phi's look for."""
    told = json.dumps(tools, ensure_ascii=False)
    if messages and messages[0].get("role") == "system":
        return [{**messages[0], "tools": told}, *messages[1:]]
    return [{"role": "system", "content": "", "tools": told}, *messages]


def function_spec(tool: Tool) -> Mapping[str, Json]:
    """The tool as models are told it, under its own name and schema."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


ToolsPlace: TypeAlias = Literal["argument", "system", "nowhere"]

_PROBE = Tool("fcall_probe", "fcall_probe", {"type": "object", "properties": {"x": {"type": "string"}}})
_ASKED, _SAID = "fcall_question", "fcall_system"
_QUESTION: Message = {"role": "user", "content": _ASKED}
_SYSTEM: Message = {"role": "system", "content": _SAID}
_WITH_OR_NOT: Sequence[tuple[Tool, ...]] = ((), (_PROBE,))
_CLOCK = re.compile(r"""strftime_now\(\s*(["'])([^"'\n]*)\1\s*\)""")
# The same request must be told the same on any day. Templates of Llama say this date where they know no other.
_NO_CLOCK = datetime(2024, 7, 26, tzinfo=UTC)


class Tokenizer(Protocol):
    """What is wanted of a tokenizer of transformers."""

    @property
    def chat_template(self) -> Any:
        """The template, or several by name, or None."""
        ...

    @property
    def bos_token(self) -> Any:
        """What a text begins with, or None."""
        ...

    def apply_chat_template(self, conversation: Any, /, **options: Any) -> Any:
        """Write a conversation."""
        ...


class ChatTemplate:
    """A chat template, asked once what it can tell.

    `tools` says where it looks for tools: in the argument of that name, in the system message (as Phi does), or
    nowhere. `tells_date` says whether it tells the date, which is that of the case's clock. Raises ModelUnavailable
    for a template that cannot even tell a question, or does not.
    """

    def __init__(self, tokenizer: Tokenizer, template: str | None = None) -> None:
        given = template if template is not None else tokenizer.chat_template
        self._tokenizer = tokenizer
        self._named: Mapping[str, str] = given if isinstance(given, Mapping) else {"default": str(given)}
        self.tells_date = any(_CLOCK.search(each) for each in self._named.values())
        self._takes_system = True
        self._in_parts = self._takes_parts_only()
        self._takes_system = any(self._tells(_SAID, [_SYSTEM, _QUESTION], "argument", tools) for tools in _WITH_OR_NOT)
        self.tools: ToolsPlace = next((told for told in ("argument", "system") if self._tells_tools(told)), "nowhere")

    def text(self, request: Request) -> str:
        """Write `request`, with its tools where the template tells them. Raises CaseRefused where it cannot."""
        messages = with_names([normalise_message(message) for message in request.messages])
        try:
            return self._written(messages, self.tools, request)
        except CaseRefused:
            for change in (merge_user_messages, with_short_ids, with_arguments_as_text):
                with suppress(CaseRefused):
                    changed = change(messages)
                    return self._written(changed, self.tools, request)
            raise

    def _takes_parts_only(self) -> bool:
        """Whether texts must be lists of parts, as some want that know of images. Some tell nothing without tools."""
        failures = []
        for self._in_parts, tools in product((False, True), _WITH_OR_NOT):
            try:
                if _ASKED in self._written([_QUESTION], "argument", Request((), tools)):
                    return self._in_parts
                failures.append("the chat template leaves out what the user says")
            except CaseRefused as error:
                failures.append(str(error))
        raise ModelUnavailable(f"no request can be told: {failures[0]}")

    def _tells_tools(self, told: ToolsPlace) -> bool:
        """Whether they are told beside a system prompt, and without one."""
        beside = ([_QUESTION], [_SYSTEM, _QUESTION])
        return all(self._tells(_PROBE.name, messages, told, (_PROBE,)) for messages in beside)

    def _tells(self, word: str, messages: Sequence[Message], told: ToolsPlace, tools: tuple[Tool, ...]) -> bool:
        try:
            return word in self._written(messages, told, Request((), tools))
        except CaseRefused:
            return False

    def _written(self, messages: Sequence[Message], told: ToolsPlace, request: Request) -> str:
        tools = [function_spec(tool) for tool in request.tools]
        if not self._takes_system:
            messages = fold_system_messages(messages)
        if tools and told == "system":
            messages = with_tools(messages, tools)
        if self._in_parts:
            messages = with_text_parts(messages)
        native = [{"type": "function", "function": tool} for tool in tools] if told == "argument" else []
        try:
            text = self._tokenizer.apply_chat_template(
                messages,
                tools=native or None,
                chat_template=_with_time(self._chosen(bool(tools)), request.now or _NO_CLOCK),
                tokenize=False,
                add_generation_prompt=True,
                **_options(request),
            )
        except Exception as error:  # whatever a stranger's program may raise
            raise CaseRefused(f"the chat template cannot tell this conversation: {_line(error)}") from None
        return str(text)

    def _chosen(self, tools: bool) -> str:
        """That of several templates which the Hugging Face hub's habits of naming them suggest."""
        wanted = "tool_use" if tools else "default"
        return next(self._named[name] for name in (wanted, "default", *self._named) if name in self._named)


def read_template(file: str, root: Path) -> str:
    """The template that a setting names, seen from `root`. Raises ModelUnavailable for what cannot be read."""
    try:
        return (root / file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"`template` must be a file in UTF-8: {_line(error)}") from None


def _options(request: Request) -> dict[str, Json]:
    """What a case or entry says to the template, such as `enable_thinking`; never what is ours to say."""
    options = request.settings.get("chat_template_kwargs")
    ours = {"conversation", "tools", "chat_template", "tokenize", "add_generation_prompt"}
    return {name: value for name, value in options.items() if name not in ours} if isinstance(options, Mapping) else {}


def _with_time(template: str, now: datetime) -> str:
    """The template with the time of `now` in the places where it asks for the time."""
    return _CLOCK.sub(lambda found: json.dumps(now.strftime(found[2])), template)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
