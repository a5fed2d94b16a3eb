"""Tool processes of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, CallLimits, EnvironmentSpec
from pytest_fcall.conversation.execution.tool_process import ToolProcess


@asynccontextmanager
async def started(spec: EnvironmentSpec, limits: CallLimits = DEFAULT_LIMITS) -> AsyncIterator[ToolProcess]:
    process = await ToolProcess.start(spec, limits)
    try:
        yield process
    finally:
        await process.close()
