"""What is left to the night: cases of a test, `[by_day, by_night(other), *map(by_night, others)]`, and most rows."""

from __future__ import annotations

from functools import partial

import pytest

by_night = partial(pytest.param, marks=pytest.mark.nightly)


def is_night(config: pytest.Config) -> bool:
    """Whether there is a night to spend: `make nightly` and `make conformance` judge all rows, `make test` a part."""
    return config.getoption("--hypothesis-profile", None) in {"conformance", "nightly"}
