"""The classes as an environment with the official harness's texts: `pytest_fcall.suites.bfcl.multi_turn.world:make`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fcall.suites.bfcl.source_calls import OfficialCaller, call_source
from pytest_fcall.suites.bfcl.world import Config, instances_of


def make(classes: Sequence[str], config: Config, long_context: bool) -> dict[str, Callable[..., str]]:
    """Make new instances. Their public methods are the tools; results and errors are text."""
    caller = OfficialCaller("model", instances_of(classes, config, long_context))
    return {name: _tool(caller, name) for name in caller.names}


def _tool(caller: OfficialCaller, name: str) -> Callable[..., str]:
    return lambda **arguments: caller.run(call_source(name, arguments))
