"""The environments that carry out the calls of a conversation, by kind. `open_environment` chooses one for a case.

An environment that cannot be opened raises EnvironmentFailed; a call that fails has its error as the result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pytest_fcall.conversation.environments.context import EnvironmentContext, source_name
from pytest_fcall.conversation.environments.recorded_results import ResultNotRecorded, ResultStore, StoredResults
from pytest_fcall.conversation.environments.wrappers import CachedEnvironment, OfferedTools, ReplayedEnvironment
from pytest_fcall.conversation.execution.limits import (
    EnvironmentFailed,
    EnvironmentSpec,
    EnvironmentUnavailable,
)
from pytest_fcall.core import ConversationSettings, Environment, EnvironmentNeeds, Tool, digest

__all__ = [
    "EnvironmentContext",
    "EnvironmentFailed",
    "EnvironmentUnavailable",
    "ResultNotRecorded",
    "ResultStore",
    "StoredResults",
    "open_environment",
]

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

            return OfferedTools(names, await open_mcp(called, context))
        case "http":
            from pytest_fcall.conversation.environments.http import open_http

            return OfferedTools(names, open_http(settings, called, context))
        case environment:
            names = {tool.name: source_name(tool) for tool in called}
            spec = EnvironmentSpec(context.root, environment, settings.setup)
    start = partial(_start_process, settings.needs or EnvironmentNeeds(), spec, context)
    return OfferedTools(names, await _recorded(settings, start, context.result_store))


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
