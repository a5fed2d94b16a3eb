"""The files that a promptfoo configuration names."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Final

from pytest_fcall.core.files import read_regular
from pytest_fcall.core.values import Json
from pytest_fcall.traces.record import UnreadableTrace
from pytest_fcall.traces.values import (
    document_text,
    document_value,
    items,
    mapping,
    read_json,
    text,
)

_UNREAD_KEY: Final = "fcall:unread"
"""A mapping with this key stands for the content of a file that was not read. Its value is the reason."""
_FILE: Final = "file://"
_VALUE_SUFFIXES: Final = (".yaml", ".yml", ".json")
_TEXT_SUFFIXES: Final = (".txt", ".md", ".j2")
_MOST_FILES: Final = 1000
"""The most files that one pattern matches."""


def with_files(data: Mapping[str, Json], folder: Path) -> Mapping[str, Json]:
    """The configuration with the content of its `file://` references.

    Files outside `folder` and programs are not read.
    """
    files = _ConfigurationFiles(folder)
    prompts, tests, default = data.get("prompts"), data.get("tests"), mapping(data.get("defaultTest"))
    if prompts is None or tests is None:
        return data
    return {
        **data,
        "prompts": [prompt for each in _as_list(prompts) for prompt in files.prompts(each)],
        "tests": [test for each in _as_list(tests) for test in files.tests(each)],
        "defaultTest": files.test(default),
    }


def _as_list(data: Json) -> list[Json]:
    """A list of the entries. A mapping has files as keys, and labels as values."""
    return list(data) if isinstance(data, Mapping) else [data] if isinstance(data, str) else list(items(data))


class _ConfigurationFiles:
    """Reads the files below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def prompts(self, entry: Json) -> Iterator[Json]:
        """The prompts of one entry. In a text file, `---` separates them."""
        fields = mapping(entry)
        candidates = [entry] if isinstance(entry, str) else [fields.get("raw"), fields.get("id")]
        reference = next(filter(_is_reference, candidates), None)
        if reference is None:
            yield entry
            return
        for path, content in self._contents(str(reference)):
            if path.suffix in _TEXT_SUFFIXES and isinstance(content, str):
                yield from (part.strip() for part in content.split("\n---\n") if part.strip())
            else:
                yield content if isinstance(content, str) or unread_reason(content) else json.dumps(content)

    def tests(self, entry: Json) -> Iterator[Json]:
        """The tests of one entry."""
        if not _is_reference(entry):
            yield self.test(mapping(entry))
            return
        for _, content in self._contents(str(entry)):
            if unread_reason(content):
                yield content
            else:
                yield from (self.test(mapping(each)) for each in items(content))

    def test(self, data: Mapping[str, Json]) -> Mapping[str, Json]:
        """A test with the values of its variables."""
        variables = data.get("vars")
        if _is_reference(variables):
            variables = next((content for _, content in self._contents(str(variables))), None)
        if unread_reason(variables):
            return mapping(variables)
        return {**data, "vars": {name: self._value(value) for name, value in mapping(variables).items()}}

    def _value(self, value: Json) -> Json:
        if not _is_reference(value):
            return value
        contents = [content for _, content in self._contents(str(value))]
        return contents[0] if len(contents) == 1 else contents

    def _contents(self, reference: str) -> Iterator[tuple[Path, Json]]:
        """The content of the file, or of all files that the pattern matches."""
        name = reference.removeprefix(_FILE).removeprefix("./")
        try:
            paths = sorted(self._folder.glob(name))[:_MOST_FILES] if "*" in name else [self._folder / name]
        except (ValueError, NotImplementedError, OSError):
            paths = []
        if not paths:
            yield Path(name), {_UNREAD_KEY: f"no such file: {name[:80]}"}
        for path in paths:
            try:
                yield path, self._content(path)
            except UnreadableTrace as problem:
                yield path, {_UNREAD_KEY: f"{path.name[:80]}: {problem}"}

    def _content(self, path: Path) -> Json:
        """The content of a file. Raises UnreadableTrace."""
        try:
            inside, exists = Path(os.path.realpath(path)).is_relative_to(self._folder), path.is_file()
        except (OSError, ValueError) as error:
            raise _unreadable_file(error) from None
        if not inside:
            raise UnreadableTrace("the file is outside of the folder of the configuration")
        if path.suffix not in (*_VALUE_SUFFIXES, *_TEXT_SUFFIXES, ".csv", ".jsonl"):
            raise UnreadableTrace("only text, YAML, JSON and CSV are read; programs are never run")
        if not exists:
            raise UnreadableTrace("no such file")
        try:
            content = read_regular(path)
        except OSError as error:
            raise _unreadable_file(error) from None
        return _file_value(content, path)


def _unreadable_file(error: OSError | ValueError) -> UnreadableTrace:
    return UnreadableTrace(f"the file cannot be read: {getattr(error, 'strerror', None) or error}")


def _file_value(content: bytes, path: Path) -> Json:
    if path.suffix in _VALUE_SUFFIXES:
        return document_value(content, path.name)
    written = document_text(content)
    if path.suffix == ".csv":
        return _table_tests(written)
    if path.suffix == ".jsonl":
        try:
            return [read_json(line) for line in written.splitlines() if line.strip()]
        except ValueError as error:
            raise UnreadableTrace(str(error)) from None
    return written


def _table_tests(written: str) -> Json:
    """The tests of a table. Its columns are variables, except those that begin with two underscores."""
    try:
        rows = list(csv.DictReader(StringIO(written)))
    except csv.Error as error:
        raise UnreadableTrace(f"not a CSV table: {error}") from None
    return [
        {
            "vars": {name: value or "" for name, value in row.items() if name and not name.startswith("__")},
            "assert": [
                _table_assertion(value)
                for name, value in row.items()
                if name and name.startswith("__expected") and value
            ],
        }
        for row in rows
    ]


def _table_assertion(written: str) -> Json:
    """An assertion in a table: a type and a value, such as `contains: Oslo`, or the exact answer."""
    kind, colon, value = written.partition(":")
    if colon and kind.strip().replace("-", "").isalpha() and kind.strip().islower():
        return {"type": kind.strip(), "value": value.strip()}
    return {"type": "equals", "value": written}


def _is_reference(value: Json) -> bool:
    return isinstance(value, str) and value.startswith(_FILE)


def unread_reason(value: Json) -> str:
    """The reason why a file was not read; empty where the value stands for no such file."""
    return text(mapping(value).get(_UNREAD_KEY)) or ""
