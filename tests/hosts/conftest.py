"""Several hosts, and what they share. `make test-hosts` runs these tests where all that they need is installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.integration import conftest as projects
from tests.integration.exam import Exam
from tests.servers.postgres import Postgres

if find_spec("psycopg") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    import psycopg  # noqa: F401  which must not be imported anew by each run in this process, as half of it is in C

PROJECT = "shop"
shop = projects.shop
exam = projects.exam


@pytest.fixture
def server_of_store(postgres: Postgres) -> Iterator[Postgres]:
    """The server with nothing of the project, which runs again after the test, whatever became of it."""
    postgres.forget(PROJECT)
    yield postgres
    postgres.resume()
    if not postgres.processes():
        postgres.start()


@pytest.fixture
def shared(exam: Exam, server_of_store: Postgres, monkeypatch: pytest.MonkeyPatch) -> Exam:
    """A project whose replies are kept on a server, as its configuration says."""
    monkeypatch.setenv("FCALL_STORE", server_of_store.url(PROJECT))
    exam.shop.file("pytest.ini", "[pytest]\nfc_store = ${FCALL_STORE}\n")
    return exam
