"""Bodies that name each parameter in a tag and write its value as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from pytest_fcall.core.call import Call
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.gathering import Read
from pytest_fcall.decoding.tagged.family import Attempt
from pytest_fcall.decoding.text_values import Untyped, Value, schemas_of, typed
from pytest_fcall.decoding.unreadable import Unreadable
from pytest_fcall.decoding.wording import shortened, stand_twice


@dataclass(frozen=True, slots=True)
class Markup:
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
    untyped: Untyped = "text"

    quotes = False

    def name(self, text: str) -> str | None:
        """Find the name."""
        found = re.compile(self.head).match(text)
        return found["name"] if found else None

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:
        """Give the one call."""
        yield partial(self._call, text, tools)

    def _call(self, text: str, tools: Mapping[str, Tool]) -> Read:
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
        return Call(name, arguments), [*stand_twice("parameter", twice), *notes]

    def _value(self, text: str, as_string: str | None, schema: Mapping[str, Json] | None) -> Value:
        match as_string:
            case "true":
                return text, ()
            case "false":
                return typed(text, None, "json")
            case _:
                return typed(text, schema, self.untyped)

    def _check_rest(self, rest: str, name: str) -> None:
        if rest == self.tail:
            return
        if rest.startswith(self.opening):
            raise Unreadable(f"a parameter of {shortened(name)} is not closed: {shortened(rest, 40)}")
        if not rest:
            raise Unreadable(f"{shortened(name)} is not closed by `{self.tail}`")
        raise Unreadable(f"{shortened(name)} holds more than parameters: {shortened(rest, 40)}")
