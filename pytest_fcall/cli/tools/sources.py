"""The case files of `fcall tools`, their sources of tools, and the tools that these sources offer now."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.error import HTTPError
from urllib.request import urlopen

from pytest_fcall.cases import node_values
from pytest_fcall.cases.case_file import CaseFile, read_case_file
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile
from pytest_fcall.cases.preamble import tool_sources
from pytest_fcall.cases.yaml.reader import MAX_BYTES, read_yaml
from pytest_fcall.cli.project import Project
from pytest_fcall.core import Fault, Json, Tool, canonical
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.lock_file import describe_source, public_source
from pytest_fcall.schema.sources.openapi import tools_from_openapi
from pytest_fcall.schema.sources.tool_data import tools_from_data
from pytest_fcall.schema.sources.variables import expand_variables

_T = TypeVar("_T")
_Got_co = TypeVar("_Got_co", covariant=True)


class _FileReader(Protocol[_Got_co]):
    def __call__(self, path: Path, *, root: Path) -> _Got_co: ...


@dataclass(frozen=True, slots=True)
class ProblemList:
    """What went wrong on the way; told at the end, so that one dead server does not hide what others say."""

    told: list[str] = field(default_factory=list)

    def refusal(self, where: str, error: SchemaError) -> None:
        """Note what a source, or a lock file, has against being used."""
        hint = f"\n  hint: {error.hint}" if error.hint else ""
        self.told.append(safe(f"{where}: {error.message}{hint}"))

    def fault(self, fault: Fault, project: Project) -> None:
        """Note a mistake in a case file."""
        self.told.append(fault_text(fault, project.root))

    def tell(self) -> None:
        """Print them all."""
        for text in self.told:
            print(text, file=sys.stderr)


def readable_case_files(project: Project, problems: ProblemList) -> Iterator[CaseFile]:
    """All case files that can be read; what is wrong with them is noted."""
    for _, found in _read_each(project, problems, read_case_file):
        for fault in found.faults:
            problems.fault(fault, project)
        yield found


def files_with_sources(project: Project, problems: ProblemList) -> Iterator[tuple[Path, Sequence[Mapping[str, Json]]]]:
    """Case files that name servers or addresses, with these."""
    return (each for each in _read_each(project, problems, tool_sources) if each[1])


def _read_each(project: Project, problems: ProblemList, read: _FileReader[_T]) -> Iterator[tuple[Path, _T]]:
    """What is read of each file that means to hold cases; why one cannot be read is noted."""
    for path in project.files:
        try:
            found = read(path, root=project.root)
        except UnreadableFile as unreadable:
            if project.means_cases(path, unreadable.fault):
                problems.fault(unreadable.fault, project)
        else:
            yield path, found


class SourceClient:
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
                return tools_from_openapi(self._download(url), _operation_names(rest.get("operations")), base=base)
        raise SchemaError(
            f"{describe_source(source)} cannot be asked", hint="only {mcp: …} and {openapi: https://…} can"
        )

    def _listing(self, server: Mapping[str, Json], folder: Path) -> Json:
        try:
            from pytest_fcall.schema.sources.mcp_server import list_mcp_tools
        except ImportError as error:
            message = f"MCP servers are asked through the package mcp, version 2 or newer ({error})"
            raise SchemaError(message, hint="pip install 'pytest-fcall[mcp]'") from error
        return list_mcp_tools(server, folder=folder, environment=os.environ, timeout=self._timeout)

    def _download(self, url: str) -> Json:
        address = expand_variables(url, os.environ)
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
        return _parsed_document(url, content)


def _parsed_document(url: str, content: bytes) -> Json:
    """JSON, or YAML as case files are read."""
    text = content.decode("utf-8-sig", errors="replace")
    try:
        if text.lstrip().startswith("{"):
            data: Json = json.loads(text)
            return data
        faults = Faults(SourceFile(url, text))
        root = read_yaml(faults.source)
        data = None if root is None else node_values.value(root, faults)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{url} is no JSON: {error}") from error
    except UnreadableFile as error:
        raise SchemaError(f"{url}: {error.fault.message}") from error
    if faults:
        raise SchemaError(f"{url}: {faults[0].message}")
    return data


def _operation_names(value: Json) -> list[str] | None:
    return [str(name) for name in value] if isinstance(value, Sequence) and not isinstance(value, str) else None
