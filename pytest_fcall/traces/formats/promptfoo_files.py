"""What a configuration of promptfoo has in other files: prompts, tests, values of variables."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.traces.record import Unreadable
from pytest_fcall.traces.values import items, mapping, read_json, text
from pytest_fcall.traces.whole import LARGEST, whole_text, whole_value

UNREAD: Final = "fcall:unread"
"""The key under which, in the place of what a file holds, stands why it was not read."""

_FILE: Final = "file://"
_VALUES: Final = (".yaml", ".yml", ".json")
_TEXTS: Final = (".txt", ".md", ".j2")
_MOST: Final = 1000
"""So many files may a pattern stand for."""


def with_files(told: Mapping[str, Json], folder: Path) -> Mapping[str, Json]:
    """The configuration with what its `file://` stand for, as far as that lies in `folder` and is no program."""
    files = _Files(folder)
    prompts, tests, default = told.get("prompts"), told.get("tests"), mapping(told.get("defaultTest"))
    if prompts is None or tests is None:
        return told
    return {
        **told,
        "prompts": [prompt for each in _listed(prompts) for prompt in files.prompts(each)],
        "tests": [test for each in _listed(tests) for test in files.tests(each)],
        "defaultTest": files.test(default),
    }


def _listed(told: Json) -> list[Json]:
    """Several, or one; prompts may also be a mapping of files to labels."""
    return list(told) if isinstance(told, Mapping) else [told] if isinstance(told, str) else list(items(told))


class _Files:
    """The files below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def prompts(self, told: Json) -> Iterator[Json]:
        """The prompts that one entry stands for; several may stand in one file, with `---` between them."""
        written = told if isinstance(told, str) else next(filter(_is_file, map(mapping(told).get, ("raw", "id"))), None)
        if not _is_file(written):
            yield told
            return
        for path, content in self._of(str(written)):
            if path.suffix in _TEXTS and isinstance(content, str):
                yield from (part.strip() for part in content.split("\n---\n") if part.strip())
            else:
                yield content if isinstance(content, str) or _is_unread(content) else json.dumps(content)

    def tests(self, told: Json) -> Iterator[Json]:
        """The tests that one entry stands for."""
        if not _is_file(told):
            yield self.test(mapping(told))
            return
        for _, content in self._of(str(told)):
            if _is_unread(content):
                yield content
            else:
                yield from (self.test(mapping(each)) for each in items(content))

    def test(self, told: Mapping[str, Json]) -> Mapping[str, Json]:
        """A test with the values of its variables."""
        given = told.get("vars")
        if _is_file(given):
            given = next((content for _, content in self._of(str(given))), None)
        if _is_unread(given):
            return mapping(given)
        return {**told, "vars": {name: self._value(value) for name, value in mapping(given).items()}}

    def _value(self, told: Json) -> Json:
        if not _is_file(told):
            return told
        found = [content for _, content in self._of(str(told))]
        return found[0] if len(found) == 1 else found

    def _of(self, written: str) -> Iterator[tuple[Path, Json]]:
        """What a reference stands for: a file, or all that fit a pattern."""
        name = written.removeprefix(_FILE).removeprefix("./")
        try:
            fitting = sorted(self._folder.glob(name))[:_MOST] if "*" in name else [self._folder / name]
        except (ValueError, NotImplementedError, OSError):
            fitting = []
        if not fitting:
            yield Path(name), {UNREAD: f"there is no file {name[:80]}"}
        for path in fitting:
            try:
                yield path, self._content(path)
            except Unreadable as why:
                yield path, {UNREAD: f"{path.name[:80]}: {why}"}

    def _content(self, path: Path) -> Json:
        try:
            if not path.resolve().is_relative_to(self._folder):
                raise Unreadable("it lies outside of the folder of the configuration")
            if path.suffix not in (*_VALUES, *_TEXTS, ".csv", ".jsonl"):
                raise Unreadable("only text, YAML, JSON and CSV are read: programs are never run")
            if not path.is_file():
                raise Unreadable("there is no such file")
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)
        except (OSError, ValueError) as error:
            if isinstance(error, Unreadable):
                raise
            raise Unreadable(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from None
        return _read(content, path)


def _read(content: bytes, path: Path) -> Json:
    if path.suffix in _VALUES:
        return whole_value(content, path.name)
    written = whole_text(content)
    if path.suffix == ".csv":
        return _rows(written)
    if path.suffix == ".jsonl":
        try:
            return [read_json(line) for line in written.splitlines() if line.strip()]
        except ValueError as error:
            raise Unreadable(str(error)) from None
    return written


def _rows(written: str) -> Json:
    """The tests of a table: each column is a variable, but for those that begin with two underscores."""
    try:
        rows = list(csv.DictReader(StringIO(written)))
    except csv.Error as error:
        raise Unreadable(f"it is no table: {error}") from None
    return [
        {
            "vars": {name: value or "" for name, value in row.items() if name and not name.startswith("__")},
            "assert": [
                _expected(value) for name, value in row.items() if name and name.startswith("__expected") and value
            ],
        }
        for row in rows
    ]


def _expected(written: str) -> Json:
    """An assertion of a table: `contains: Oslo`, or the very answer."""
    kind, colon, value = written.partition(":")
    if colon and kind.strip().replace("-", "").isalpha() and kind.strip().islower():
        return {"type": kind.strip(), "value": value.strip()}
    return {"type": "equals", "value": written}


def _is_file(told: Json) -> bool:
    return isinstance(told, str) and told.startswith(_FILE)


def _is_unread(told: Json) -> bool:
    return UNREAD in mapping(told)


def why_unread(told: Json) -> str:
    """Why something could not be read; empty where it was."""
    return text(mapping(told).get(UNREAD)) or ""
