from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["pytester", "tests.servers.fixture"]

# How long an example takes depends on who else uses the machine.
settings.register_profile("patient", deadline=None, max_examples=50)
settings.load_profile("patient")
