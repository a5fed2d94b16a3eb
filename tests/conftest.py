from __future__ import annotations

import pytest
from hypothesis import settings

from tests.suite_tools import WITHOUT_TOOLS

pytest_plugins = ["pytester", "tests.servers.fixture"]

# How long an example takes depends on who else uses the machine.
settings.register_profile("patient", deadline=None, max_examples=50)
settings.register_profile("nightly", deadline=None, max_examples=1_000)
settings.load_profile("patient")


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project on a person's machine, whose runs load of all plugins only pytest-fcall and what comes with it."""
    monkeypatch.setenv("PYTEST_ADDOPTS", WITHOUT_TOOLS)
    monkeypatch.delenv("CI", raising=False)
    return pytester
