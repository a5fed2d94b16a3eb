"""Distribution of cases over the workers of pytest-xdist."""

from __future__ import annotations

from typing import Final

import pytest

from pytest_fcall.plugin.settings import settings_of

APPS: Final = ("python", "http")
"""Kinds of models that are apps: they run again whatever is recorded."""


def scheduler(config: pytest.Config, log: object) -> object:
    """A scheduler that gives each worker its whole part at once, so that it can ask ahead; None where none asks ahead.

    A worker that takes a case over finds the reply among the recordings. So where nothing is recorded, where an app
    would have to answer again, and where hosts record each for itself, pytest-xdist deals the cases as usual.
    """
    settings = settings_of(config)
    asks_ahead = any(named.live and named.model.kind not in APPS for named in settings.models)
    if not asks_ahead or settings.record == "off":
        return None
    from pytest_fcall.plugin.remote_workers import has_other_hosts, keep_replies_apart

    if has_other_hosts(config) and keep_replies_apart(settings):
        return None
    from xdist.scheduler import WorkStealingScheduling  # type: ignore[import-untyped]  # it has no types

    return WorkStealingScheduling(config, log)
