"""The places of a store. A server is one of them where its driver is installed, as `make test-hosts` has it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import count

import pytest

from pytest_fcall.backends.store import store_path
from pytest_fcall.backends.store.address import StorePlace
from tests.servers.postgres import Postgres

STORES = ["sqlite", "postgres"] if find_spec("psycopg") else ["sqlite"]
_NUMBERS = count(1)


@pytest.fixture(scope="module", params=STORES)
def new_place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], StorePlace]:
    """Makes places with nothing in them."""
    if request.param == "sqlite":
        return lambda: store_path(tmp_path_factory.mktemp("project"))
    server: Postgres = request.getfixturevalue("postgres")
    return lambda: server.address(f"store-{next(_NUMBERS)}", tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def used_place(new_place: Callable[[], StorePlace]) -> StorePlace:
    """A place that may have anything in it: to make one takes longer than to use it."""
    return new_place()


@pytest.fixture
def place(new_place: Callable[[], StorePlace]) -> StorePlace:
    """A place with nothing in it."""
    return new_place()
