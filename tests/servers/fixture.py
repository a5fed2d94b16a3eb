"""The fixtures `server`, and `github_server` with its API `github`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.comment_apis import GitHubApi
from tests.servers.postgres import Postgres
from tests.servers.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A server for this test alone."""
    with Server() as running:
        yield running


@pytest.fixture
def github() -> GitHubApi:
    """The API of GitHub, with a pull request that nobody has commented on."""
    return GitHubApi()


@pytest.fixture
def github_server(github: GitHubApi) -> Iterator[Server]:
    """A server of that API."""
    with Server(github) as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as server:
        yield server
