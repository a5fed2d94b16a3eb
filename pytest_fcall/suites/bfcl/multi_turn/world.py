"""The classes as an environment that says what the official harness says: `…bfcl.multi_turn.world:make`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fcall.suites.bfcl.source_calls import OfficialCaller, call_source
from pytest_fcall.suites.bfcl.world import Config, instances_of


def make(classes: Sequence[str], config: Config, long_context: bool) -> dict[str, Callable[..., str]]:
    """Make fresh instances. Their public methods are the tools; results and errors are told as text."""
    callees = OfficialCaller("model", instances_of(classes, config, long_context))
    return {name: _told(callees, name) for name in callees.names}


def _told(callees: OfficialCaller, name: str) -> Callable[..., str]:
    def call(**arguments: object) -> str:
        return callees.result_of(call_source(name, arguments))

    return call
