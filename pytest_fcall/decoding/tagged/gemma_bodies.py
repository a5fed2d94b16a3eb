"""Gemma's notation: JSON with bare keys, and with strings between tokens instead of quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from pytest_fcall.core.call import Call
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding.arguments import from_text
from pytest_fcall.decoding.gathering import Read
from pytest_fcall.decoding.strict_json import NotJson, parse
from pytest_fcall.decoding.tagged.family import Attempt
from pytest_fcall.decoding.wording import shortened

_HEAD = re.compile(r"\s*+call:(?P<name>[^\s{}]++)\s*+")


@dataclass(frozen=True, slots=True)
class GemmaCall:
    """`call:name{key:value}`. A value between `quote` tokens is a string, whatever it looks like."""

    quote: str

    quotes = False

    def name(self, text: str) -> str | None:
        """Find the name."""
        found = _HEAD.match(text)
        return found["name"] if found else None

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:  # noqa: ARG002  values show their types
        """Give the one call."""
        yield partial(self._call, text)

    def _call(self, text: str) -> Read:
        head = _HEAD.match(text)
        if head is None:
            raise NotJson(f"it does not begin with `call:` and the name of a tool, but with {shortened(text, 30)}")
        try:
            value, notes = parse(self._as_json(text[head.end() :]))
            return Call(head["name"], from_text(value)), notes
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
