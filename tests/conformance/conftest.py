from __future__ import annotations

import pytest
from hypothesis import settings

ASKED = pytest.StashKey[int]()
"""How many questions were put to the official checker."""

# Nine kinds of questions: 20,000 examples and some.
settings.register_profile("conformance", deadline=None, max_examples=2_300)


def is_thorough(config: pytest.Config) -> bool:
    """Whether there is a night to spend: `make conformance` judges all rows, and `make test` a part of them."""
    return bool(config.getoption("--hypothesis-profile") == "conformance")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if asked := config.stash.get(ASKED, 0):
        terminalreporter.write_line(f"{asked:,} answers were judged by the official checker and by ours.")
