"""The store on a server: what no file has, such as leases, a server that crashes, and one that does not answer."""

from __future__ import annotations

import base64
import json
import zlib
from asyncio import create_task, gather, run, sleep
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from threading import Event, Semaphore
from types import MappingProxyType
from typing import Any

import pytest

from pytest_fcall.backends.budget import Budget, MeteredBackend
from pytest_fcall.backends.costs import OwnPrice
from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.job import AnsweredJob, DispatchLimits, Job
from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.store import NewReply, ReplyStore, StoreError
from pytest_fcall.backends.store.address import StoreAddress
from pytest_fcall.backends.store.postgres import connection, database
from pytest_fcall.backends.store.request_claim import RequestClaim
from pytest_fcall.core import Json, Reply, Request, request_digest
from tests.hosts.conftest import PROJECT
from tests.servers.postgres import Postgres
from tests.unit.backends.store.entries import FILE, MODEL, entries, entry, found

REQUEST = Request(({"role": "user", "content": "Weather in Oslo?"},))


@pytest.fixture
def address(server_of_store: Postgres, tmp_path: Path) -> StoreAddress:
    return server_of_store.address(PROJECT, tmp_path, connect_timeout="2")


@pytest.fixture
def store(address: StoreAddress) -> Iterator[ReplyStore]:
    with closing(ReplyStore(address)) as store:
        yield store


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is gone is not waited for, and hosts say often that they are alive."""
    monkeypatch.setattr(connection, "RETURN_SECONDS", 0.0)
    monkeypatch.setattr(connection, "_BEAT", 0.02)


def test_what_was_written_outlives_a_server_that_is_killed(
    store: ReplyStore, address: StoreAddress, server_of_store: Postgres
) -> None:
    for number in range(40):
        store.put(MODEL, FILE, entry(number))
    server_of_store.kill()
    server_of_store.start()
    assert found(address, entries(range(40))) == 40
    store.put(MODEL, FILE, entry(40))
    assert found(address, entries(range(41))) == 41


def test_a_server_that_does_not_answer_is_given_up(
    quick: None,
    store: ReplyStore,
    address: StoreAddress,
    server_of_store: Postgres,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store.put(MODEL, FILE, entry("a"))
    server_of_store.pause()
    with monkeypatch.context() as patched:
        patched.setattr(connection, "PATIENCE", 0.2)  # only now: a server with other work may take as long to answer
        with pytest.raises(
            StoreError, match=r"recorded replies in postgresql://127\.0\.0\.1:\d+/postgres \(project shop\)"
        ):
            store.put(MODEL, FILE, entry("b"))
    server_of_store.resume()
    assert found(address, [entry("a")]) == 1


def test_the_claims_of_a_host_that_says_nothing_any_more_lapse(
    store: ReplyStore, address: StoreAddress, server_of_store: Postgres
) -> None:
    silent = ReplyStore(address)
    assert silent.claim("digest", "gw0")
    assert not store.claim("digest", "gw0")
    server_of_store.execute(
        "UPDATE our.processes SET until = now() WHERE name IN (SELECT process FROM our.claims)", PROJECT
    )
    assert store.claim("digest", "gw0")
    assert not silent.claim("digest", "gw0")
    silent.put(MODEL, FILE, entry("late"))
    silent.close()
    assert not server_of_store.execute("SELECT * FROM our.claims WHERE digest <> 'digest'", PROJECT)


def test_a_host_at_work_says_that_it_is_alive(
    quick: None, store: ReplyStore, server_of_store: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats = Semaphore(0)
    beat = database.ServerDatabase._say_alive

    def counted(self: database.ServerDatabase, over: connection.Connection) -> None:
        beat(self, over)
        beats.release()

    monkeypatch.setattr(database.ServerDatabase, "_say_alive", counted)
    assert store.claim("digest", "gw0")
    first = server_of_store.execute("SELECT until FROM our.processes", PROJECT)
    while beats.acquire(blocking=False):
        pass
    assert all(beats.acquire(timeout=10) for _ in range(2))  # one of them began after the look
    assert first < server_of_store.execute("SELECT until FROM our.processes", PROJECT)


def test_what_the_server_did_not_take_is_taken_in_by_the_next_run(
    quick: None, address: StoreAddress, server_of_store: Postgres
) -> None:
    server_of_store.stop()
    with closing(ReplyStore(address)) as store:
        with pytest.raises(StoreError):
            store.try_out()
        rescued = store.rescue(NewReply(MODEL, FILE, each) for each in entries(range(20)))
        assert rescued.parent == address.folder == store.folder
        assert (store.find(entry(1).digest), len(store.faults)) == (None, 1)
    server_of_store.start()
    with closing(ReplyStore(address)) as store:
        assert sorted(each.entry.case for each in store.replies(MODEL, FILE)) == sorted(map(str, range(20)))
    assert not rescued.exists()


def test_a_file_that_the_server_refuses_stops_nobody_and_is_told(address: StoreAddress) -> None:
    with closing(ReplyStore(address)) as store:
        rescued = store.rescue([NewReply(MODEL, FILE, entry("a"))])
    catalogue, reply = rescued.read_text().splitlines()
    names, line = json.loads(reply)[:6], json.loads(reply)[6]
    names[3] = 2**70  # no number of the server, in a row that is whole by its checksum
    checksum = zlib.crc32(base64.b64decode(line[0]), zlib.crc32(repr(names).encode()))
    rescued.write_text(f"{catalogue}\n{json.dumps([*names, line, checksum])}\n")
    with closing(ReplyStore(address)) as store:
        store.put(MODEL, FILE, entry("b"))
        (fault,) = store.faults
        assert fault.message.startswith(f"the replies in {rescued} still wait for postgresql://127.0.0.1:")
    assert rescued.exists()


def test_tools_that_are_pruned_while_a_reply_with_them_is_written_are_written_again(
    store: ReplyStore, address: StoreAddress
) -> None:
    store.put(MODEL, FILE, entry("a"))
    with closing(ReplyStore(address)) as other:
        other.prune(lambda _: False)
    store.put(MODEL, FILE, entry("b"))
    assert (store.find(entry("b").digest), store.faults) == (entry("b"), ())


def test_a_row_that_was_changed_on_the_server_is_no_reply(store: ReplyStore, server_of_store: Postgres) -> None:
    store.put(MODEL, FILE, entry("a"))
    server_of_store.execute("UPDATE our.replies SET checksum = 1", PROJECT)
    assert store.find(entry("a").digest) is None
    assert "was changed" in store.faults[0].message


def test_what_dead_hosts_and_old_runs_have_left_is_deleted(store: ReplyStore, server_of_store: Postgres) -> None:
    store.try_out()
    server_of_store.execute(
        "INSERT INTO our.processes VALUES ('dead', now() - interval '2 days'), ('alive', now());"
        "INSERT INTO our.claims VALUES ('a', 'gw0', 'dead'), ('b', 'gw0', 'alive');"
        "INSERT INTO our.texts VALUES ('budget of old', '', now() - interval '2 days')",
        PROJECT,
    )
    store.try_out()
    assert server_of_store.execute("SELECT digest FROM our.claims", PROJECT) == [("b",)]
    assert server_of_store.execute("SELECT name FROM our.processes", PROJECT) == [("alive",)]
    assert server_of_store.execute("SELECT name FROM our.texts", PROJECT) == [("",)]


class PausedOnce:
    """A model: the server of the store answers nobody once it has been asked."""

    settings: Mapping[str, Json] = MappingProxyType({})
    reusable = ahead = True

    def __init__(self, server: Postgres) -> None:
        self.asked = Event()
        self._server = server

    async def complete(self, request: Request) -> Reply:
        self._server.pause()
        self.asked.set()
        return Reply("Oslo")

    async def close(self) -> None:
        """Nothing to give back."""


def test_no_event_loop_waits_for_the_server(store: ReplyStore, server_of_store: Postgres) -> None:
    store.try_out()
    backend = PausedOnce(server_of_store)
    digest = request_digest(MODEL, REQUEST)
    ledger = store.ledger("run")
    metered = MeteredBackend(backend, MODEL, OwnPrice(1, 1, 1), Budget(100, ledger))
    job = Job(MODEL, metered, REQUEST, digest, RequestClaim(digest, store, 0.0, "main"))

    def keep(arrivals: Sequence[AnsweredJob]) -> None:
        store.put_all(
            NewReply(MODEL, FILE, Recording("a", job.digest, job.request, reply, "2026-11-24"))
            for job, reply in arrivals
        )

    with closing(
        Dispatcher(DispatchLimits(rpm=100, tpm=100_000, shared=ledger), keep, remote_replies=True)
    ) as dispatcher:
        server_of_store.pause()
        reply = dispatcher.submit(job)
        for _ in range(3):  # the claim is waited for
            dispatcher.run(sleep(0)).result(10)
        assert not backend.asked.is_set()
        server_of_store.resume()
        assert backend.asked.wait(10)
        for _ in range(3):  # the cost and the reply are
            dispatcher.run(sleep(0)).result(10)
        assert not reply.done()
        server_of_store.resume()
        assert reply.result(10).text == "Oslo"
    assert store.find(digest) is not None
    assert not server_of_store.execute("SELECT * FROM our.claims", PROJECT)


def test_requests_that_are_wanted_together_are_claimed_together(
    store: ReplyStore, server_of_store: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.try_out()
    trips: list[int] = []
    together = connection.together

    def counted(*arguments: Any, **named: Any) -> Any:
        trips.append(1)
        return together(*arguments, **named)

    monkeypatch.setattr(database, "together", counted)

    async def claims() -> list[tuple[bool, Reply | None]]:
        first = create_task(store.claim_or_find("first", "gw0", 0.0))
        await sleep(0)
        others = [create_task(store.claim_or_find(f"digest {number}", "gw0", 0.0)) for number in range(50)]
        await sleep(0)
        server_of_store.resume()
        return await gather(first, *others)

    server_of_store.pause()
    assert run(claims()) == [(True, None)] * 51
    assert len(trips) <= 2


def test_a_request_that_was_answered_meanwhile_is_claimed_with_its_reply(store: ReplyStore) -> None:
    kept = entry("a")
    store.put(MODEL, FILE, kept)
    assert run(store.claim_or_find(kept.digest, "gw0", 0.0)) == (True, kept.reply)
    assert run(store.claim_or_find(kept.digest, "gw1", 0.0)) == (False, None)
    store.release(kept.digest, "gw0")
    assert store.claim(kept.digest, "gw1")


def test_a_process_has_one_connection(server_of_store: Postgres, tmp_path: Path) -> None:
    with closing(ReplyStore(server_of_store.address(PROJECT, tmp_path, application_name="one"))) as store:
        store.ledger("run").change("count", lambda text, _: (text, None))
        store.put(MODEL, FILE, entry("a"))
        assert store.claim("digest", "gw0")
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'one'"
        assert server_of_store.execute(count) == [(1,)]
