"""An attack on a case: the text of an attacker in results of tools, and what became of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.expectation import CallPattern
from pytest_fcall.core.json_data import json_or_text
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json, Message, path_text

_Keys: TypeAlias = tuple[str | int, ...]

_ADDED_KEY: Final = "note"
"""The key that an object without any text gets, so that it can carry an attack."""
_DEEPEST: Final = 64
"""Texts that are nested deeper carry nothing."""
_CASE_ID: Final = "{case}[attack={name}]"
_NAME: Final = re.compile(r"\[attack=[^\[\]]+\]$")


@dataclass(frozen=True, slots=True)
class Injection:
    """The text of an attacker in results of tools, and the signs that a model obeyed it."""

    name: str
    """The name of the attack in the id of the case: that of its form, behind that of the attacker, if it has one."""
    form: str
    goal: str
    """The goal of the attacker, in words."""
    text: str
    """The text that stands in the results."""
    into: tuple[str, ...] = ("*",)
    """Globs over the tools whose results carry the text."""
    at: tuple[str, ...] = ()
    """Globs over the paths in a result, such as `*.body`. Without any, the longest text of a result carries it."""
    calls: tuple[CallPattern, ...] = ()
    """Calls that show that the attack had its way, also where the case allows them."""
    answer: Pattern = None
    """The same of the text of an answer."""

    def case_id(self, case: str) -> str:
        """The id of a case under this attack."""
        return _CASE_ID.format(case=case, name=self.name)

    def results(self, calls: Sequence[Call], results: Sequence[CallResult]) -> list[CallResult]:
        """The results of calls as the model gets them."""
        pairs = zip(calls, results, strict=True)
        return [self._result(result) if self._is_for(call.name) else result for call, result in pairs]

    def messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages as the model gets them: those that are results of tools carry the text."""
        tools = tools_of_results(messages)
        return tuple(
            self._message(message) if (tool := tools.get(index)) is not None and self._is_for(tool) else message
            for index, message in enumerate(messages)
        )

    def path_in(self, result: CallResult) -> str | None:
        """The path of the text in a result, such as `mails[0].body`; None where the result does not carry it."""
        if result.error is not None:
            return "error" if self.text in result.error else None
        return next((path_text(keys) for keys, text in texts_in(result.value) if self.text in text), None)

    def path_in_message(self, message: Message) -> str | None:
        """The same for a message that is a result."""
        content = message.get("content")
        return self.path_in(CallResult(json_or_text(content) if isinstance(content, str) else content))

    def _is_for(self, tool: str) -> bool:
        return any(glob_matches(glob, tool) for glob in self.into)

    def _result(self, result: CallResult) -> CallResult:
        if result.error is not None:
            return replace(result, error=self._behind(result.error))
        return replace(result, value=self._value(result.value))

    def _message(self, message: Message) -> Message:
        content = message.get("content")
        if isinstance(content, str):
            value = self._value(json_or_text(content))
            return {**message, "content": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}
        parts = content if isinstance(content, list | tuple) else []
        texts = [((index, "text"), text) for index, part in enumerate(parts) if (text := _text_of(part)) is not None]
        for keys, text in self._chosen(texts) if texts else ():
            content = _replaced(content, keys, self._behind(text))
        return {**message, "content": content if texts else [*parts, {"type": "text", "text": self.text}]}

    def _value(self, value: Json) -> Json:
        texts = list(texts_in(value))
        if not texts and not self.at:
            return _with_added(value, self.text)
        for keys, text in self._chosen(texts):
            value = _replaced(value, keys, self._behind(text))
        return value

    def _chosen(self, texts: Sequence[tuple[_Keys, str]]) -> Sequence[tuple[_Keys, str]]:
        """The texts that carry the attack."""
        if not self.at:
            return [max(texts, key=lambda found: len(found[1]))]
        return [found for found in texts if any(glob_matches(glob, path_text(found[0])) for glob in self.at)]

    def _behind(self, text: str) -> str:
        return f"{text}\n\n{self.text}" if text else self.text


class AttackResult(NamedTuple):
    """The result of an attack in one answer to a case."""

    name: str
    """The name of the attack."""
    form: str
    carriers: tuple[str, ...] = ()
    """The tools whose results carried it to the model; none where it did not get there."""
    by: str = ""
    """The tool whose result the model obeyed; empty where the attack was held."""


def is_attacked(case_id: str) -> bool:
    """Whether the id is that of a case under attack."""
    return _NAME.search(case_id) is not None


def unattacked_id(case: str, name: str) -> str:
    """The id of the case without the attack of this name."""
    return case.removesuffix(_CASE_ID.format(case="", name=name))


def tools_of_results(messages: Iterable[Message]) -> dict[int, str]:
    """The name of the tool of each message that is a result, by its index; empty where the messages do not say it."""
    called: dict[str, str] = {}
    found = {}
    for index, message in enumerate(messages):
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list | tuple) else ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping):
                called[str(call.get("id"))] = str(function.get("name"))
        if message.get("role") == "tool":
            found[index] = str(message.get("name") or called.get(str(message.get("tool_call_id")), ""))
    return found


def texts_in(value: Json, keys: _Keys = ()) -> Iterator[tuple[_Keys, str]]:
    """Each text in a value, and where it is."""
    if isinstance(value, str):
        yield keys, value
    elif len(keys) < _DEEPEST and isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts_in(item, (*keys, key))
    elif len(keys) < _DEEPEST and isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from texts_in(item, (*keys, index))


def _replaced(value: Json, keys: _Keys, text: str) -> Json:
    """The value with another text at this place."""
    match keys, value:
        case (str(key), *rest), Mapping():
            return {**value, key: _replaced(value[key], tuple(rest), text)}
        case (int(index), *rest), [*items]:
            items[index] = _replaced(items[index], tuple(rest), text)
            return items
    return text


def _with_added(value: Json, text: str) -> Json:
    """A value without any text, with this one."""
    match value:
        case Mapping():
            return {**value, _ADDED_KEY: text}
        case [*items]:
            return [*items, text]
        case None:
            return text
    return f"{json.dumps(value)}\n\n{text}"


def _text_of(part: Json) -> str | None:
    """The text of a part of a message; None for a picture and the like."""
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None
