"""What may be set for an app behind an address."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_fcall.backends.http.shapes import is_expression, is_shape
from pytest_fcall.backends.options import Option, number, table
from pytest_fcall.backends.serving.command import words_of
from pytest_fcall.core import Json

TIMEOUT = 300.0


def _is_command(value: Json) -> bool:
    try:
        return isinstance(value, str) and bool(words_of(value))
    except ValueError:
        return False


def _flag(written: str) -> Json:
    return {"true": True, "false": False}.get(written)


def _is_path(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("/") and value.isascii() and value.isprintable()


OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "request": Option('names with JMESPath expressions, such as {question = "prompt"}', is_shape),
        "response": Option("a JMESPath expression, such as answer.message", is_expression),
        "headers": table("names and texts in one line of ASCII each", of_texts=True, shapes=False),
        "timeout": number("a number of seconds above zero", 0, above=True, shapes=False),
        "forwards": Option("true or false", lambda value: isinstance(value, bool), _flag, shapes=False),
        "serve": Option("a command such as `node server.js`", _is_command, shapes=False),
        "serve_timeout": number("a number of seconds above zero", 0, above=True, shapes=False),
        "health": Option("a path such as /health", _is_path, shapes=False),
        "environment": table("names and texts in one line of ASCII each", of_texts=True, shapes=False),
    }
)
