from __future__ import annotations

import pytest
from hypothesis import settings

ASKED = pytest.StashKey[int]()
"""How many questions were put to the official checker."""

# Nine kinds of questions: 20,000 examples and some.
settings.register_profile("conformance", deadline=None, max_examples=2_300)


def is_thorough(config: pytest.Config) -> bool:
    """Whether there is a night to spend: `make nightly` and `make conformance` judge all rows, `make test` a part."""
    return config.getoption("--hypothesis-profile") in {"conformance", "nightly"}


@pytest.fixture(scope="session")
def every(pytestconfig: pytest.Config) -> int:
    """Of how many rows of the corpus one is judged."""
    return 1 if is_thorough(pytestconfig) else 5


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if asked := config.stash.get(ASKED, 0):
        terminalreporter.write_line(f"{asked:,} answers were judged by the official checker and by ours.")
