"""JSON and YAML from traces: parsed safely, and read without trust in its types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from typing import Final

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.backends.openai.answer_fields import items, mapping, text
from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.core import json_data
from pytest_fcall.core.values import Json
from pytest_fcall.traces.record import UnreadableTrace, UnusableRecord

__all__ = [
    "DEEPEST",
    "MOST_BYTES",
    "PlacedMapping",
    "check_depth",
    "document_text",
    "document_value",
    "first_field",
    "first_text",
    "items",
    "json_documents",
    "mapping",
    "parse_json_text",
    "read_json",
    "text",
]

DEEPEST: Final = 80
"""The deepest nesting of a value that a case file can hold."""
MOST_BYTES: Final = 64 * 2**20
"""The largest file that is read as one document."""

_MOST_FAULTS: Final = 100
"""The most places in a text that may be no JSON: each of them may cost as much as all the rest."""

_DECODER: Final = JSONDecoder()
_DOCUMENT_START = re.compile(r"\S")
_SURROGATE = re.compile("[\ud800-\udfff]")


class PlacedMapping(dict[str, Json]):
    """A mapping in a YAML document."""

    place = ""
    """The file and the line."""


def read_json(line: str) -> Json:
    """The value of JSON text. NaN becomes null, lone surrogates become U+FFFD. Raises ValueError."""
    value = json_data.read_json(line, lambda _: None)
    if "\\ud" not in line and "\\uD" not in line:
        return value
    try:
        return _without_surrogates(value)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def _without_surrogates(value: Json) -> Json:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_SURROGATE.sub("\ufffd", key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value


def parse_json_text(value: Json) -> Json:
    """The value of a string that holds JSON, as exports often do; any other value unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def first_field(data: Mapping[str, Json], *names: str) -> Json:
    """The first of these fields that is not empty; None without one."""
    return next((data[name] for name in names if data.get(name) not in (None, "", [], {})), None)


def first_text(data: Mapping[str, Json], *names: str) -> str:
    """The first of these fields that is not empty, where it is a string; else an empty string."""
    return text(first_field(data, *names)) or ""


def check_depth(value: Json) -> None:
    """Raise UnusableRecord for a value that is nested too deeply for a case file."""
    level: list[Json] = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _children(each)]
        if not level:
            return
    raise UnusableRecord("a value is nested too deeply")


def _children(value: Json) -> list[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def document_value(content: bytes, name: str) -> Json:
    """The value of a JSON or YAML file called `name`. Raises UnreadableTrace."""
    written = document_text(content)
    if written.lstrip().startswith(("{", "[")):
        try:
            return read_json(written)
        except ValueError as error:
            raise UnreadableTrace(str(error)) from None
    faults = Faults(SourceFile(name, written))
    try:
        root = read_yaml(faults.source)
        value = None if root is None else node_values.value(root, faults)
    except UnreadableFile as error:
        raise UnreadableTrace(error.fault.message) from None
    if faults:
        raise UnreadableTrace(faults[0].message)
    return value if root is None else _with_places(value, root, name)


def json_documents(written: str) -> Iterator[tuple[int, Json]]:
    """The JSON objects and lists that follow each other in a text, each with the number of its first line.

    None stands for text that is no JSON: up to the next one, and the last of too many up to the end.
    """
    end, line, faults = 0, 1, 0
    while faults < _MOST_FAULTS and (found := _DOCUMENT_START.search(written, end)):
        line += written.count("\n", end, found.start())
        value, end = _json_document(written, found.start())
        yield line, value
        line += written.count("\n", found.start(), end)
        faults += value is None


def _json_document(written: str, start: int) -> tuple[Json, int]:
    """The object or list that begins here, and its end. None without one, and where the next one may begin."""
    try:
        if written[start] in "{[":
            _, end = _DECODER.raw_decode(written, start)
            return read_json(written[start:end]), end
    except (ValueError, RecursionError):
        pass
    next_one = written.find("\n{", start)
    return None, len(written) if next_one < 0 else next_one


def _with_places(value: Json, node: Node, name: str) -> Json:
    """The value of a node, whose mappings know their places. What is merged into a mapping stays as it is."""
    if isinstance(value, dict) and isinstance(node, MappingNode):
        nodes = {key.value: inner for key, inner in node.value if isinstance(key, ScalarNode)}
        placed = PlacedMapping(
            {key: _with_places(inner, nodes[key], name) if key in nodes else inner for key, inner in value.items()}
        )
        placed.place = f"{name}:{node.start_mark.line + 1}"
        return placed
    if isinstance(value, list) and isinstance(node, SequenceNode):
        return [_with_places(inner, item, name) for inner, item in zip(value, node.value, strict=True)]
    return value


def document_text(content: bytes) -> str:
    """The text of a file. Raises UnreadableTrace."""
    if len(content) > MOST_BYTES:
        raise UnreadableTrace(f"the file is larger than {MOST_BYTES // 2**20} MiB; export it as JSON Lines")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableTrace("not text in UTF-8") from None
