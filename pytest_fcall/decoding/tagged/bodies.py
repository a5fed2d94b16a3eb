"""Bodies of calls between tokens: JSON, a name and JSON, Gemma's notation, parameters in tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.call_collector import ReadCall
from pytest_fcall.decoding.json_shapes import read_call
from pytest_fcall.decoding.strict_json import NotJson, arguments_from_value, parse_json
from pytest_fcall.decoding.tagged.family import Attempt, failed_attempt, json_end
from pytest_fcall.decoding.text_values import ReadValue, UntypedReading, schemas_of, value_by_schema
from pytest_fcall.decoding.unreadable import Unreadable, repeated_key_notes, shortened

_BETWEEN_OBJECTS = re.compile(r"\s*+(?:;\s*+|(?=\{))")
_JSON_NAME = re.compile(r'"name"\s*+:\s*+"([^"\\]{1,200})"')


@dataclass(frozen=True, slots=True)
class JsonCalls:
    """An object with `name` and arguments, or several."""

    arguments: tuple[str, ...] = ("arguments",)
    """The keys that the family's servers read arguments from."""
    lists: bool = False
    """Whether a list of such objects will do, too."""
    several: bool = False
    """Whether objects may follow one another, with white space or a semicolon between."""

    quotes = True

    def name(self, text: str) -> str | None:
        """Find the name that is given first."""
        found = _JSON_NAME.search(text)
        return found[1] if found else None

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:  # noqa: ARG002  JSON needs no types
        """Give the calls; in a list, each by itself."""
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
        while self.several and (end := json_end(text, at)) and (found := _BETWEEN_OBJECTS.match(text, end)):
            yield text[at:end]
            if (at := found.end()) == len(text):
                return
        yield text[at:]

    def _call(self, item: Json, notes: tuple[str, ...]) -> ReadCall:
        if isinstance(item, Mapping):
            if not isinstance(name := item.get("name"), str) or not name:
                raise NotJson("it has no `name`")
            if not any(key in item for key in self.arguments):
                raise NotJson(f"{shortened(name)} has no `{self.arguments[0]}`")
        call, remarks = read_call(item)
        return call, (*notes, *remarks)


@dataclass(frozen=True, slots=True)
class NamedJson:
    """A name, and an object of arguments behind it."""

    head: str
    """A pattern of all that stands before the arguments, with the groups `name` and perhaps `id`."""
    tail: str = ""
    """What follows the arguments."""

    quotes = True

    def name(self, text: str) -> str | None:
        """Find the name."""
        found = re.compile(self.head).match(text)
        return found["name"] if found else None

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:  # noqa: ARG002  JSON needs no types
        """Give the one call."""
        yield partial(self._call, text)

    def _call(self, text: str) -> ReadCall:
        head = re.compile(self.head).match(text)
        if head is None:
            raise NotJson(f"it does not begin with the name of a tool, but with {shortened(text.strip(), 30)}")
        try:
            value, notes = parse_json(text[head.end() :].strip().removesuffix(self.tail))
            return Call(head["name"], arguments_from_value(value), head.groupdict().get("id")), notes
        except NotJson as error:
            raise NotJson(f"the arguments of {shortened(head['name'])} cannot be read: {error}") from None


_GEMMA_HEAD = re.compile(r"\s*+call:(?P<name>[^\s{}]++)\s*+")


@dataclass(frozen=True, slots=True)
class GemmaCall:
    """`call:name{key:value}`. A value between `quote` tokens is a string, whatever it looks like."""

    quote: str

    quotes = False

    def name(self, text: str) -> str | None:
        """Find the name."""
        found = _GEMMA_HEAD.match(text)
        return found["name"] if found else None

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:  # noqa: ARG002  values show their types
        """Give the one call."""
        yield partial(self._call, text)

    def _call(self, text: str) -> ReadCall:
        head = _GEMMA_HEAD.match(text)
        if head is None:
            raise NotJson(f"it does not begin with `call:` and the name of a tool, but with {shortened(text, 30)}")
        try:
            value, notes = parse_json(self._as_json(text[head.end() :]))
            return Call(head["name"], arguments_from_value(value)), notes
        except NotJson as error:
            raise NotJson(f"the arguments of {shortened(head['name'])} cannot be read: {error}") from None

    def _as_json(self, text: str) -> str:
        quote = re.escape(self.quote)
        token = rf'{quote}(?P<string>.*?){quote}|(?P<word>[^\s{{}}\[\],:<"]++)(?P<colon>\s*+:)?|(?P<mark>")'
        return re.compile(token, re.DOTALL).sub(self._replacement, text)

    def _replacement(self, token: re.Match[str]) -> str:
        if token["mark"]:
            raise NotJson(f"they hold a quotation mark; strings stand between `{self.quote}`")
        if (string := token["string"]) is not None:
            return json.dumps(string)
        if token["colon"]:
            return f"{json.dumps(token['word'])}:"
        return "null" if token["word"] == "None" else token["word"]


@dataclass(frozen=True, slots=True)
class MarkupCall:
    """A name, then parameters one by one.

    `parameter` has the groups `key`, `value` and perhaps `string`: the model's own word ("true", "false") on whether
    the value is text or JSON. It must not take a closing for part of a value.
    """

    head: str
    """A pattern of all before the first parameter, with the group `name`."""
    parameter: str
    opening: str
    """With what each parameter begins: a value that holds it was never closed."""
    tail: str = ""
    """What follows the last parameter."""
    untyped: UntypedReading = "text"

    quotes = False

    def name(self, text: str) -> str | None:
        """Find the name."""
        found = re.compile(self.head).match(text)
        return found["name"] if found else None

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:
        """Give the one call."""
        yield partial(self._call, text, tools)

    def _call(self, text: str, tools: Mapping[str, Tool]) -> ReadCall:
        head = re.compile(self.head).match(text)
        if head is None:
            raise Unreadable(f"it does not begin with the name of a tool, but with {shortened(text.strip(), 30)}")
        name = head["name"]
        schemas = schemas_of(tools.get(name))
        arguments: dict[str, Json] = {}
        twice: list[str] = []
        notes: list[str] = []
        at = head.end()
        pattern = re.compile(self.parameter, re.DOTALL)
        while found := pattern.match(text, at):
            key, value = found["key"].strip(), found["value"]
            if self.opening in value:
                raise Unreadable(f"the parameter {shortened(key)} of {shortened(name)} is not closed")
            if key in arguments:
                twice.append(key)
            arguments[key], remarks = self._value(value, found.groupdict().get("string"), schemas.get(key))
            notes.extend(remarks)
            at = found.end()
        self._check_rest(text[at:].strip(), name)
        return Call(name, arguments), [*repeated_key_notes("parameter", twice), *notes]

    def _value(self, text: str, as_string: str | None, schema: Mapping[str, Json] | None) -> ReadValue:
        match as_string:
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
            raise Unreadable(f"a parameter of {shortened(name)} is not closed: {shortened(rest, 40)}")
        if not rest:
            raise Unreadable(f"{shortened(name)} is not closed by `{self.tail}`")
        raise Unreadable(f"{shortened(name)} holds more than parameters: {shortened(rest, 40)}")
