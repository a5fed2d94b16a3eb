"""MCP servers over stdio or streamable HTTP: connection, list of tools, errors."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from pydantic import ValidationError

from pytest_fcall.core.commands import program_hint, with_interpreter
from pytest_fcall.core.values import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.lock_file import expand_variables, public_source


def mcp_server(
    server: Mapping[str, Json], *, folder: Path, environment: Mapping[str, str], stderr: TextIO
) -> McpServer:
    """The server that the value of `mcp:` in a case file describes. Raises SchemaError if it describes none.

    `{command, env, cwd}` is started in `folder` with a minimal environment, and its error output goes to `stderr`;
    `{python}` in the command is the running interpreter. `{url, headers}` is called. `${NAME}` in the url and in the
    values of env and headers comes from `environment`.
    """
    match dict(server):
        case {"url": str(url), **rest} if rest.keys() <= {"headers"}:
            written = str(public_source({"url": url})["url"])
            return _Endpoint(written, expand_variables(url, environment), _values(rest, "headers", environment))
        case {"command": [str(), *_] as command, **rest} if rest.keys() <= {"env", "cwd"}:
            cwd = folder / str(rest.get("cwd", "."))
            return _Process([str(word) for word in command], _values(rest, "env", environment), cwd, stderr)
        case {"command": [Mapping(), *_]}:
            raise SchemaError("a word of `command` is a mapping", path=("mcp",), hint='in quotes: ["{python}", …]')
    raise SchemaError(
        "an MCP server needs either a `command` or a `url`",
        path=("mcp",),
        hint="write {command: [python, server.py], env: {…}, cwd: …} or {url: https://…, headers: {…}}",
    )


_LONGEST_LINE = 300
"""The most characters that are shown of a line that a server wrote."""


class McpServer(ABC):
    """A server: its transport, and messages for its errors."""

    def __init__(self) -> None:
        self.unparsed_output: list[str] = []
        """Output that is not a message of the protocol."""
        self.goal = "it listed its tools"
        """The current goal, for messages: the server ended before …"""

    @abstractmethod
    def transport(self) -> AbstractAsyncContextManager[Any]:
        """Connect to the server."""

    @abstractmethod
    def _error(self, error: Exception, timeout: float) -> SchemaError:
        """The error for a failure that is not a group."""

    def error(self, error: Exception, timeout: float) -> SchemaError:
        """The error for a failure of the server, with a message for people."""
        while isinstance(error, ExceptionGroup):  # raised by task groups
            error = error.exceptions[0]
        return error if isinstance(error, SchemaError) else self._error(error, timeout)

    @asynccontextmanager
    async def client(self, timeout: float) -> AsyncGenerator[Client]:
        """A client of the server; each of its requests may take `timeout` seconds."""
        async with Client(
            self.transport(), cache=None, read_timeout_seconds=timeout, message_handler=self._keep_unparsed
        ) as client:
            yield client

    async def _keep_unparsed(self, message: object) -> None:
        if isinstance(message, ValidationError) and not self.unparsed_output:
            self.unparsed_output += [str(fault["input"])[:_LONGEST_LINE] for fault in message.errors()[:1]]


class _Process(McpServer):
    """A server on standard input and output."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path, stderr: TextIO) -> None:
        super().__init__()
        program, *words = with_interpreter(command)
        self._parameters = StdioServerParameters(command=program, args=words, env=dict(env), cwd=cwd)
        self._text = " ".join(command)
        self._stderr = stderr

    def transport(self) -> AbstractAsyncContextManager[Any]:
        return stdio_client(self._parameters, errlog=self._stderr)

    def _error(self, error: Exception, timeout: float) -> SchemaError:
        command, cwd = self._parameters.command, self._parameters.cwd
        about = program_hint(command, (self._parameters.env or {}).get("PATH"))
        if not Path(str(cwd)).is_dir():
            return SchemaError(f"the folder {cwd} does not exist", path=("mcp", "cwd"))
        match error:
            case FileNotFoundError():
                what, hint = f"command not found: {command}", about or "install it, or give its full path"
            case PermissionError():
                what, hint = f"{command} is not executable", "is it a program? Put the interpreter before a script"
            case MCPError(code=code) if code == CONNECTION_CLOSED:
                what = f"{self._text!r} ended before {self.goal}"
                hint = about or f"run the command by hand in {cwd} to see why"
            case _:
                what = f"{self._text!r} {_failure(error, timeout)}"
                hint = "does the command need an argument such as `stdio` to be an MCP server?"
        return SchemaError(what + self._last_output(), hint=hint)

    def _last_output(self) -> str:
        self._stderr.seek(0)
        lines = self.unparsed_output[:1] + self._stderr.read().strip().splitlines()[-8:]
        return "; its last output:" + "".join(f"\n    {line[:_LONGEST_LINE]}" for line in lines) if lines else ""


class _Endpoint(McpServer):
    """A server over HTTP."""

    def __init__(self, written: str, url: str, headers: Mapping[str, str]) -> None:
        super().__init__()
        if refused := [name for name, value in headers.items() if not (value.isascii() and value.isprintable())]:
            raise SchemaError(f"the header {refused[0]} contains a character that is not allowed", path=("mcp",))
        self._written = written
        self._url = url
        self._headers = dict(headers)
        self._status = HTTPStatus.OK

    @asynccontextmanager
    async def transport(self) -> AsyncGenerator[Any]:
        hooks = {"response": [self._note_status]}
        async with (
            httpx2.AsyncClient(headers=self._headers, event_hooks=hooks, timeout=None) as http,
            streamable_http_client(self._url, http_client=http) as streams,
        ):
            yield streams

    def _error(self, error: Exception, timeout: float) -> SchemaError:
        match error:
            case httpx2.UnsupportedProtocol() | httpx2.InvalidURL():
                what, hint = "is not a valid address", "it must begin with http:// or https://"
            case httpx2.ConnectError():
                what, hint = "cannot be reached: the connection was refused or there is no such host", "is it running?"
            case _ if self._status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
                what = f"answered {self._status.value} {self._status.phrase}"
                hint = "does it need `headers: {Authorization: Bearer ${TOKEN}}`?"
            case _ if self._status >= HTTPStatus.BAD_REQUEST:
                what = f"answered {self._status.value} {self._status.phrase}: not an MCP server"
                hint = "the path of many servers is /mcp"
            case _:
                what, hint = _failure(error, timeout), "is this the address of its streamable HTTP endpoint?"
        return SchemaError(f"{self._written} {what}", hint=hint)

    async def _note_status(self, response: httpx2.Response) -> None:
        self._status = HTTPStatus(response.status_code)


def _values(server: Mapping[str, Json], key: str, environment: Mapping[str, str]) -> dict[str, str]:
    values = server.get(key, {})
    if not isinstance(values, Mapping) or any(isinstance(value, bool | list | Mapping) for value in values.values()):
        message = f"`{key}` must be a mapping of names to strings"
        raise SchemaError(message, path=("mcp", key), hint='put values in quotes: "true"')
    return {name: expand_variables(str(value), environment) for name, value in values.items()}


def _failure(error: Exception, timeout: float) -> str:
    match error:
        case TimeoutError() | httpx2.TimeoutException():
            return f"did not answer as an MCP server within {timeout:g} seconds"
        case MCPError(code=code) if code == REQUEST_TIMEOUT:
            return f"did not answer as an MCP server within {timeout:g} seconds"
        case MCPError():
            return f"is not an MCP server, or refuses to list its tools: {error.message}"
        case ValidationError():
            return "did not answer with a list of tools"
    return f"failed: {error}"


@contextmanager
def silence_log(name: str) -> Iterator[None]:
    """Keep the log of a library from being printed if the program has not set up logging."""
    handler = logging.NullHandler()
    logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger(name).removeHandler(handler)


_PAGES = 1000


def list_mcp_tools(
    server: Mapping[str, Json], *, folder: Path, environment: Mapping[str, str], timeout: float = 30.0
) -> list[dict[str, Json]]:
    """The items of all `tools/list` results of a server, which is started and stopped again if it is a command.

    `server` is the argument of `mcp_server`. Raises SchemaError for any failure.
    """
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr, silence_log("mcp"):
        described = mcp_server(server, folder=folder, environment=environment, stderr=stderr)
        try:
            return anyio.run(_list_tools, described, timeout)
        except Exception as error:  # the SDK and the server may fail in any way
            raise described.error(error, timeout) from error


async def list_all_tools(client: Client) -> list[dict[str, Json]]:
    """The tools of a server, from all pages."""
    tools: list[dict[str, Json]] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools
    raise RecursionError(f"more than {_PAGES} pages of tools")


async def _list_tools(server: McpServer, timeout: float) -> list[dict[str, Json]]:
    with anyio.fail_after(timeout):
        async with server.client(timeout) as client:
            return await list_all_tools(client)
