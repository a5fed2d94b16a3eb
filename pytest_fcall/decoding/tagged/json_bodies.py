"""Bodies that are JSON, or a name and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from pytest_fcall.core.call import Call
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.arguments import from_text
from pytest_fcall.decoding.gathering import Read
from pytest_fcall.decoding.json_shapes import read_call
from pytest_fcall.decoding.strict_json import NotJson, parse
from pytest_fcall.decoding.tagged.family import Attempt, refusal
from pytest_fcall.decoding.tagged.json_span import json_end
from pytest_fcall.decoding.wording import shortened

_BETWEEN = re.compile(r"\s*+(?:;\s*+|(?=\{))")
_NAME = re.compile(r'"name"\s*+:\s*+"([^"\\]{1,200})"')


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
        found = _NAME.search(text)
        return found[1] if found else None

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:  # noqa: ARG002  JSON needs no types
        """Give the calls; in a list, each by itself."""
        for part in self._parts(text):
            try:
                value, notes = parse(part)
            except NotJson as error:
                yield refusal(f"it is not JSON: {error}")
                continue
            for item in value if self.lists and isinstance(value, list) else [value]:
                yield partial(self._call, item, notes)
                notes = ()

    def _parts(self, text: str) -> Iterator[str]:
        at = 0
        while self.several and (end := json_end(text, at)) and (found := _BETWEEN.match(text, end)):
            yield text[at:end]
            if (at := found.end()) == len(text):
                return
        yield text[at:]

    def _call(self, item: Json, notes: tuple[str, ...]) -> Read:
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

    def _call(self, text: str) -> Read:
        head = re.compile(self.head).match(text)
        if head is None:
            raise NotJson(f"it does not begin with the name of a tool, but with {shortened(text.strip(), 30)}")
        try:
            value, notes = parse(text[head.end() :].strip().removesuffix(self.tail))
            return Call(head["name"], from_text(value), head.groupdict().get("id")), notes
        except NotJson as error:
            raise NotJson(f"the arguments of {shortened(head['name'])} cannot be read: {error}") from None
