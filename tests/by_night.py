"""Cases of a test that are left to the night: `[by_day, by_night(other), *map(by_night, others)]`."""

from __future__ import annotations

from functools import partial

import pytest

by_night = partial(pytest.param, marks=pytest.mark.nightly)
