"""What the configuration says of called functions: how far they may go."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from pytest_fcall.conversation.environments import EnvironmentGround
    from pytest_fcall.conversation.execution.limits import Limits

_ALLOWED = ("network", "programs")
_MIB = 1 << 20
_T = TypeVar("_T", int, float)


def add_world_options(parser: pytest.Parser) -> None:
    """Declare what can be set for called functions."""
    parser.addini("fc_tool_timeout", "seconds that a called function may take (default 10)")
    parser.addini(
        "fc_tool_memory", "MiB of memory that called functions may take, for each conversation (default 2048)"
    )
    parser.addini(
        "fc_tool_allow",
        "what called functions may do that is held off otherwise: network, programs (one a line)",
        type="linelist",
    )
    parser.addini(
        "fc_tool_folders", "folders outside the project that called functions may read (one a line)", type="linelist"
    )
    parser.addini(
        "fc_tool_variables", "environment variables that called functions may see (one a line)", type="linelist"
    )


GROUNDS = pytest.StashKey[dict[Path, "EnvironmentGround"]]()


def environment_ground(config: pytest.Config, case_file: Path) -> EnvironmentGround:
    """What the environments of a file's cases stand on. Raises UsageError for settings that cannot be read."""
    from pytest_fcall.conversation.environments import EnvironmentGround

    made = config.stash.setdefault(GROUNDS, {})
    folder = case_file.parent
    if folder not in made:
        made[folder] = EnvironmentGround(root=config.rootpath, folder=folder, limits=_limits(config))
    return made[folder]


def _limits(config: pytest.Config) -> Limits:
    from pytest_fcall.conversation.execution.limits import USUAL, Limits

    allowed = _lines(config, "fc_tool_allow")
    if unknown := [each for each in allowed if each not in _ALLOWED]:
        raise pytest.UsageError(f"fc_tool_allow: {unknown[0]!r} is none of {', '.join(_ALLOWED)}")
    return Limits(
        seconds=_number(config, "fc_tool_timeout", float, USUAL.seconds),
        memory=_number(config, "fc_tool_memory", int, USUAL.memory // _MIB) * _MIB,
        network="network" in allowed,
        processes="programs" in allowed,
        folders=tuple(config.rootpath / path for path in _lines(config, "fc_tool_folders")),
        variables=_variables(config),
    )


def _variables(config: pytest.Config) -> dict[str, str]:
    import os

    return {name: os.environ[name] for name in _lines(config, "fc_tool_variables") if name in os.environ}


def _lines(config: pytest.Config, name: str) -> list[str]:
    lines: list[str] = config.getini(name)
    return lines


def _number(config: pytest.Config, name: str, read: Callable[[str], _T], usual: _T) -> _T:
    text = str(config.getini(name) or "")
    if not text:
        return usual
    with suppress(ValueError):
        number = read(text)
        if 0 < number < inf:
            return number
    raise pytest.UsageError(f"{name}: {text!r} is no {'whole number' if read is int else 'number'} above 0")
