"""The case files of `fcall tools`, the tools that they offer together, and a client that asks the sources of tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Protocol, TypeVar
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pytest_fcall.backends.known_secrets import secrets_of_variables
from pytest_fcall.cases import node_values
from pytest_fcall.cases.case_file import CaseFileContent, read_case_file, read_case_text
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.preamble import LockedSource, catalogue_sources, tool_sources
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.cases.yaml.values import write_flow
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.safe_output import machine_secrets
from pytest_fcall.core.case import Case, Fault
from pytest_fcall.core.commands import install_command
from pytest_fcall.core.digests import canonical
from pytest_fcall.core.files import MOST_BYTES
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.lock_file import describe_source, expand_variables, public_source
from pytest_fcall.schema.sources.openapi import tools_from_openapi
from pytest_fcall.schema.sources.tool_data import tools_from_data

_T = TypeVar("_T")
_Content_co = TypeVar("_Content_co", covariant=True)


class _FileReader(Protocol[_Content_co]):
    def __call__(self, path: Path, *, root: Path) -> _Content_co: ...


class ProblemList:
    """Problems of a command, printed at its end: one dead server must not hide the answers of others."""

    def __init__(self, project: Project) -> None:
        self._root = project.root
        self.messages: list[str] = []

    def add_schema_error(self, place: str, error: SchemaError) -> None:
        """Add why a source or a lock file cannot be used."""
        hint = f"\n  hint: {error.hint}" if error.hint else ""
        self.messages.append(safe(f"{place}: {error.message}{hint}"))

    def add_fault(self, fault: Fault) -> None:
        """Add a fault of a case file."""
        self.messages.append(fault_text(fault, self._root))

    def print(self) -> None:
        """Print all messages to standard error."""
        for message in self.messages:
            print(message, file=sys.stderr)


def readable_case_files(project: Project, problems: ProblemList) -> Iterator[CaseFileContent]:
    """The case files that can be read. Their faults are added to the problems."""
    for _, file in _read_each(project, problems, _read_cases):
        for fault in file.faults:
            problems.add_fault(fault)
        yield file


def _read_cases(path: Path, *, root: Path) -> CaseFileContent:
    return read_case_file(path, root=root, outside=anywhere(path))


def sources_with_users(project: Project, problems: ProblemList) -> list[tuple[LockedSource, list[Path]]]:
    """The agents, MCP servers and URLs that case files and their catalogues name, each once, with the case files.

    A catalogue that the command line names stands for itself, too, since no case file may include it yet.
    """

    def sources_of(path: Path, *, root: Path) -> list[LockedSource]:
        found = tool_sources(path, root=root)
        return found or (catalogue_sources(path, root=root) if path in project.named_files else [])

    found: dict[tuple[Path, str], tuple[LockedSource, list[Path]]] = {}
    for path, sources in _read_each(project, problems, sources_of):
        for source in sources:
            _, users = found.setdefault((source.lock, canonical(source.key)), (source, []))
            users.append(path)
    return [*found.values()]


def _read_each(project: Project, problems: ProblemList, read: _FileReader[_T]) -> Iterator[tuple[Path, _T]]:
    """The content of each case file that can be read; why others cannot is added to the problems."""
    for path in project.files:
        try:
            content = read(path, root=project.root)
        except UnreadableFile as unreadable:
            if project.is_meant_as_cases(path, unreadable.fault):
                problems.add_fault(unreadable.fault)
        else:
            yield path, content


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Tools that are offered together, and the cases that offer them."""

    path: Path
    """The file that names them."""
    tools: tuple[Tool, ...]
    cases: tuple[Case, ...]
    """Empty where the file holds tools alone."""


def catalogues(project: Project, problems: ProblemList) -> Iterator[Catalogue]:
    """The catalogues of each file that can be read. Its faults are added to the problems."""
    for path in project.files:
        is_case_file = not is_tools_file(path)
        try:
            if is_case_file:
                file = read_case_file(path, root=project.root, outside=anywhere(path))
            else:
                text = f"{tools_line(path, path.parent)}\ncases:\n  - {{id: tools, prompt: any, expect: no_call}}\n"
                beside = path.with_name(f"{path.name}.fc.yaml")  # a file cannot include itself
                file = read_case_text(text, beside, root=project.root, outside=anywhere(path))
        except UnreadableFile as unreadable:
            if project.is_meant_as_cases(path, unreadable.fault):
                problems.add_fault(unreadable.fault)
            continue
        for fault in file.faults:
            problems.add_fault(fault)
        offered: dict[tuple[str, ...], tuple[tuple[Tool, ...], list[Case]]] = {}
        for case in file.entries:
            if isinstance(case, Case):
                names = tuple(tool.name for tool in case.tools)
                offered.setdefault(names, (tuple(case.tools), []))[1].append(case)
        for tools, cases in offered.values():
            yield Catalogue(path, tools, tuple(cases) if is_case_file else ())


def is_tools_file(path: Path) -> bool:
    """Whether the file holds tools alone."""
    return path.name.endswith((".tools.yaml", ".tools.yml", ".json"))


def tools_line(path: Path, folder: Path) -> str:
    """The line by which a case file in `folder` takes the tools of this file."""
    name = write_flow(Path(os.path.relpath(path, folder)).as_posix())
    return f"tools: [{{file: {name}}}]" if path.suffix == ".json" else f"include: {name}"


class SourceClient:
    """Asks each tool source once, even if several files name it."""

    def __init__(self, timeout: float, root: Path) -> None:
        self._timeout = timeout
        self._root = root
        self._left_out: dict[str, list[str]] = {}
        self._answers: dict[tuple[str, Path], list[Tool] | SchemaError] = {}

    def tools(self, source: Mapping[str, Json], folder: Path) -> list[Tool]:
        """All tools of a source that a file in `folder` names. Raises SchemaError."""
        key = canonical(source), folder
        if key not in self._answers:
            try:
                self._answers[key] = self._public(source, self._ask(source, folder))
            except SchemaError as error:
                self._answers[key] = error
        answer = self._answers[key]
        if isinstance(answer, SchemaError):
            raise answer
        return answer

    def left_out(self, source: Mapping[str, Json]) -> Sequence[str]:
        """The tools of an agent that cannot be tested, each with the reason."""
        return self._left_out.get(canonical(source), ())

    def _public(self, source: Mapping[str, Json], tools: list[Tool]) -> list[Tool]:
        """The tools without the keys that their server was sent, or knows from its environment, and says back."""
        secrets = machine_secrets()
        secrets.add(secrets_of_variables(canonical(source), os.environ))
        if not secrets or not any(
            secrets.may_be_in(f"{tool.name}{tool.description}{tool.parameters}") for tool in tools
        ):
            return tools
        return [
            replace(
                tool,
                name=secrets.redacted(tool.name),
                description=secrets.redacted(tool.description),
                parameters=secrets.redacted_fields(tool.parameters),
            )
            for tool in tools
        ]

    def _ask(self, source: Mapping[str, Json], folder: Path) -> list[Tool]:
        match dict(source):
            case {"agent": str(name)}:
                return self._agent_tools(name, source)
            case {"mcp": Mapping() as server}:
                return tools_from_data(self._mcp_tools(server, folder), source=describe_source(source))
            case {"openapi": str(url), **rest}:
                base = str(public_source({"openapi": url})["openapi"])
                return tools_from_openapi(self._download(url), _operation_names(rest.get("operations")), base=base)
        raise SchemaError(
            f"{describe_source(source)} cannot be asked for tools",
            hint="only {agent: …}, {mcp: …} and {openapi: https://…} can be locked",
        )

    def _agent_tools(self, name: str, source: Mapping[str, Json]) -> list[Tool]:
        from pytest_fcall.backends.apps.python import agent_tools

        tools, unread = agent_tools(name, self._root, describe_source(source))
        self._left_out[canonical(source)] = [f"{each.name} ({each.why})" for each in unread]
        return tools

    def _mcp_tools(self, server: Mapping[str, Json], folder: Path) -> Json:
        try:
            from pytest_fcall.schema.sources.mcp_server import list_mcp_tools
        except ImportError as error:
            message = f"MCP servers need the package mcp, version 2 or newer ({error})"
            raise SchemaError(message, hint=install_command("mcp")) from error
        return list_mcp_tools(server, folder=folder, environment=os.environ, timeout=self._timeout)

    def _download(self, url: str) -> Json:
        address = expand_variables(url, os.environ)
        if not address.startswith(("https://", "http://")):
            raise SchemaError(f"{url} is not an http:// or https:// URL")
        try:
            with build_opener(_SameServer).open(address, timeout=self._timeout) as answer:
                content: bytes = answer.read(MOST_BYTES + 1)
        except HTTPError as error:
            raise SchemaError(f"{url} answered {error.code} {error.reason}") from error
        except (OSError, ValueError) as error:
            raise SchemaError(f"{url} cannot be read: {getattr(error, 'reason', error)}") from error
        if len(content) > MOST_BYTES:
            raise SchemaError(f"{url} is larger than {MOST_BYTES // 2**20} MiB")
        return _parsed_document(url, content)


class _SameServer(HTTPRedirectHandler):
    """Follows redirects at the same server: an address may hold a token."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        target = urlsplit(urljoin(req.full_url, newurl))
        if target[:2] != urlsplit(req.full_url)[:2]:
            fp.close()
            shown = target._replace(netloc=target.netloc.rpartition("@")[2], query="", fragment="").geturl()
            raise SchemaError(f"a redirect leads to {shown:.200}, which is another server", hint="write this address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _parsed_document(url: str, content: bytes) -> Json:
    """The value of JSON, or of YAML with the rules of case files."""
    text = content.decode("utf-8-sig", errors="replace")
    try:
        if text.lstrip().startswith("{"):
            return read_json(text)
        faults = Faults(SourceFile(url, text))
        root = read_yaml(faults.source)
        data = None if root is None else node_values.value(root, faults)
    except ValueError as error:
        raise SchemaError(f"{url} is {error}") from error
    except UnreadableFile as error:
        raise SchemaError(f"{url}: {error.fault.message}") from error
    if faults:
        raise SchemaError(f"{url}: {faults[0].message}")
    return data


def _operation_names(value: Json) -> list[str] | None:
    return [str(name) for name in value] if isinstance(value, Sequence) and not isinstance(value, str) else None
