"""The choice of an environment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pytest_fcall.conversation.environments.ground import EnvironmentGround
from pytest_fcall.conversation.environments.http.environment import open_http
from pytest_fcall.conversation.environments.kept import Kept
from pytest_fcall.conversation.environments.lasting import Lasting
from pytest_fcall.conversation.environments.mcp import open_mcp
from pytest_fcall.conversation.environments.offered import Offered, source_name
from pytest_fcall.conversation.environments.retold import Retold
from pytest_fcall.conversation.execution.limits import Behind, Limits
from pytest_fcall.conversation.execution.worker import Worker, WorldFailed, WorldLacking
from pytest_fcall.core import Environment, Needs, Tool, World, digest

_NOT_SET_UP: Final = ("python", "mcp")


async def open_environment(world: World, tools: Sequence[Tool], ground: EnvironmentGround) -> Environment:
    """Make what stands behind the tools of one conversation: fresh, and closed by whoever opened it.

    Raises WorldFailed, with a text for people, where that cannot be done. Tools that `world` answers by a stub need
    nothing behind them.
    """
    called = [tool for tool in tools if tool.name not in world.stubs]
    names = {tool.name: tool.name for tool in called}
    if world.setup and world.environment in _NOT_SET_UP:
        raise WorldFailed(f"`environment: {world.environment}` has nothing to be set up: leave `setup` out")
    match world.environment:
        case None:
            raise WorldFailed("the case names no `environment`")
        case "python":
            behind = Behind(ground.root, functions={tool.name: _function(tool) for tool in called})
        case "mcp":
            return Offered(names, await open_mcp(called, ground))
        case "http":
            return Offered(names, await open_http(world, called, ground))
        case environment:
            names = {tool.name: source_name(tool) for tool in called}
            behind = Behind(ground.root, environment, world.setup)
    return Offered(
        names, await _kept(world, partial(_started, world.needs or Needs(), behind, ground.limits), ground.kept)
    )


async def _kept(world: World, start: Callable[[], Awaitable[Environment]], kept: Kept | None) -> Environment:
    """What is started, or looks up what it said before; that is started only when it is needed."""
    if kept is not None and world.kept == "for_ever":
        return Lasting(str(world.environment), start, kept)
    if kept is not None and world.kept == "in_order":
        return Retold({"environment": world.environment, "setup": digest(world.setup)}, start, kept)
    return await start()


async def _started(needs: Needs, behind: Behind, limits: Limits) -> Environment:
    if needs.lacking:
        raise WorldLacking(needs.lacking)
    return await Worker.start(
        behind,
        replace(
            limits,
            memory=max(limits.memory, needs.memory),
            folders=(*limits.folders, *map(Path, needs.folders)),
            variables={**limits.variables, **needs.variables},
        ),
    )


def _function(tool: Tool) -> str:
    """Where the function stands that is the tool."""
    target = (tool.origin or {}).get("python")
    if isinstance(target, str):
        return target
    raise WorldFailed(
        f"`environment: python` calls functions, and the tool `{tool.name}` is none: take it from a `python:` source, "
        "or give it a stub"
    )
