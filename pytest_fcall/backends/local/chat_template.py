"""Chat templates: what a template supports, and the forms of messages and tools that templates expect."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from pytest_fcall.backends.local.libraries import one_line
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message

ToolsPlace: TypeAlias = Literal["argument", "system", "nowhere"]

_PROBE = Tool("fcall_probe", "fcall_probe", {"type": "object", "properties": {"x": {"type": "string"}}})
_QUESTION_WORD, _SYSTEM_WORD = "fcall_question", "fcall_system"
_QUESTION: Message = {"role": "user", "content": _QUESTION_WORD}
_SYSTEM: Message = {"role": "system", "content": _SYSTEM_WORD}
_WITHOUT_AND_WITH_TOOLS: Sequence[tuple[Tool, ...]] = ((), (_PROBE,))
_CLOCK = re.compile(r"""strftime_now\(\s*(["'])([^"'\n]*)\1\s*\)""")
# A request must have the same prompt on any day. Llama's templates use this date where they have no other.
_DEFAULT_NOW = datetime(2024, 7, 26, tzinfo=UTC)
_OWN_OPTIONS = frozenset({"conversation", "tools", "chat_template", "tokenize", "add_generation_prompt"})


class Tokenizer(Protocol):
    """The part of a transformers tokenizer that is used here."""

    @property
    def chat_template(self) -> Any:
        """The template, or several by name, or None."""
        ...

    @property
    def bos_token(self) -> Any:
        """The token at the start of a text, or None."""
        ...

    def apply_chat_template(self, conversation: Any, /, **options: Any) -> Any:
        """Write a conversation."""
        ...


class ChatTemplate:
    """A chat template, and what it supports, which is found out once by writing probes.

    `tools_place` is where it looks for tools: in the argument of that name, in the system message (as Phi does), or
    nowhere. `shows_date` says whether it inserts the date, which is that of the case's clock. Raises ModelUnavailable
    for a template that fails on a single question, or leaves it out.
    """

    def __init__(self, tokenizer: Tokenizer, template: str | None = None) -> None:
        templates = template if template is not None else tokenizer.chat_template
        self._tokenizer = tokenizer
        self._templates: Mapping[str, str] = (
            templates if isinstance(templates, Mapping) else {"default": str(templates)}
        )
        self.shows_date = any(_CLOCK.search(each) for each in self._templates.values())
        self._takes_system = True
        self._in_parts = self._needs_parts()
        self._takes_system = any(
            self._shows(_SYSTEM_WORD, [_SYSTEM, _QUESTION], "argument", tools) for tools in _WITHOUT_AND_WITH_TOOLS
        )
        places: tuple[ToolsPlace, ...] = ("argument", "system")
        self.tools_place: ToolsPlace = next((place for place in places if self._shows_tools(place)), "nowhere")

    def text(self, request: Request) -> str:
        """Write `request`, with its tools if the template shows them. Raises CaseRefused where the template fails."""
        messages = with_names([normalise_message(message) for message in request.messages])
        try:
            return self._written(messages, self.tools_place, request)
        except CaseRefused:
            for change in (merge_user_messages, with_short_ids, with_arguments_as_text):
                with suppress(CaseRefused):
                    return self._written(change(messages), self.tools_place, request)
            raise

    def _needs_parts(self) -> bool:
        """Whether texts must be lists of parts, as in some templates for images. Some templates need tools."""
        failures = []
        for in_parts, tools in product((False, True), _WITHOUT_AND_WITH_TOOLS):
            self._in_parts = in_parts
            try:
                if _QUESTION_WORD in self._written([_QUESTION], "argument", Request((), tools)):
                    return in_parts
                failures.append("the chat template leaves out the user's message")
            except CaseRefused as error:
                failures.append(str(error))
        raise ModelUnavailable(f"the chat template cannot be used: {failures[0]}")

    def _shows_tools(self, place: ToolsPlace) -> bool:
        """Whether tools in this place are shown, with a system prompt and without one."""
        conversations = ([_QUESTION], [_SYSTEM, _QUESTION])
        return all(self._shows(_PROBE.name, messages, place, (_PROBE,)) for messages in conversations)

    def _shows(self, word: str, messages: Sequence[Message], place: ToolsPlace, tools: tuple[Tool, ...]) -> bool:
        try:
            return word in self._written(messages, place, Request((), tools))
        except CaseRefused:
            return False

    def _written(self, messages: Sequence[Message], place: ToolsPlace, request: Request) -> str:
        tools = functions_of(request)
        if not self._takes_system:
            messages = fold_system_messages(messages)
        if tools and place == "system":
            messages = with_tools(messages, tools)
        if self._in_parts:
            messages = with_text_parts(messages)
        argument = [{"type": "function", "function": tool} for tool in tools] if place == "argument" else []
        try:
            text = self._tokenizer.apply_chat_template(
                messages,
                tools=argument or None,
                chat_template=_with_time(self._template(has_tools=bool(tools)), request.now or _DEFAULT_NOW),
                tokenize=False,
                add_generation_prompt=True,
                **_options(request),
            )
        except Exception as error:  # a template is a program, which may raise any error
            raise CaseRefused(f"the chat template fails on this conversation: {_reason(error)}") from None
        return str(text)

    def _template(self, *, has_tools: bool) -> str:
        """The template for requests with or without tools, by the names that are usual at the Hugging Face hub."""
        name = "tool_use" if has_tools else "default"
        return next(self._templates[key] for key in (name, "default", *self._templates) if key in self._templates)


def read_template(file: str, root: Path) -> str:
    """The template in a file, whose path is relative to `root`. Raises ModelUnavailable if it cannot be read."""
    try:
        return (root / file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"`template` must be a file in UTF-8: {_reason(error)}") from None


def _options(request: Request) -> dict[str, Json]:
    """The options of a case or entry for the template, such as `enable_thinking`, except those that we set."""
    options = request.settings.get("chat_template_kwargs")
    if not isinstance(options, Mapping):
        return {}
    return {name: value for name, value in options.items() if name not in _OWN_OPTIONS}


def _with_time(template: str, now: datetime) -> str:
    """The template with the time of `now` instead of calls of the clock."""
    return _CLOCK.sub(lambda match: json.dumps(now.strftime(match[2])), template)


def _reason(error: Exception) -> str:
    return one_line(error) or type(error).__name__


def message_text(message: Message) -> str:
    """The text of a message, its parts joined. Raises CaseRefused for other content, such as an image."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list | tuple):
        return "".join(map(_part_text, content))
    raise CaseRefused("`content` must be a string or a list of parts")


def _part_text(part: Json) -> str:
    if isinstance(part, Mapping) and part.get("type") in ("text", "input_text") and isinstance(part.get("text"), str):
        return str(part["text"])
    type_ = part.get("type") if isinstance(part, Mapping) else None
    raise CaseRefused(f"local models read text only, and a message has a part of type {type_!r:.40}")


def normalise_message(message: Message) -> Message:
    """The message as templates expect it: one text, calls with arguments as mappings, current names of roles."""
    role = {"developer": "system", "function": "tool"}.get(str(message.get("role")), message.get("role"))
    return _with_calls({**message, "role": role, "content": message_text(message)}, _parsed)


def with_names(messages: Sequence[Message]) -> list[Message]:
    """Add the names of functions to their results: some templates use them instead of ids."""
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
    """Replace the ids of calls by nine digits each: Mistral's templates accept only ids of nine characters."""
    ids: dict[str, str] = {}

    def short(id_: Json) -> str:
        return ids.setdefault(str(id_), f"{len(ids):09}")

    def renamed(message: Message) -> Message:
        calls = message.get("tool_calls")
        if isinstance(calls, list | tuple):
            renamed_calls = [{**call, "id": short(call.get("id"))} for call in calls if isinstance(call, Mapping)]
            return {**message, "tool_calls": renamed_calls}
        return {**message, "tool_call_id": short(message["tool_call_id"])} if "tool_call_id" in message else message

    return [renamed(message) for message in messages]


def with_arguments_as_text(messages: Sequence[Message]) -> Sequence[Message]:
    """Write arguments as text, which some templates expect instead of mappings."""

    def text(arguments: Json) -> Json:
        return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

    return [_with_calls(message, text) for message in messages]


def merge_user_messages(messages: Sequence[Message]) -> Sequence[Message]:
    """Merge consecutive messages of the user, for templates that require user and assistant to alternate."""
    turns: list[Message] = []
    for message in messages:
        if turns and turns[-1].get("role") == message.get("role") == "user":
            turns[-1] = {**turns[-1], "content": f"{turns[-1]['content']}\n\n{message['content']}"}
        else:
            turns.append(message)
    return turns


def with_text_parts(messages: Sequence[Message]) -> Sequence[Message]:
    """Write each text as a list of one part."""
    return [{**message, "content": [{"type": "text", "text": message["content"]}]} for message in messages]


def _with_calls(message: Message, change: Callable[[Json], Json]) -> Message:
    calls = message.get("tool_calls")
    if not isinstance(calls, list | tuple):
        return message
    return {**message, "tool_calls": [_with_arguments(call, change) for call in calls if isinstance(call, Mapping)]}


def _with_arguments(call: Mapping[str, Json], change: Callable[[Json], Json]) -> Json:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return call
    return {"type": "function", **call, "function": {**function, "arguments": change(function.get("arguments"))}}


def _parsed(arguments: Json) -> Json:
    if not isinstance(arguments, str):
        return arguments
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments


def fold_system_messages(messages: Sequence[Message]) -> Sequence[Message]:
    """Put system messages before the first question, for templates that take no system message."""
    system = [str(message["content"]) for message in messages if message.get("role") == "system"]
    rest = [message for message in messages if message.get("role") != "system"]
    if not system:
        return rest
    if not rest or rest[0].get("role") != "user":
        return [{"role": "user", "content": "\n\n".join(system)}, *rest]
    return [{**rest[0], "content": "\n\n".join([*system, str(rest[0]["content"])])}, *rest[1:]]


def with_tools(messages: Sequence[Message], tools: Sequence[Json]) -> Sequence[Message]:
    """Add the tools as JSON to the system message, under the key that templates like Phi's look for."""
    text = json.dumps(tools, ensure_ascii=False)
    if messages and messages[0].get("role") == "system":
        return [{**messages[0], "tools": text}, *messages[1:]]
    return [{"role": "system", "content": "", "tools": text}, *messages]


def functions_of(request: Request) -> list[Mapping[str, Json]]:
    """The tools as models get them: in the words of a benchmark, else with their own names and schemas."""
    if (wording := request.wording) is not None:
        return [wording.function(tool, "local") for tool in request.tools]
    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in request.tools
    ]
