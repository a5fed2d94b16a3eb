"""What a source of tools says now. Only `fcall tools lock` and `fcall tools diff` ask."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from pytest_fcall.cases import UnreadableFile, fields
from pytest_fcall.cases.faults import Faults, Source
from pytest_fcall.cases.yaml.reader import MAX_BYTES, read_yaml
from pytest_fcall.core import Json, Tool, canonical
from pytest_fcall.schema import SchemaError, tools_from_data, tools_from_openapi
from pytest_fcall.schema.sources.locks import describe_source, public_source
from pytest_fcall.schema.sources.variables import expand


class Asker:
    """Asks each source once, however many files name it."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._heard: dict[tuple[str, Path], list[Tool] | SchemaError] = {}

    def tools(self, source: Mapping[str, Json], folder: Path) -> list[Tool]:
        """All tools of `source`, which a file in `folder` names; whatever goes wrong is a SchemaError."""
        key = canonical(source), folder
        if key not in self._heard:
            try:
                self._heard[key] = self._ask(source, folder)
            except SchemaError as error:
                self._heard[key] = error
        heard = self._heard[key]
        if isinstance(heard, SchemaError):
            raise heard
        return heard

    def _ask(self, source: Mapping[str, Json], folder: Path) -> list[Tool]:
        match dict(source):
            case {"mcp": Mapping() as server}:
                return tools_from_data(self._listing(server, folder), source=describe_source(source))
            case {"openapi": str(url), **rest}:
                base = str(public_source({"openapi": url})["openapi"])
                return tools_from_openapi(self._download(url), _names(rest.get("operations")), base=base)
        raise SchemaError(
            f"{describe_source(source)} cannot be asked", hint="only {mcp: …} and {openapi: https://…} can"
        )

    def _listing(self, server: Mapping[str, Json], folder: Path) -> Json:
        try:
            from pytest_fcall.schema.sources.mcp_client import list_mcp_tools
        except ImportError as error:
            message = f"MCP servers are asked through the package mcp, version 2 or newer ({error})"
            raise SchemaError(message, hint="pip install 'pytest-fcall[mcp]'") from error
        return list_mcp_tools(server, folder=folder, environment=os.environ, timeout=self._timeout)

    def _download(self, url: str) -> Json:
        address = expand(url, os.environ)
        if not address.startswith(("https://", "http://")):
            raise SchemaError(f"{url} is no http:// or https:// address")
        try:
            with urlopen(address, timeout=self._timeout) as answer:  # noqa: S310  # the scheme is checked above
                content: bytes = answer.read(MAX_BYTES + 1)
        except HTTPError as error:
            raise SchemaError(f"{url} answered {error.code} {error.reason}") from error
        except (OSError, ValueError) as error:
            raise SchemaError(f"{url} cannot be read: {getattr(error, 'reason', error)}") from error
        if len(content) > MAX_BYTES:
            raise SchemaError(f"{url} is larger than {MAX_BYTES // 2**20} MiB")
        return _parsed(url, content)


def _parsed(url: str, content: bytes) -> Json:
    """JSON, or YAML as case files are read."""
    text = content.decode("utf-8-sig", errors="replace")
    try:
        if text.lstrip().startswith("{"):
            data: Json = json.loads(text)
            return data
        faults = Faults(Source(url, text))
        root = read_yaml(faults.source)
        data = None if root is None else fields.value(root, faults)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{url} is no JSON: {error}") from error
    except UnreadableFile as error:
        raise SchemaError(f"{url}: {error.fault.message}") from error
    if faults.found:
        raise SchemaError(f"{url}: {faults.found[0].message}")
    return data


def _names(value: Json) -> list[str] | None:
    return [str(name) for name in value] if isinstance(value, Sequence) and not isinstance(value, str) else None
