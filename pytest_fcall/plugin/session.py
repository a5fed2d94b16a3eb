"""The session of a pytest run, and what belongs to it: registry, suites and gates, each made once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_fcall.plugin.early_proxy import ENDPOINT
from pytest_fcall.plugin.settings import settings_of, suite_settings, usage_errors
from pytest_fcall.session.extensions import Registry, suites_with_added
from pytest_fcall.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_fcall.backends.dispatch.job import DispatchProgress
    from pytest_fcall.core.extension import Suite
    from pytest_fcall.session.ask.transport import ProgressDisplay
    from pytest_fcall.session.result.gates import Gates

REGISTRY = pytest.StashKey[Registry]()
SESSION = pytest.StashKey[Session]()
_GATES = pytest.StashKey["Gates"]()
OPEN_WIRE = pytest.StashKey[ExitStack]()
"""The recording of a plain test, which ends with its call."""


def registry_of(config: pytest.Config) -> Registry:
    """The names for case files, with those that other packages add. Raises UsageError where a name is taken twice."""
    if REGISTRY not in config.stash:
        hook = config.hook
        with usage_errors(config):
            config.stash[REGISTRY] = Registry.with_added(
                backends=hook.pytest_fcall_backends(config=config),
                tool_sources=hook.pytest_fcall_tool_sources(config=config),
                comparators=hook.pytest_fcall_comparators(config=config),
                decoders=hook.pytest_fcall_decoders(config=config),
                suites=suites_of(config),
                agents=hook.pytest_fcall_agents(config=config),
                relations=hook.pytest_fcall_relations(config=config),
            )
    return config.stash[REGISTRY]


def suites_of(config: pytest.Config) -> Mapping[str, Suite]:
    """The suites that are known by now: before collection, conftest files of folders have not been read."""
    with usage_errors(config):
        return suites_with_added(config.hook.pytest_fcall_suites(config=config), suite_settings(config))


def gates_of(config: pytest.Config) -> Gates:
    """The gates of the command line and of the configuration. Raises UsageError for one that cannot be read."""
    if _GATES not in config.stash:
        from pytest_fcall.session.result.gates import read_gates

        written = [("fc_gates", text) for text in config.getini("fc_gates")]
        typed = [("--fc-gate", text) for text in config.getoption("fc_gate")]
        fail = config.getoption("fc_fail") or str(config.getini("fc_fail") or "")

        def names() -> Iterable[str]:
            from pytest_fcall.session.result.suite_scores import score_names

            return score_names(suites_of(config))

        with usage_errors(config):
            config.stash[_GATES] = read_gates((*written, *typed), fail, names)
    return config.stash[_GATES]


def session_of(config: pytest.Config) -> Session:
    """The session of a run. Raises UsageError for settings that cannot be used."""
    if SESSION not in config.stash:
        with usage_errors(config):
            endpoint = config.stash.get(ENDPOINT, None)
            session = Session(settings_of(config), registry_of(config), partial(_live_line, config), endpoint)
        config.stash[SESSION] = session
        config.add_cleanup(session.close)
    return config.stash[SESSION]


def _live_line(config: pytest.Config, progress: Callable[[], DispatchProgress], expected: int) -> ProgressDisplay:
    from pytest_fcall.plugin.progress import LiveLine

    return LiveLine(config, progress, expected)
