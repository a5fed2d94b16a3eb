"""How cases are dealt to the workers of pytest-xdist."""

from __future__ import annotations

from typing import Final

import pytest

from pytest_fcall.plugin.models import named_models
from pytest_fcall.plugin.options import options

_APPS: Final = ("python", "http")


def scheduler(config: pytest.Config, log: object) -> object:
    """Deals each worker its whole part at once, for only who knows what is next asks ahead; None where nobody does.

    What one has asked another may take over at the end, and finds the reply among those that are kept. Where none are
    kept, or an app would have to answer again, portions stay where they are.
    """
    asks_ahead = any(named.live and named.model.kind not in _APPS for named in named_models(config))
    if not asks_ahead or options(config).record == "off":
        return None
    from xdist.scheduler import WorkStealingScheduling  # type: ignore[import-untyped]

    return WorkStealingScheduling(config, log)
