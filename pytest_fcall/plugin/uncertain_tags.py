"""Faulty cases whose tags are not certain, kept by a selection by tags: they may be meant, and nothing judges them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from pytest_fcall.core.case import FaultyCase
from pytest_fcall.plugin.item import CaseItem


@contextmanager
def uncertain_cases_kept(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Hold these cases back while others select among `items`, and put them where they were.

    Whatever else selects by names, as `-k` and `--deselect` do, selects among them, too.
    """
    before = list(items)
    held = list(filter(_may_be_meant, items))
    items[:] = [item for item in items if not _may_be_meant(item)]
    yield
    if held:
        _select_by_names(config, held)
        _put_back(items, held, before)


def _may_be_meant(item: pytest.Item) -> bool:
    return isinstance(item, CaseItem) and isinstance(item.case, FaultyCase) and not item.case.has_all_tags


def _select_by_names(config: pytest.Config, held: list[pytest.Item]) -> None:
    if (mark := config.pluginmanager.get_plugin("mark")) is not None:
        mark.deselect_by_keyword(held, config)
    prefixes = tuple(config.getoption("deselect") or ())
    if others := [item for item in held if item.nodeid.startswith(prefixes)]:
        config.hook.pytest_deselected(items=others)
        held[:] = [item for item in held if item not in others]


def _put_back(items: list[pytest.Item], held: Sequence[pytest.Item], before: Sequence[pytest.Item]) -> None:
    """Put each behind the item that it was behind, as far as that is left."""
    selected, kept = set(items), set(held)
    behind: defaultdict[pytest.Item | None, list[pytest.Item]] = defaultdict(list)
    leader: pytest.Item | None = None
    for item in before:
        if item in selected:
            leader = item
        elif item in kept:
            behind[leader].append(item)
    items[:] = [*behind[None], *(each for item in items for each in (item, *behind[item]))]
