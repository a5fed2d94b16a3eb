"""`--fc-gate`, `fc_gates` and `--fc-fail`, read once."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_fcall.plugin.session import suites_of
from pytest_fcall.plugin.settings import usage_errors
from pytest_fcall.session.result.gates import Gates, read_gates

GATES = pytest.StashKey[Gates]()


def gates_of(config: pytest.Config) -> Gates:
    """The gates of the command line and of the configuration. Raises UsageError for one that cannot be read."""
    if GATES not in config.stash:
        written = [("fc_gates", text) for text in config.getini("fc_gates")]
        typed = [("--fc-gate", text) for text in config.getoption("fc_gate")]
        fail = config.getoption("fc_fail") or str(config.getini("fc_fail") or "")

        def names() -> Iterable[str]:
            from pytest_fcall.session.result.suite_scores import score_names

            return score_names(suites_of(config))

        with usage_errors(config):
            config.stash[GATES] = read_gates((*written, *typed), fail, names)
    return config.stash[GATES]
