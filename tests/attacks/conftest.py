from __future__ import annotations

from collections import Counter

import pytest

from tests.integration.conftest import asyncio_plugin, exam, mind, shop, weather

__all__ = ["asyncio_plugin", "exam", "mind", "shop", "weather"]

QUICK = {
    "test_answers": 2,
    "test_damaged_files": 3,  # damage that was not survived once: each of the three was in code of its own
    "test_file_names": 2,
    "test_import_mutants": 2,
    "test_names": 2,
    "test_secrets": 2,
    "test_stores": 2,
    "test_terminal": 2,
}
"""Files whose attempts each take a run of pytest or of a command: so many of each test belong to `make test`."""
SEEN = pytest.StashKey[Counter[str]]()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave the longer part of long tables to the night. Here they are in their own order, which is shuffled later."""
    if item.path.parent.name == "attacks" and item.path.stem in QUICK:
        seen = item.session.stash.setdefault(SEEN, Counter())
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        if seen[test] > QUICK[item.path.stem]:
            item.add_marker(pytest.mark.nightly)
