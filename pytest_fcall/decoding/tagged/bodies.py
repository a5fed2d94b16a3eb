"""Bodies of calls between tokens: JSON, a name and JSON, Gemma's notation, parameters in tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.argument_values import ReadValue, UntypedReading, schemas_of, value_by_schema
from pytest_fcall.decoding.json_shapes import read_call
from pytest_fcall.decoding.model_text import ReadCall
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_value, parse_json
from pytest_fcall.decoding.tagged.family import Attempt, failed_attempt, json_end
from pytest_fcall.decoding.unreadable_text import Unreadable, quote_short, repeated_key_notes

_BETWEEN_OBJECTS = re.compile(r"\s*+(?:;\s*+|(?=\{))")
_JSON_NAME = re.compile(r'"name"\s*+:\s*+"([^"\\]{1,200})"')

ReadArguments: TypeAlias = "tuple[Mapping[str, Json], Sequence[str]]"
"""The arguments of a call, and notes on what was read leniently."""


@dataclass(frozen=True, slots=True)
class JsonCalls:
    """One or several objects with `name` and arguments."""

    arguments: tuple[str, ...] = ("arguments",)
    """The keys under which the family's servers look for arguments."""
    lists: bool = False
    """Whether a list of such objects is read, too."""
    several: bool = False
    """Whether objects may follow one another, separated by white space or a semicolon."""

    is_json = True

    def called_name(self, text: str) -> str | None:
        """Give the first name."""
        name = _JSON_NAME.search(text)
        return name[1] if name else None

    def read(self, text: str, _tools: Mapping[str, Tool]) -> Iterator[Attempt]:
        """Give the attempted calls, each item of a list as one."""
        for part in self._parts(text):
            try:
                value, notes = parse_json(part)
            except NotJson as error:
                yield failed_attempt(f"it is not JSON: {error}")
                continue
            for item in value if self.lists and isinstance(value, list) else [value]:
                yield partial(self._call, item, notes)
                notes = ()

    def _parts(self, text: str) -> Iterator[str]:
        at = 0
        while self.several and (end := json_end(text, at)) and (between := _BETWEEN_OBJECTS.match(text, end)):
            yield text[at:end]
            if (at := between.end()) == len(text):
                return
        yield text[at:]

    def _call(self, item: Json, notes: tuple[str, ...]) -> ReadCall:
        if isinstance(item, Mapping):
            if not isinstance(name := item.get("name"), str) or not name:
                raise NotJson("it has no `name`")
            if not any(key in item for key in self.arguments):
                raise NotJson(f"{quote_short(name)} has no `{self.arguments[0]}`")
        call, call_notes = read_call(item)
        return call, (*notes, *call_notes)


@dataclass(frozen=True, slots=True)
class NamedJson:
    """One call: the tool's name, and an object of arguments after it."""

    head: str
    """A pattern of the text before the arguments, with the groups `name` and perhaps `id`."""
    tail: str = ""
    """The text after the arguments."""

    is_json = True
    beginning = "the name of a tool"

    def called_name(self, text: str) -> str | None:
        """Give the name."""
        head = re.match(self.head, text)
        return head["name"] if head else None

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:
        """Give the one call."""
        yield partial(self._call, text, tools)

    def _call(self, text: str, tools: Mapping[str, Tool]) -> ReadCall:
        head = re.match(self.head, text)
        if head is None:
            raise Unreadable(f"it does not begin with {self.beginning}, but with {quote_short(text.strip(), 30)}")
        name, rest = head["name"], text[head.end() :]
        arguments, notes = self._arguments(name, rest, tools.get(name))
        return Call(name, arguments, head.groupdict().get("id")), notes

    def _arguments(self, name: str, text: str, _tool: Tool | None) -> ReadArguments:
        try:
            value, notes = parse_json(self._as_json(text))
            return arguments_from_value(value), notes
        except NotJson as error:
            raise NotJson(f"the arguments of {quote_short(name)} cannot be read: {error}") from None

    def _as_json(self, text: str) -> str:
        return text.strip().removesuffix(self.tail)


@dataclass(frozen=True, slots=True)
class NamedJsonTurns(NamedJson):
    """Such calls, each as a turn of its own."""

    turn: str = "<|assistant|>"
    """The token between them."""

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:
        """Give the call of each turn."""
        for part in text.split(self.turn):
            yield partial(self._call, part, tools)


@dataclass(frozen=True, slots=True)
class GemmaCall(NamedJson):
    """`call:name{key:value}`. A value between `quote` tokens is a string, whatever it contains."""

    head: str = r"\s*+call:(?P<name>[^\s{}]++)\s*+"
    quote: str = "<escape>"

    is_json = False
    beginning = "`call:` and the name of a tool"

    def _as_json(self, text: str) -> str:
        quote = re.escape(self.quote)
        token = rf'(?s:{quote}(?P<string>.*?){quote})|(?P<word>[^\s{{}}\[\],:<"]++)(?P<colon>\s*+:)?|(?P<mark>")'
        return re.sub(token, self._json_token, text)

    def _json_token(self, token: re.Match[str]) -> str:
        if token["mark"]:
            raise NotJson(f"they contain a quotation mark; strings are written between `{self.quote}`")
        if (string := token["string"]) is not None:
            return json.dumps(string)
        if token["colon"]:
            return f"{json.dumps(token['word'])}:"
        return "null" if token["word"] == "None" else token["word"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkupCall(NamedJson):
    """One call: the tool's name, then parameters one by one."""

    parameter: str
    """A pattern of one parameter, which must not read a closing as part of a value.

    It has the groups `key`, `value` and perhaps `string`: the model's own word ("true", "false") for whether the value
    is text or JSON.
    """
    opening: str
    """The beginning of each parameter: a value that contains it is not closed."""
    untyped: UntypedReading = "text"

    is_json = False

    def _arguments(self, name: str, text: str, tool: Tool | None) -> ReadArguments:
        schemas = schemas_of(tool)
        arguments: dict[str, Json] = {}
        repeated: list[str] = []
        notes: list[str] = []
        at = 0
        pattern = re.compile(self.parameter, re.DOTALL)
        while parameter := pattern.match(text, at):
            key, value = parameter["key"].strip(), parameter["value"]
            if self.opening in value:
                raise Unreadable(f"the parameter {quote_short(key)} of {quote_short(name)} is not closed")
            if key in arguments:
                repeated.append(key)
            arguments[key], value_notes = self._value(value, parameter.groupdict().get("string"), schemas.get(key))
            notes.extend(value_notes)
            at = parameter.end()
        self._check_rest(text[at:].strip(), name)
        return arguments, [*repeated_key_notes("parameter", repeated), *notes]

    def _value(self, text: str, is_string: str | None, schema: Mapping[str, Json] | None) -> ReadValue:
        match is_string:
            case "true":
                return text, ()
            case "false":
                return value_by_schema(text, None, "json")
            case _:
                return value_by_schema(text, schema, self.untyped)

    def _check_rest(self, rest: str, name: str) -> None:
        if rest == self.tail:
            return
        if rest.startswith(self.opening):
            raise Unreadable(f"a parameter of {quote_short(name)} is not closed: {quote_short(rest, 40)}")
        if not rest:
            raise Unreadable(f"{quote_short(name)} is not closed by `{self.tail}`")
        raise Unreadable(f"{quote_short(name)} contains more than parameters: {quote_short(rest, 40)}")
