"""Connections from this process to providers that go around the proxy: noticed before a name leaves this process."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from threading import Lock, current_thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_fcall.core.provider_variables import PROVIDER_ADDRESSES, raw_environment

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from types import FrameType


_OWN_THREADS = ("fcall-dispatch", "fcall-proxy")
"""Prefixes of the names of threads that ask models for the run, or pass on what an app asks."""
_TELEMETRY = ("agents.tracing",)
"""Modules that report to a provider and ask no model. Where nobody may be asked, they are refused, and nothing else."""
_EVENT_LOOPS = "asyncio.base_events"
_ENVIRONMENT_PROXIES = ("HTTPS_PROXY", "ALL_PROXY", "https_proxy", "all_proxy")
_TUNNEL = b"CONNECT "
"""Prefix of a request that asks a proxy of the environment for a connection; then the host follows."""
_LONGEST_HOST = 300
_NOT_THERE = object()
_PACKAGES = {"site-packages", "dist-packages"}
_OUR_PACKAGES = ("pytest_fcall", "_pytest", "pluggy", "pytest")


class Detour(NamedTuple):
    """A connection to a provider that goes around the proxy."""

    host: str
    place: str
    """FILE:LINE of the code that wants it: the innermost in the project, or else in a library. Empty if unknown."""

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.host}, at {self.place}" if self.place else self.host


class DetourRefused(ConnectionRefusedError):
    """The connection goes around the proxy, and no model may be asked."""


class WatchedRun:
    """A run of an app that is watched: what others open meanwhile counts for it, too."""

    __slots__ = ("detours", "live")

    def __init__(self, *, live: bool) -> None:
        self.live = live
        """Whether models may be asked, so that nothing is refused."""
        self.detours: list[Detour] = []
        """Its connections that go around the proxy."""


class DetourWatch:
    """Looks at the names that this process resolves for as long as an app is at work.

    `socket.getaddrinfo` and asyncio's method of this name stand aside meanwhile. Where the environment names a proxy,
    which resolves names itself, so do the methods of sockets that send. An audit hook would see less, but is called for
    all that happens in the process, and stays until its end.
    """

    def __init__(self, root: Path, urls: Iterable[str]) -> None:
        self._root = root
        self._known = provider_hosts(urls)
        self._environment, key = raw_environment()
        self._environment_proxies = (*map(key, _ENVIRONMENT_PROXIES),)
        self._lock = Lock()
        self._runs: list[WatchedRun] = []
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        """Classes and modules, the names in them that are replaced, what was there, and what is there."""

    def begin(self, *, live: bool) -> WatchedRun:
        """Watch a run from now on; of one that is not `live`, no connection is let through."""
        run = WatchedRun(live=live)
        with self._lock:
            if not self._runs:
                self._stand_aside()
            self._runs.append(run)
        return run

    def end(self, run: WatchedRun) -> None:
        """Watch the run no more."""
        with self._lock:
            self._runs.remove(run)
            if not self._runs:
                self._put_back()

    def _stand_aside(self) -> None:
        resolve = socket.getaddrinfo
        self._replace(socket, "getaddrinfo", partial(self._resolve, resolve))
        if (events := sys.modules.get(_EVENT_LOOPS)) is not None:
            self._replace(events.BaseEventLoop, "getaddrinfo", self._method(resolve))
        if any(map(self._environment.get, self._environment_proxies)):
            self._replace(socket.socket, "send", self._sender(socket.socket.send))
            self._replace(socket.socket, "sendall", self._sender(socket.socket.sendall))
            if hasattr(socket.socket, "sendmsg"):  # Windows has none
                self._replace(socket.socket, "sendmsg", self._sender_of_pieces(socket.socket.sendmsg))

    def _replace(self, owner: Any, name: str, by: Any) -> None:
        self._replaced.append((owner, name, vars(owner).get(name, _NOT_THERE), by))
        setattr(owner, name, by)

    def _put_back(self) -> None:
        """Put back what was there, unless somebody else has replaced it since and still calls ours."""
        while self._replaced:
            owner, name, before, by = self._replaced.pop()
            if vars(owner).get(name) is not by:
                continue
            if before is _NOT_THERE:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

    def _resolve(self, resolve: Any, host: Any, *args: Any, **kwargs: Any) -> Any:
        self._look_at(host)
        return resolve(host, *args, **kwargs)

    def _method(self, resolve: Any) -> Any:
        """The method of event loops. It looks where the task is that wants the connection, and resolves in a thread."""

        async def getaddrinfo(loop: AbstractEventLoop, host: Any, port: Any, **how: int) -> Any:
            self._look_at(host, loop)
            return await loop.run_in_executor(None, partial(resolve, host, port, **how))

        return getaddrinfo

    def _sender(self, send: Any) -> Any:
        """A method of sockets that sends. It looks at the host that a proxy is asked to connect to."""

        def watched(connection: Any, data: Any, *args: Any) -> Any:
            if host := _host_of_tunnel(data):
                self._look_at_tunnel(host, connection)
            return send(connection, data, *args)

        return watched

    def _sender_of_pieces(self, send: Any) -> Any:
        """The same of one that sends several pieces, which may be an iterator."""

        def watched(connection: Any, pieces: Any, *args: Any) -> Any:
            held = [*pieces]
            if held and (host := _host_of_tunnel(held[0])):
                self._look_at_tunnel(host, connection)
            return send(connection, held, *args)

        return watched

    def _look_at_tunnel(self, host: str, connection: socket.socket) -> None:
        try:
            self._look_at(host)
        except DetourRefused:
            with suppress(OSError):  # httpx takes a failure to send for none, and waits for an answer
                connection.shutdown(socket.SHUT_RDWR)
            raise

    def _look_at(self, host: object, loop: AbstractEventLoop | None = None) -> None:
        """Note and refuse the connection where it goes around the proxy. Raises DetourRefused."""
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        if not isinstance(name, str) or not self._runs or not is_provider(name, self._known):
            return
        if current_thread().name.startswith(_OWN_THREADS):
            return
        place, telemetry = self._place(sys._getframe(2), loop)  # noqa: SLF001 - inspect takes long to import
        with self._lock:
            refused = not all(run.live for run in self._runs)
            for run in self._runs if not telemetry else ():
                run.detours.append(Detour(name, place))
        if refused:
            raise DetourRefused(f"pytest-fcall: no model may be asked, and {name} is not asked through its proxy")

    def _place(self, frame: FrameType | None, loop: AbstractEventLoop | None) -> tuple[str, bool]:
        """The place of the caller, and whether it only reports on the app."""
        library = ""
        while frame is not None:
            module = _module(frame)
            if module.startswith(_TELEMETRY):
                return "", True
            if place := self._in_project(frame):
                return place, False
            if not module.startswith(_OUR_PACKAGES):
                library = _in_library(frame) or library  # the outermost: what the project has called
            frame = frame.f_back
        return (self._place_of_only_task(loop) if loop else "") or library, False

    def _place_of_only_task(self, loop: AbstractEventLoop) -> str:
        """The place where the only task of the project waits: a library may connect in a task of its own."""
        import asyncio

        chains = (_awaited_frames(task.get_coro()) for task in asyncio.all_tasks(loop))
        places = {places[-1] for frames in chains if (places := [*filter(None, map(self._in_project, frames))])}
        return places.pop() if len(places) == 1 else ""

    def _in_project(self, frame: FrameType) -> str:
        file = Path(frame.f_code.co_filename)
        if not file.is_relative_to(self._root):
            return ""
        inside = file.relative_to(self._root)
        if not _PACKAGES.isdisjoint(inside.parts) or str(frame.f_globals.get("__name__", "")).startswith(
            "pytest_fcall."
        ):
            return ""
        return f"{inside.as_posix()}:{frame.f_lineno}"


def _host_of_tunnel(data: Any) -> str:
    """The host that a proxy is asked to connect to; empty for anything else that is sent."""
    if not isinstance(data, (bytes, bytearray, memoryview)) or (isinstance(data, memoryview) and data.ndim != 1):
        return ""
    begun = bytes(data[: len(_TUNNEL) + _LONGEST_HOST])
    if not begun.startswith(_TUNNEL):
        return ""
    target = begun[len(_TUNNEL) :].split(b" ", 1)[0].decode("ascii", "replace")
    return target.rpartition(":")[0].strip("[]")


@cache
def _standard_library() -> Path:
    import sysconfig  # takes a millisecond, and hardly any run looks for the place of a detour

    return Path(sysconfig.get_paths()["stdlib"])


def _in_library(frame: FrameType) -> str:
    file = Path(frame.f_code.co_filename)
    is_package = not _PACKAGES.isdisjoint(file.parts)
    if not is_package and (file.is_relative_to(_standard_library()) or not file.is_absolute()):
        return ""
    return f"{_module(frame) or file.name}:{frame.f_lineno}"


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _awaited_frames(awaited: Any) -> Iterator[FrameType]:
    """The frames of a coroutine and of all that it awaits, as deep as that can be seen."""
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            yield frame
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)


_HOSTS = frozenset(
    {
        "api-inference.huggingface.co",
        "api.ai21.com",
        "api.anthropic.com",
        "api.cerebras.ai",
        "api.cohere.ai",
        "api.cohere.com",
        "api.deepseek.com",
        "api.fireworks.ai",
        "api.groq.com",
        "api.mistral.ai",
        "api.moonshot.ai",
        "api.openai.com",
        "api.perplexity.ai",
        "api.replicate.com",
        "api.sambanova.ai",
        "api.together.xyz",
        "api.x.ai",
        "codestral.mistral.ai",
        "generativelanguage.googleapis.com",
        "integrate.api.nvidia.com",
        "models.github.ai",
        "openrouter.ai",
        "router.huggingface.co",
    }
)
_ENDS = (
    "aiplatform.googleapis.com",  # of any region
    ".api.openai.com",
    ".models.ai.azure.com",
    ".openai.azure.com",
    ".services.ai.azure.com",
)
_BEDROCK = re.compile(r"bedrock-runtime(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")
_ADDRESS_OR_LOCAL = re.compile(r"[\d.]+|.*:.*|localhost|.*\.localhost")


def provider_hosts(urls: Iterable[str]) -> frozenset[str]:
    """The hosts of the known providers, and those of these addresses that have a name beyond this machine."""
    named = {urlsplit(url).hostname or "" for url in (*PROVIDER_ADDRESSES.values(), *urls)}
    return _HOSTS | {host for host in named if host and not _ADDRESS_OR_LOCAL.fullmatch(host)}


@lru_cache(maxsize=512)
def is_provider(host: str, known: frozenset[str]) -> bool:
    """Whether models are asked at this host. `known` are those that `provider_hosts` names."""
    name = host.lower().rstrip(".")
    return name in known or name.endswith(_ENDS) or _BEDROCK.fullmatch(name) is not None
