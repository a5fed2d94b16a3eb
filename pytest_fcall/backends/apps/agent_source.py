"""An agent as a source of tools: it is imported, and asked for them, but not run."""

from __future__ import annotations

from pathlib import Path

from pytest_fcall.backends.apps.agents.app import read_agent_tools
from pytest_fcall.backends.apps.agents.known import UnreadTool, agent_kind, known_agents
from pytest_fcall.backends.apps.app_module import find_object
from pytest_fcall.core import ModelUnavailable, Tool
from pytest_fcall.core.provider_variables import with_placeholder_keys
from pytest_fcall.schema.errors import SchemaError


def agent_tools(name: str, root: Path, source: str) -> tuple[list[Tool], list[UnreadTool]]:
    """Import the agent `module:name`, and read its tools, and what it offers besides. Raises SchemaError."""
    if ":" not in name:
        raise SchemaError(f"`agent` names an object as module:name, not {name!r}", hint="such as shop.agent:agent")
    with with_placeholder_keys():
        try:
            agent = find_object(name, root)
        except ModelUnavailable as error:
            raise SchemaError(str(error).removeprefix(f"python:{name}: ")) from None
        kind = agent_kind(agent)
        if kind is None:
            message = f"this is a {type(agent).__name__}, and no agent of {known_agents()}"
            raise SchemaError(message, hint="name functions, or a list of them, by `python:`")
        try:
            return read_agent_tools(agent, kind, source)
        except SchemaError:
            raise
        except Exception as error:  # the code of a framework
            raise SchemaError(f"its tools cannot be read: {type(error).__name__}: {error}") from error
