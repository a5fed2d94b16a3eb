"""Lock files: the tools of MCP servers and URLs, stored next to the case file.

Collection reads these only. It starts no server and needs no network. Secrets stay out of case files and locks: both
have environment variables as `${NAME}` in addresses, headers and environments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.core.digests import digest
from pytest_fcall.core.files import read_regular, replace_file
from pytest_fcall.core.json_data import read_own_json
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.errors import SchemaError

_VERSION = 1
_APPLIED_AFTER_READING = frozenset({"as", "only", "without"})
_NAMES_ONLY = frozenset({"env", "headers"})
_CREDENTIALS = re.compile(r"(?<=://)[^/?#]*@")
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7})", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class LockEntry:
    """A source and all its tools, whichever of them the case file uses."""

    source: Mapping[str, Json]
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class ToolLock:
    """The content of a lock file: its entries by `source_key`."""

    entries: Mapping[str, LockEntry] = field(default_factory=dict)

    def tools(self, source: Mapping[str, Json]) -> list[Tool] | None:
        """All tools of a source; None if the lock file does not have it."""
        entry = self.entries.get(source_key(source))
        return None if entry is None else list(entry.tools)


def lock_path(case_file: Path) -> Path:
    """The lock file of a case file: `cases/shop.tools.lock.json` for `cases/shop.fc.yaml`."""
    stem = case_file.name.removesuffix(case_file.suffix).removesuffix(".fc")
    return case_file.with_name(f"{stem}.tools.lock.json")


def catalogue_lock_path(catalogue: Path) -> Path:
    """The lock file of a file that case files include: `all.tools.yaml.lock.json` for `all.tools.yaml`."""
    return catalogue.with_name(f"{catalogue.name}.lock.json")


def public_source(source: Mapping[str, Json]) -> dict[str, Json]:
    """The source as it may be shown and stored: without credentials and the values of headers and variables."""
    return {key: _public(value) for key, value in source.items() if key not in _APPLIED_AFTER_READING}


def source_key(source: Mapping[str, Json]) -> str:
    """The key of a source in a lock file. It does not depend on secrets."""
    return digest(public_source(source))


def describe_source(source: Mapping[str, Json]) -> str:
    """A source for messages: `mcp: python server.py`."""
    kind, value = next(iter(public_source(source).items()), ("tools", ""))
    if isinstance(value, Mapping):
        value = value.get("url") or value.get("command") or ""
    if not isinstance(value, str):
        value = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{kind}: {value}"


def read_lock(path: Path) -> ToolLock:
    """Read a lock file; one that does not exist is empty. Raises SchemaError for a damaged one."""
    try:
        text = read_regular(path).decode()
    except FileNotFoundError:
        return ToolLock()
    except (OSError, ValueError) as error:
        raise _damaged(path, f"cannot be read ({error})") from None
    if _CONFLICT.search(text):
        raise _damaged(path, "contains merge conflict markers")
    try:
        data = read_own_json(text)
    except ValueError as error:
        raise _damaged(path, f"is {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("sources"), dict):
        raise _damaged(path, "is not a lock file")
    if data.get("version") != _VERSION:
        raise _damaged(path, f"has version {data.get('version')!r}; this pytest-fcall reads version {_VERSION}")
    return ToolLock({key: _entry(path, key, value) for key, value in data["sources"].items()})


def write_lock(path: Path, entries: Iterable[LockEntry]) -> None:
    """Write a lock file atomically: the same bytes for the same tools, which keep their order. Raises SchemaError."""
    sources = {
        source_key(entry.source): {
            "source": public_source(entry.source),
            "tools": [_data(tool) for tool in entry.tools],
        }
        for entry in entries
    }
    try:
        # Only the sources are sorted: the keys of a tool keep the order in which the model gets them.
        data = {"version": _VERSION, "sources": dict(sorted(sources.items()))}
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"a tool cannot be written as JSON: {error}") from None
    # The escape of a lone surrogate is the same in Python as in JSON.
    try:
        replace_file(path, [f"{text}\n".encode("utf-8", "backslashreplace")])
    except OSError as error:
        raise SchemaError(f"{path.name} cannot be written ({error.strerror})") from None


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Replace each `${NAME}` by its value in `environment`. Raises SchemaError if it is not set."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in environment:
            raise SchemaError(f"the environment variable {name} is not set", hint=f"export {name}=…, then try again")
        return environment[name]

    return _VARIABLE.sub(value, text)


def _data(tool: Tool) -> dict[str, Json]:
    """A tool, and how its request is sent if it is from an OpenAPI document."""
    data: dict[str, Json] = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    sending = (tool.origin or {}).get("openapi")
    return data if sending is None else {**data, "openapi": sending}


def _public(value: Json) -> Json:
    if isinstance(value, str):
        return _CREDENTIALS.sub("", value)
    if isinstance(value, list | tuple):
        return [_public(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: sorted(map(str, item)) if key in _NAMES_ONLY and isinstance(item, Mapping) else _public(item)
        for key, item in value.items()
    }


def _entry(path: Path, key: str, data: object) -> LockEntry:
    match data:
        case {"source": dict(source), "tools": list(tools)} if key == source_key(source):
            return LockEntry(source, tuple(_tool(path, tool, describe_source(source)) for tool in tools))
    raise _damaged(path, f"was changed by hand at {key[:12]}…")


def _tool(path: Path, data: object, source: str) -> Tool:
    match data:
        case {"name": str(name), "description": str(description), "parameters": dict(parameters), **rest}:
            origin = {"openapi": sending} if isinstance(sending := rest.get("openapi"), dict) else None
            return Tool(name, description, parameters, source, origin=origin)
    raise _damaged(path, "contains a tool without name, description or parameters")


def _damaged(path: Path, what: str) -> SchemaError:
    return SchemaError(f"{path.name} {what}", hint="run `fcall tools lock` for its case file again")
