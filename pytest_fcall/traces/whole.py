"""A file that is one value, in JSON or YAML."""

from __future__ import annotations

from typing import Final

from pytest_fcall.cases import UnreadableFile, fields
from pytest_fcall.cases.faults import Faults, Source
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.core import Json
from pytest_fcall.traces.record import Unreadable
from pytest_fcall.traces.values import read_json

LARGEST: Final = 64 * 2**20
"""Of a file that has to be read as a whole, in bytes."""


def whole_value(content: bytes, name: str) -> Json:
    """The value that the content of a file called `name` is. Raises Unreadable."""
    written = whole_text(content)
    if written.lstrip().startswith(("{", "[")):
        try:
            return read_json(written)
        except ValueError as error:
            raise Unreadable(str(error)) from None
    return _yaml(written, name)


def whole_text(content: bytes) -> str:
    """The text that the content of a file is. Raises Unreadable."""
    if len(content) > LARGEST:
        raise Unreadable(f"it is larger than {LARGEST // 2**20} MiB and no JSON lines: export it as one record a line")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("it is no text in UTF-8") from None


def _yaml(written: str, name: str) -> Json:
    faults = Faults(Source(name, written))
    try:
        root = read_yaml(faults.source)
        value = None if root is None else fields.value(root, faults)
    except UnreadableFile as error:
        raise Unreadable(error.fault.message) from None
    if faults.found:
        raise Unreadable(faults.found[0].message)
    return value
