"""`--fc-shard=3/8`: this run takes one shard of the cases and tests, and other machines take the others."""

from __future__ import annotations

import pytest

from pytest_fcall.session.settings import Shard


class Sharding:
    """Deselects the tests of other shards. Cases of other shards have not been built."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the tests of other shards."""
        others = [item for item in items if not self._shard.includes(item.nodeid)]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if self._shard.includes(item.nodeid)]
