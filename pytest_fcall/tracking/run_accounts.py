"""The accounts of a run's cases: `.fcall/runs/<id>.accounts.jsonl.gz`, a line a case, beside the file of the run.

They take much more room than results, and only people read them, so that they are kept apart, compressed, and for the
newest runs only. Tools have lines of their own, without a node id, so that cases that share them do not repeat them.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

from pytest_fcall.core.digests import IdentityKey, digest
from pytest_fcall.core.expectation import json_of_object
from pytest_fcall.core.files import (
    MOST_KEPT_BYTES,
    PRIVATE_MODE,
    bounded_lines,
    make_private_folder,
    open_private,
    open_regular,
    read_regular,
    replace_file,
)
from pytest_fcall.core.json_data import JsonEncoder, as_mapping, read_json
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.tracking.question_digests import tool_digests

_SUFFIX: Final = ".accounts.jsonl.gz"
_MOST_KEPT: Final = 20
"""Accounts of so many runs are kept."""
_MOST_BYTES: Final = 100_000_000
"""Accounts beyond this size are removed, but for those of the last run."""
_FASTEST: Final = 1
_MOST_NAMED: Final = 1024
"""Sets whose names are kept: those of a file are shared, while a retriever makes one for each case."""

_ENCODER: Final = JsonEncoder(separators=(",", ":"), default=json_of_object)


def accounts_path(run: Path) -> Path:
    """The accounts that belong to the file of a run."""
    return run.with_name(run.name.removesuffix(".json") + _SUFFIX)


class KeptTool(NamedTuple):
    """A tool as a line of accounts has it. Its digest is the one of `question_digests`."""

    name: str
    digest: str
    description: str
    parameters: Mapping[str, Json]


def tool_line(tool: KeptTool) -> str:
    """The line of a tool."""
    return account_line({"tool": tool._asdict()})


def tool_of_line(line: Mapping[str, Json]) -> KeptTool | None:
    """The tool in a line; None for other lines, and for one that is damaged."""
    match line.get("tool"):
        case {
            "name": str(name),
            "digest": str(digest),
            "description": str(description),
            "parameters": dict(parameters),
        }:
            return KeptTool(name, digest, description, parameters)
    return None


def tool_set_line(name: str, tools: Iterable[tuple[str, str]]) -> str:
    """The line of the tools that cases offer together, each by its name and digest."""
    return account_line({"offered": name, "tools": [*tools]})


def tool_set_of_line(line: Mapping[str, Json]) -> tuple[str, Sequence[tuple[str, str]]] | None:
    """The name of the set in a line, and its tools; None for other lines."""
    match line:
        case {"offered": str(name), "tools": list(tools)} if "nodeid" not in line:
            return name, [*_named(tools)]
    return None


def _named(tools: Iterable[Json]) -> Iterator[tuple[str, str]]:
    for tool in tools:
        match tool:
            case [str(name), str(digest)]:
                yield name, digest


def account_line(account: Mapping[str, Json]) -> str:
    """An account in a line; empty where it cannot be written as JSON, as when a value contains itself."""
    try:
        return _ENCODER.encode(account)
    except (TypeError, ValueError, RecursionError):
        return ""


class ToolSetWriter:
    """Names sets of tools, and writes each set and each tool the first time that it is named in this process."""

    def __init__(self) -> None:
        self._names: dict[IdentityKey[tuple[Tool, ...]], str] = {}
        self._written: set[object] = set()

    def name(self, tools: tuple[Tool, ...]) -> tuple[str, Sequence[str]]:
        """The name of the set, and the lines that it needs; an empty name for no tools, or such as are no JSON."""
        if not tools:
            return "", ()
        key = IdentityKey(tools)
        if name := self._names.get(key):
            return name, ()
        if len(self._names) >= _MOST_NAMED:
            self._names.clear()
        try:
            digests = tool_digests(tools)
        except (ValueError, TypeError, RecursionError):  # of a case that ended in an error for the same reason
            return "", ()
        name = self._names[key] = digest(list(digests))[:16]
        return name, [*self._lines(name, tools, digests)]

    def _lines(self, name: str, tools: tuple[Tool, ...], digests: Sequence[tuple[str, str]]) -> Iterator[str]:
        for tool, named in zip(tools, digests, strict=True):
            if named not in self._written:
                self._written.add(named)
                yield tool_line(KeptTool(*named, tool.description, tool.parameters))
        if name not in self._written:
            self._written.add(name)
            yield tool_set_line(name, digests)


class AccountWriter:
    """Writes accounts as they come, so that none waits in memory. The file is made with the first of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None
        self._opened: IO[bytes] | None = None
        self.fault: OSError | None = None
        """The reason why nothing more is written."""

    def add(self, line: str) -> None:
        """Write one account."""
        if self.fault is not None or not line:
            return
        try:
            if self._file is None:
                make_private_folder(self._path.parent)
                self._opened = open_private(self._path)  # gzip leaves it open
                self._file = gzip.open(self._opened, "wt", _FASTEST, encoding="ascii")  # noqa: SIM115  # `close` ends it
            self._file.write(f"{line}\n")
        except OSError as error:
            self.fault = error

    def close(self) -> None:
        """Write what is still to be written."""
        if self._file is not None and self._opened is not None:
            try:
                with self._opened:
                    self._file.close()
            except OSError as error:
                self.fault = error


def read_accounts(path: Path) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The accounts in a file, each behind the id of its test; none where there is no file."""
    for line in read_account_lines(path):
        if isinstance(nodeid := line.get("nodeid"), str):
            yield nodeid, line


def read_account_lines(path: Path) -> Iterator[Mapping[str, Json]]:
    """The accounts in a file, and the tools. A file that breaks off gives what it has."""
    return (line for _, line in read_account_texts(path))


def read_account_texts(path: Path) -> Iterator[tuple[bytes, Mapping[str, Json]]]:
    """The same, each line behind its text, which takes a tenth of the memory."""
    with suppress(OSError, EOFError, zlib.error), open_regular(path) as packed, gzip.GzipFile(fileobj=packed) as file:
        for text in bounded_lines(file):
            with suppress(ValueError):
                yield text, as_mapping(read_json(text), "an account")


def join_accounts(path: Path, parts: Iterable[Path]) -> None:
    """Write the accounts of several runs into one file. Raises OSError."""
    found = [part for part in parts if part.is_file()]
    if found:
        replace_file(path, (read_regular(part, MOST_KEPT_BYTES) for part in found), PRIVATE_MODE)


def remove_old_accounts(folder: Path) -> None:
    """Remove all but the newest accounts, and those whose run is gone."""
    room = _MOST_BYTES
    for place, path in enumerate(sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.name, reverse=True)):
        with suppress(FileNotFoundError):  # another process removes some, too
            room -= path.stat().st_size
            has_run = path.with_name(path.name.removesuffix(_SUFFIX) + ".json").exists()
            if not has_run or place >= _MOST_KEPT or (place > 0 and room < 0):
                path.unlink()
