"""JSON and YAML from traces: parsed safely, and looked into without trust."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from pytest_fcall.backends.openai.answer_fields import items, mapping, text
from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.core import Json
from pytest_fcall.traces.record import UnreadableTrace, UnusableRecord

__all__ = ["DEEPEST", "first", "items", "mapping", "parsed", "read_json", "text"]

DEEPEST: Final = 80
"""So deep may a value be nested: a case file holds no deeper one."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json(line: str) -> Json:
    """Read JSON text; ValueError says what is wrong with it. NaN is null, broken characters are `\ufffd`."""
    try:
        value: Json = json.loads(line, parse_constant=lambda _: None)
        return _without_surrogates(value) if "\\ud" in line or "\\uD" in line else value
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg.removesuffix(' at').lower()}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:
        raise ValueError("it holds a number of thousands of digits") from None


def parsed(value: Json) -> Json:
    """The value, or what its text means where that is JSON: exports often hold JSON in texts."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def first(told: Mapping[str, Json], *names: str) -> Json:
    """The first of these fields that says anything."""
    return next((told[name] for name in names if told.get(name) not in (None, "", [], {})), None)


def check_depth(value: Json) -> None:
    """Refuse, as NotSaid, a value that no case file can hold."""
    level: list[Json] = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level if not isinstance(each, str) for inner in _children(each)]
        if not level:
            return
    raise UnusableRecord("a value in it is nested too deeply")


def _children(value: Json) -> list[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _without_surrogates(value: Json) -> Json:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_SURROGATE.sub("\ufffd", key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value


MOST_BYTES: Final = 64 * 2**20
"""Of a file that has to be read as a whole, in bytes."""


def document_value(content: bytes, name: str) -> Json:
    """The value that the content of a file called `name` is. Raises Unreadable."""
    written = document_text(content)
    if written.lstrip().startswith(("{", "[")):
        try:
            return read_json(written)
        except ValueError as error:
            raise UnreadableTrace(str(error)) from None
    return _yaml_value(written, name)


def document_text(content: bytes) -> str:
    """The text that the content of a file is. Raises Unreadable."""
    if len(content) > MOST_BYTES:
        raise UnreadableTrace(
            f"it is larger than {MOST_BYTES // 2**20} MiB and no JSON lines: export it as one record a line"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableTrace("it is no text in UTF-8") from None


def _yaml_value(written: str, name: str) -> Json:
    faults = Faults(SourceFile(name, written))
    try:
        root = read_yaml(faults.source)
        value = None if root is None else node_values.value(root, faults)
    except UnreadableFile as error:
        raise UnreadableTrace(error.fault.message) from None
    if faults:
        raise UnreadableTrace(faults[0].message)
    return value
