"""The environments that carry out the calls of a conversation, by kind. `open_environment` chooses one for a case.

An environment that cannot be opened raises EnvironmentFailed; a call that fails has its error as the result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pytest_fcall.conversation.environments.context import (
    EnvironmentContext,
    ResultRecorder,
    ResultStore,
    StoredResults,
    source_name,
)
from pytest_fcall.conversation.execution.limits import EnvironmentFailed, EnvironmentSpec, EnvironmentUnavailable
from pytest_fcall.core.conversation import CallResult, ConversationSettings, Environment, EnvironmentNeeds
from pytest_fcall.core.digests import digest
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json

_WITHOUT_SETUP: Final = ("python", "mcp")


async def open_environment(
    settings: ConversationSettings, tools: Sequence[Tool], context: EnvironmentContext
) -> Environment:
    """Open a fresh environment for the tools of one conversation; the caller closes it.

    Tools that `settings` answers by a stub need no environment. Raises EnvironmentFailed, with a text for people.
    """
    called = [tool for tool in tools if tool.name not in settings.stubs]
    names = {tool.name: tool.name for tool in called}
    if settings.setup and settings.environment in _WITHOUT_SETUP:
        raise EnvironmentFailed(f"`environment: {settings.environment}` takes no `setup`")
    match settings.environment:
        case None:
            raise EnvironmentFailed("the case names no `environment`")
        case "python":
            spec = EnvironmentSpec(context.root, functions={tool.name: _function_target(tool) for tool in called})
        case "mcp":
            from pytest_fcall.conversation.environments.mcp import open_mcp

            return OfferedToolsEnvironment(names, await open_mcp(called, context))
        case "http":
            from pytest_fcall.conversation.environments.http import open_http

            return OfferedToolsEnvironment(names, open_http(settings, called, context))
        case environment:
            names = {tool.name: source_name(tool) for tool in called}
            spec = EnvironmentSpec(context.root, environment, settings.setup)
    start = partial(_start_process, settings.needs or EnvironmentNeeds(), spec, context)
    return OfferedToolsEnvironment(names, await _recorded(settings, start, context.result_store))


async def _recorded(
    settings: ConversationSettings, start: Callable[[], Awaitable[Environment]], store: ResultStore | None
) -> Environment:
    """The started environment; one with recorded results is only started when it is needed."""
    if store is not None and settings.reuse_results == "always":
        return CachedEnvironment(str(settings.environment), start, store)
    if store is not None and settings.reuse_results == "in_order":
        return ReplayedEnvironment({"environment": settings.environment, "setup": digest(settings.setup)}, start, store)
    return await start()


async def _start_process(needs: EnvironmentNeeds, spec: EnvironmentSpec, context: EnvironmentContext) -> Environment:
    from pytest_fcall.conversation.execution.tool_process import ToolProcess

    if needs.missing:
        raise EnvironmentUnavailable(needs.missing)
    limits = context.limits
    process = await ToolProcess.start(
        spec,
        replace(
            limits,
            memory=max(limits.memory, needs.memory),
            folders=(*limits.folders, *map(Path, needs.folders)),
            variables={**limits.variables, **needs.variables},
        ),
    )
    if process.weakness and context.note:
        context.note(process.weakness)
    return process


def _function_target(tool: Tool) -> str:
    """The function behind a tool, as `module:function`."""
    target = (tool.origin or {}).get("python")
    if isinstance(target, str):
        return target
    raise EnvironmentFailed(
        f"`environment: python` calls tools of a `python:` source, and `{tool.name}` is not one: take it from such a "
        "source, or give it a stub"
    )


class EnvironmentWrapper:
    """Passes everything on to another environment."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call."""
        return await self._environment.call(tool, arguments)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping."""
        return await self._environment.state(names)

    async def close(self) -> None:
        """Close the environment."""
        await self._environment.close()


class OfferedToolsEnvironment(EnvironmentWrapper):
    """Only offered tools can be called; `names` maps their names to those within the environment."""

    def __init__(self, names: Mapping[str, str], environment: Environment) -> None:
        super().__init__(environment)
        self._names = names

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call; the error says where the tool was not offered."""
        if tool not in self._names:
            return CallResult(error=f"there is no tool `{tool[:100]}`")
        return await super().call(self._names[tool], arguments)


class _LazyEnvironment:
    """An environment that is started by the first use. What `start` raises is raised there."""

    def __init__(self, start: Callable[[], Awaitable[Environment]]) -> None:
        self._start = start
        self._environment: Environment | None = None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out one call."""
        return await (await self._started()).call(tool, arguments)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read the public attributes of these names, or all, as a mapping."""
        return await (await self._started()).state(names)

    async def close(self) -> None:
        """Close the environment, if it was started."""
        if self._environment is not None:
            await self._environment.close()

    async def _started(self) -> Environment:
        if self._environment is None:
            self._environment = await self._start()
        return self._environment


class CachedEnvironment(EnvironmentWrapper):
    """Makes each call once: an equal call of any conversation has the same result.

    A run can be replayed where the data that the functions read is missing. `name` identifies the functions.
    """

    def __init__(self, name: str, start: Callable[[], Awaitable[Environment]], store: ResultStore) -> None:
        super().__init__(_LazyEnvironment(start))
        self._results = StoredResults({"environment": name}, store)

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """The stored result of the call, else that of the environment. Raises what starting it raises."""
        try:
            found = self._results.find(tool, arguments)
        except (ValueError, RecursionError) as error:
            return CallResult(error=f"the arguments are not JSON: {error}")
        if found is not None:
            return found
        result = await super().call(tool, arguments)
        self._results.keep(tool, arguments, result)
        return result


class ReplayedEnvironment(EnvironmentWrapper):
    """Records the results of one conversation, and offline replays them.

    A run can be replayed where the functions are not installed. `identity` describes the functions and their setup.
    """

    def __init__(
        self, identity: Mapping[str, Json], start: Callable[[], Awaitable[Environment]], store: ResultStore
    ) -> None:
        super().__init__(_LazyEnvironment(start))
        self._identity = identity
        self._recorder = ResultRecorder(store, begin=store.conversation_key)

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        """Carry out or replay one call. Raises ResultNotRecorded, and what starting the environment raises."""
        call: dict[str, Json] = {**self._identity, "tool": tool, "arguments": arguments}
        return await self._recorder.result(tool, call, lambda: self._environment.call(tool, arguments))

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        """Read or replay the state. Raises as `call` does."""
        call: dict[str, Json] = {**self._identity, "state": names}
        return await self._recorder.result(None, call, lambda: self._environment.state(names))
