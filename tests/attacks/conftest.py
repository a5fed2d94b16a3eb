from __future__ import annotations

from collections import Counter

import pytest

from tests.integration.conftest import asyncio_plugin, exam, mind, shop, weather

__all__ = ["asyncio_plugin", "exam", "mind", "shop", "weather"]

TABLES = {
    "test_answers",
    "test_damaged_files",
    "test_file_names",
    "test_import_mutants",
    "test_names",
    "test_secrets",
    "test_stores",
    "test_terminal",
}
"""Files whose attempts each take a run of pytest or of a command."""
QUICK = 2
"""So many attempts of each of their tests belong to `make test`."""
SEEN = pytest.StashKey[Counter[str]]()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave the longer part of long tables to the night. Here they are in their own order, which is shuffled later."""
    if item.path.parent.name == "attacks" and item.path.stem in TABLES:
        seen = item.session.stash.setdefault(SEEN, Counter())
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        if seen[test] > QUICK:
            item.add_marker(pytest.mark.nightly)
