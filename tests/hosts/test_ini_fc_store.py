"""`fc_store`: runs whose replies are kept on a server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_fcall.backends.store.postgres import connection, tables
from tests.attacks.commands import said
from tests.forked import Run
from tests.hosts.conftest import PROJECT
from tests.integration.conftest import QUIET
from tests.integration.exam import Exam, called, towns
from tests.servers import Answer, Asked, echo
from tests.servers.postgres import CERTIFICATE, PASSWORD, Postgres


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is gone is not waited for."""
    monkeypatch.setattr(connection, "RETURN_SECONDS", 0.0)


@pytest.fixture
def ended() -> Iterator[list[Run]]:
    """Runs that must not outlive the test."""
    runs: list[Run] = []
    yield runs
    for run in runs:
        run.process.kill()
        run.process.join()


def checkout(exam: Exam, name: str) -> Path:
    """Another checkout of the project, as another host has it."""
    folder = exam.path.with_name(f"{exam.path.name}-{name}")
    shutil.copytree(exam.path, folder)
    return folder


def test_what_one_host_has_asked_another_need_not_ask(shared: Exam) -> None:
    shared.cities(*towns(20))
    shared.run().assert_outcomes(passed=20)
    assert not [*shared.path.glob(".fcall/replies*")]
    shutil.rmtree(shared.path / ".fcall")
    shared.run("--fc-replay").assert_outcomes(passed=20)
    assert len(shared.asked()) == 20


def test_workers_share_the_server(shared: Exam) -> None:
    shared.cities(*towns(30))
    shared.apart("-n2").assert_outcomes(passed=30)
    assert sorted(shared.asked()) == sorted(map(called, towns(30)))


def test_hosts_that_run_at_the_same_time_ask_each_question_once(shared: Exam, ended: list[Run]) -> None:
    shared.cities(*towns(24))
    folders = shared.path, checkout(shared, "elsewhere")
    with shared.answered_from(8):
        ended += [Run(folder, [*QUIET, shared.model, "--fc-concurrency=8"]) for folder in folders]
    assert [run.ended() for run in ended] == [0, 0]
    assert sorted(shared.asked()) == sorted(map(called, towns(24)))


def test_hosts_keep_to_one_rate(shared: Exam, ended: list[Run]) -> None:
    shared.cities(*towns(20))
    other = checkout(shared, "elsewhere")
    ended += [Run(folder, [*QUIET, shared.model, "--fc-rpm=6"]) for folder in (shared.path, other)]
    shared.server.wait_for(6)
    for run in ended:
        run.has_written("collected 20 items")
        run.interrupt()
    assert [run.ended() for run in ended] == [pytest.ExitCode.INTERRUPTED] * 2, [run.output for run in ended]
    assert len(shared.asked()) == 6


def test_projects_do_not_mix(shared: Exam, server_of_store: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    server_of_store.forget("other")
    shared.cities("Oslo")
    shared.run().assert_outcomes(passed=1)
    monkeypatch.setenv("FCALL_STORE", server_of_store.url("other"))
    shared.run().assert_outcomes(passed=1)
    assert len(shared.asked()) == 2
    (shared.path / "cases/exam.fc.yaml").unlink()
    assert said(shared.path, "record", "--prune") == (0, "deleted: 1, kept: 0\n")
    monkeypatch.setenv("FCALL_STORE", server_of_store.url(PROJECT))
    assert " 1      1 " in said(shared.path, "record", "--stats")[1]


def test_the_commands_know_the_server(shared: Exam, server_of_store: Postgres) -> None:
    place = f"postgresql://127.0.0.1:{server_of_store.port}/postgres (project {PROJECT})"
    assert said(shared.path, "record", "--stats") == (0, f"no replies are recorded in {place}\n")
    shared.cities("Oslo", "Rome")
    shared.run().assert_outcomes(passed=2)
    status, text = said(shared.path, "record", "--stats")
    assert status == 0
    assert text.splitlines()[1].startswith("      2      1 ")
    assert text.splitlines()[2].endswith(f" MB in {place}")
    assert said(shared.path, "record", "--export")[0] == 0
    assert said(shared.path, "mv", "Oslo", "Bergen")[0] == 1
    shared.cities("Rome")
    shared.run().assert_outcomes(passed=1)
    assert said(shared.path, "record", "--prune") == (0, "deleted: 1, kept: 1\n")  # Oslo is gone
    server_of_store.forget(PROJECT)
    status, text = said(shared.path, "record", "--load")
    assert (status, "2 replies, 2 new" in text) == (0, True)
    shared.cities("Oslo", "Rome")
    shared.run("--fc-replay").assert_outcomes(passed=2)
    assert len(shared.asked()) == 2


def make_newer(server: Postgres) -> str:
    server.execute("UPDATE our.version SET version = 7", PROJECT)
    return server.url(PROJECT)


def make_foreign(server: Postgres) -> str:
    server.execute("DROP TABLE our.version", PROJECT)
    return server.url(PROJECT)


def forbid(server: Postgres) -> str:
    server.execute("DROP ROLE IF EXISTS guest")
    server.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    return server.url(PROJECT, user="guest", password="guest")  # noqa: S106


def make_read_only(server: Postgres) -> str:
    return server.url(PROJECT, options="-c default_transaction_read_only=on")


UNUSABLE: dict[str, tuple[Callable[[Postgres], str], str]] = {
    "nobody listens": (lambda server: server.url(PROJECT).replace(f":{server.port}/", ":1/"), "*Connection refused*"),
    "a wrong password": (
        lambda server: server.url(PROJECT, password=PASSWORD[::-1]),
        '*password authentication failed for user "fcall"*',
    ),
    "no such user": (lambda server: server.url(PROJECT, user="nobody"), '*authentication failed for user "nobody"*'),
    "no such database": (
        lambda server: server.url(PROJECT).replace("/postgres?", "/none?"),
        '*database "none" does not exist*',
    ),
    "no such parameter": (
        lambda server: server.url(PROJECT, sslmod="require"),
        "there is no parameter sslmod; see the connection parameters of PostgreSQL",
    ),
    "a wrong value": (lambda server: server.url(PROJECT, sslmode="perhaps"), '*invalid sslmode value: "perhaps"*'),
    "a certificate of nobody": (
        lambda server: server.url(PROJECT, sslmode="verify-full", sslrootcert="/nowhere.pem"),
        '*root certificate file "/nowhere.pem" does not exist*',
    ),
    "a newer version": (make_newer, "a newer pytest-fcall wrote them; update this one"),
    "tables of somebody else": (make_foreign, 'relation "catalogues" already exists'),
    "no permission": (
        forbid,
        f"the user may not do that; grant it the schema fcall_{PROJECT}, or CREATE in the database, once: *",
    ),
    "a standby": (make_read_only, "the server only reads; name the primary one"),
}


@pytest.mark.parametrize("unusable", UNUSABLE)
def test_what_cannot_be_kept_is_not_asked_for(
    shared: Exam, server_of_store: Postgres, unusable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.cities("Oslo", "Rome", "Bern")
    shared.run("-k", "Oslo").assert_outcomes(passed=1, deselected=2)
    shared.server.asked.clear()
    make, message = UNUSABLE[unusable]
    monkeypatch.setenv("FCALL_STORE", make(server_of_store))
    result = shared.run("-rN")
    text = result.stdout.str()
    assert result.ret == 10, text
    assert shared.asked() == []
    result.stdout.fnmatch_lines([f"openai:exam: recorded replies in postgresql://127.0.0.1:*: {message}"])
    status, more = said(shared.path, "record", "--prune")
    assert (status, len(more.splitlines())) == (1, 1), more
    text += more + said(shared.path, "record", "--stats")[1]
    for hidden in (PASSWORD, PASSWORD[::-1], "Traceback", "INTERNALERROR", "s3cret"):
        assert hidden not in text


def test_tls_is_what_the_address_says(shared: Exam, server_of_store: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    shared.cities("Oslo")
    url = server_of_store.url(PROJECT, sslmode="verify-full", sslrootcert=str(CERTIFICATE), application_name="by tls")
    monkeypatch.setenv("FCALL_STORE", url)
    ssl = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'by tls'"

    def answer(asked: Asked) -> Answer:
        seen.extend(server_of_store.execute(ssl))
        return echo(asked)

    seen: list[object] = []
    shared.server.default = answer
    shared.run().assert_outcomes(passed=1)
    assert set(seen) == {(True,)}


def stop(server: Postgres) -> None:
    server.stop()


def kill(server: Postgres) -> None:
    server.kill()


@pytest.mark.parametrize("moment", [1, 40])
@pytest.mark.parametrize("end", [stop, kill])
def test_what_was_paid_for_is_not_asked_for_again_where_the_server_goes_away(
    shared: Exam, server_of_store: Postgres, end: Callable[[Postgres], None], moment: int
) -> None:
    shared.cities(*towns(80))
    numbers = iter(range(1, 1000))

    def answer(asked: Asked) -> Answer:
        if next(numbers) == moment:
            end(server_of_store)
        return echo(asked)

    shared.server.default = answer
    result = shared.run("-rN", "--fc-concurrency=8")
    text = result.stdout.str()
    assert result.ret == 10, text
    assert "Traceback" not in text
    assert "wait for it in" in text or "waits for it in" in text
    assert moment <= len(shared.asked()) < moment + 3 * 8
    server_of_store.start()
    shared.run("-rN").assert_outcomes(passed=80)
    assert sorted(shared.asked()) == sorted(map(called, towns(80)))
    assert not [*shared.path.glob(".fcall/*rescued*")]


def test_a_server_that_is_started_again_is_waited_for(
    shared: Exam, server_of_store: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "RETURN_SECONDS", 30.0)
    shared.cities(*towns(40))
    numbers = iter(range(1, 1000))

    def answer(asked: Asked) -> Answer:
        if next(numbers) == 10:
            server_of_store.kill()
            server_of_store.start()
        return echo(asked)

    shared.server.default = answer
    shared.run("--fc-concurrency=4").assert_outcomes(passed=40)
    assert sorted(shared.asked()) == sorted(map(called, towns(40)))


def test_the_password_is_nowhere(shared: Exam, server_of_store: Postgres) -> None:
    shared.cities("Oslo")
    shared.shop.file("pytest.ini", f"[pytest]\nfc_store = {server_of_store.url(PROJECT).replace('%', '%')}\n")
    shared.server.default = lambda _: Answer(body=f'{{"error": "{PASSWORD}"}}'.encode(), status=400)
    result = shared.run("-vv", "--fc-report=html:report.html", "--fc-report=junit:report.xml", "--showlocals")
    written = [file.read_bytes() for file in shared.path.rglob("*") if file.is_file() and file.name != "pytest.ini"]
    assert PASSWORD.encode() not in b"".join(written)
    assert PASSWORD not in result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines([f"*replies: postgresql://127.0.0.1:{server_of_store.port}/postgres (project shop)*"])


def test_a_step_of_the_tables_is_taken_by_all_runs_to_come(
    shared: Exam, server_of_store: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.cities("Oslo")
    shared.run().assert_outcomes(passed=1)
    step = "ALTER TABLE our.catalogues ADD COLUMN note text"
    monkeypatch.setattr(tables, "MIGRATIONS", [*tables.MIGRATIONS, step])
    shared.run("--fc-replay").assert_outcomes(passed=1)
    assert server_of_store.execute("SELECT version FROM our.version", PROJECT) == [(2,)]
