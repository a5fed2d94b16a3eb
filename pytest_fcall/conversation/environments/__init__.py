"""The environments that carry out the calls of a conversation, kind by kind. `open_environment` chooses by the case.
An environment that cannot be opened raises EnvironmentFailed; a call that fails gives its error as the result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pytest_fcall.conversation.environments.context import EnvironmentContext, OfferedTools, source_name
from pytest_fcall.conversation.environments.http import open_http
from pytest_fcall.conversation.environments.mcp import open_mcp
from pytest_fcall.conversation.environments.recorded_results import (
    CachedEnvironment,
    ReplayedEnvironment,
    ResultNotRecorded,
    ResultStore,
    StoredResults,
)
from pytest_fcall.conversation.execution.limits import EnvironmentSpec, Limits
from pytest_fcall.conversation.execution.tool_process import EnvironmentFailed, EnvironmentUnavailable, ToolProcess
from pytest_fcall.core import Environment, EnvironmentNeeds, Tool, World, digest

__all__ = [
    "EnvironmentContext",
    "EnvironmentFailed",
    "EnvironmentUnavailable",
    "ResultNotRecorded",
    "ResultStore",
    "StoredResults",
    "open_environment",
]


_NOT_SET_UP: Final = ("python", "mcp")


async def open_environment(world: World, tools: Sequence[Tool], ground: EnvironmentContext) -> Environment:
    """Make what stands behind the tools of one conversation: fresh, and closed by whoever opened it.

    Raises WorldFailed, with a text for people, where that cannot be done. Tools that `world` answers by a stub need
    nothing behind them.
    """
    called = [tool for tool in tools if tool.name not in world.stubs]
    names = {tool.name: tool.name for tool in called}
    if world.setup and world.environment in _NOT_SET_UP:
        raise EnvironmentFailed(f"`environment: {world.environment}` has nothing to be set up: leave `setup` out")
    match world.environment:
        case None:
            raise EnvironmentFailed("the case names no `environment`")
        case "python":
            behind = EnvironmentSpec(ground.root, functions={tool.name: _function_target(tool) for tool in called})
        case "mcp":
            return OfferedTools(names, await open_mcp(called, ground))
        case "http":
            return OfferedTools(names, await open_http(world, called, ground))
        case environment:
            names = {tool.name: source_name(tool) for tool in called}
            behind = EnvironmentSpec(ground.root, environment, world.setup)
    return OfferedTools(
        names,
        await _recorded(
            world, partial(_started, world.needs or EnvironmentNeeds(), behind, ground.limits), ground.kept
        ),
    )


async def _recorded(world: World, start: Callable[[], Awaitable[Environment]], kept: ResultStore | None) -> Environment:
    """What is started, or looks up what it said before; that is started only when it is needed."""
    if kept is not None and world.kept == "for_ever":
        return CachedEnvironment(str(world.environment), start, kept)
    if kept is not None and world.kept == "in_order":
        return ReplayedEnvironment({"environment": world.environment, "setup": digest(world.setup)}, start, kept)
    return await start()


async def _started(needs: EnvironmentNeeds, behind: EnvironmentSpec, limits: Limits) -> Environment:
    if needs.missing:
        raise EnvironmentUnavailable(needs.missing)
    return await ToolProcess.start(
        behind,
        replace(
            limits,
            memory=max(limits.memory, needs.memory),
            folders=(*limits.folders, *map(Path, needs.folders)),
            variables={**limits.variables, **needs.variables},
        ),
    )


def _function_target(tool: Tool) -> str:
    """Where the function stands that is the tool."""
    target = (tool.origin or {}).get("python")
    if isinstance(target, str):
        return target
    raise EnvironmentFailed(
        f"`environment: python` calls functions, and the tool `{tool.name}` is none: take it from a `python:` source, "
        "or give it a stub"
    )
