"""`--fc-shard=3/8`: this run takes its share of the cases and tests, and other machines take theirs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Shard:
    """Which share of how many, counted from 1."""

    number: int
    of: int

    def takes(self, nodeid: str) -> bool:
        """Whether a case or test belongs to this share. Nothing but its name decides, so all machines agree."""
        return int(hashlib.sha256(nodeid.encode("utf-8", "replace")).hexdigest(), 16) % self.of == self.number - 1


SHARD = pytest.StashKey[Shard | None]()


def shard_of(config: pytest.Config) -> Shard | None:
    """The share of this run; None where it takes everything. Raises UsageError for what is no share."""
    if SHARD not in config.stash:
        config.stash[SHARD] = _read(config.getoption("fc_shard"))
    return config.stash[SHARD]


def _read(text: str | None) -> Shard | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text)
    shard = Shard(int(found[1]), int(found[2])) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.of:
        raise pytest.UsageError(f"--fc-shard: {text!r} is no share; write which of how many, from 1/8 to 8/8")
    return shard


class Sharding:
    """Leaves to other shares what is theirs. Cases were left to them before they were built."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect other tests that belong to other shares."""
        others = [item for item in items if not self._shard.takes(item.nodeid)]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if self._shard.takes(item.nodeid)]
