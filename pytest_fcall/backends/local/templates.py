"""Chat templates: programs that come with a model, and are wrong in many ways."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from pytest_fcall.backends.local.messages import (
    fit,
    folded,
    function,
    in_parts,
    merged,
    with_arguments_as_text,
    with_names,
    with_short_ids,
    with_tools,
)
from pytest_fcall.core import CaseRefused, Json, Message, ModelUnavailable, Request, Tool

Told: TypeAlias = Literal["argument", "system", "nowhere"]

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
        self.tools: Told = next((told for told in ("argument", "system") if self._tells_tools(told)), "nowhere")

    def text(self, request: Request) -> str:
        """Write `request`, with its tools where the template tells them. Raises CaseRefused where it cannot."""
        messages = with_names([fit(message) for message in request.messages])
        try:
            return self._written(messages, self.tools, request)
        except CaseRefused:
            for change in (merged, with_short_ids, with_arguments_as_text):
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

    def _tells_tools(self, told: Told) -> bool:
        """Whether they are told beside a system prompt, and without one."""
        beside = ([_QUESTION], [_SYSTEM, _QUESTION])
        return all(self._tells(_PROBE.name, messages, told, (_PROBE,)) for messages in beside)

    def _tells(self, word: str, messages: Sequence[Message], told: Told, tools: tuple[Tool, ...]) -> bool:
        try:
            return word in self._written(messages, told, Request((), tools))
        except CaseRefused:
            return False

    def _written(self, messages: Sequence[Message], told: Told, request: Request) -> str:
        tools = [function(tool) for tool in request.tools]
        if not self._takes_system:
            messages = folded(messages)
        if tools and told == "system":
            messages = with_tools(messages, tools)
        if self._in_parts:
            messages = in_parts(messages)
        native = [{"type": "function", "function": tool} for tool in tools] if told == "argument" else []
        try:
            text = self._tokenizer.apply_chat_template(
                messages,
                tools=native or None,
                chat_template=_at(self._chosen(bool(tools)), request.now or _NO_CLOCK),
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


def _at(template: str, now: datetime) -> str:
    """The template with the time of `now` in the places where it asks for the time."""
    return _CLOCK.sub(lambda found: json.dumps(now.strftime(found[2])), template)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
