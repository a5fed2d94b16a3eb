"""pytest over SSH: workers of pytest-xdist on other hosts, and shards whose runs are merged."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_fcall.cli import main as fcall
from pytest_fcall.tracking.run_file import RunFile, read_run, run_paths
from tests.by_night import by_night
from tests.hosts import network
from tests.hosts.network import Host, Network
from tests.integration.conftest import WEATHER
from tests.integration.exam import called, prompt_of, towns, weather_in
from tests.servers import Answer, Asked, Server, echo
from tests.servers.postgres import PASSWORD, Postgres
from tests.suite_tools import WITHOUT_TOOLS

OURS = version("pytest-fcall")
KEY = "sk-0f9e8d7c6b5a49382716"
CHECKOUT = Path(__file__).parents[2]
WRONG_CLOCK = """
import datetime
import time

_right = time.time
time.time = lambda: _right() + {seconds}
time.time_ns = lambda: int(time.time() * 1e9)


class Wrong(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)


datetime.datetime = Wrong
"""
"""Python imports it as `sitecustomize`, before anything else."""

pytestmark = pytest.mark.skipif(bool(network.missing()), reason=network.missing())


@pytest.fixture(scope="module")
def hosts() -> Iterator[Network]:
    with Network() as running:
        yield running


@pytest.fixture(scope="module")
def reachable_postgres(hosts: Network) -> Iterator[Postgres]:
    """A server that the hosts reach."""
    with Postgres(hosts.here) as running:
        yield running


class Team:
    """A project, which each host has a checkout of; the model is served where all of them reach it."""

    def __init__(self, hosts: Network, server: Server, folder: Path) -> None:
        self.network = hosts
        self.hosts = hosts.hosts
        self.server = server
        self.path = folder / "shop"
        self.checkout = folder.name
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *network.driver()]),
            "OPENAI_API_KEY": KEY,
        }
        for name in ("PYTEST_ADDOPTS", "CI"):
            self.environment.pop(name, None)
        (self.path / "cases").mkdir(parents=True)
        (self.path / "pytest.ini").write_text(
            f"[pytest]\naddopts = {WITHOUT_TOOLS} -p no:cacheprovider\ntestpaths = cases\n"
        )

    @property
    def model(self) -> str:
        return f"--fc-model=openai:exam?base_url={self.server.url}"

    def cities(self, *cities: str) -> None:
        """Write one case a city, here and in the checkouts."""
        (self.path / "cases/exam.fc.yaml").write_text(WEATHER + weather_in(cities))
        self.check_out()

    def check_out(self) -> None:
        """Give each host the project as it is here, and nothing that a run has left."""
        for host in self.hosts:
            shutil.rmtree(host.home / self.checkout, ignore_errors=True)
            shutil.copytree(self.path, host.home / self.checkout, ignore=shutil.ignore_patterns(".fcall"))

    def store(self, postgres: Postgres) -> None:
        """Have all hosts share a store."""
        postgres.forget("shop")
        with (self.path / "pytest.ini").open("a") as file:
            file.write("fc_store = ${FCALL_STORE}\n")
        self.check_out()
        self.environment["FCALL_STORE"] = postgres.url("shop")
        for host in self.hosts:
            host.interpreter("python", FCALL_STORE=postgres.url("shop"))

    def tx(self, host: Host, python: str = "python", folder: str = "") -> str:
        ssh = f"ssh={host.name}//ssh_config={self.network.ssh_config}"
        return f"--tx={ssh}//python={host.home / python}//chdir={folder or self.checkout}"

    def run(self, *arguments: str, expected: int = 0) -> str:
        """Run pytest here, and return what it has said."""
        command = [sys.executable, "-m", "pytest", self.model, *arguments]
        done = subprocess.run(
            command, cwd=self.path, env=self.environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stdout + done.stderr

    def run_on_hosts(self, *arguments: str, expected: int = 0, python: str = "python") -> str:
        return self.run("-d", *(self.tx(host, python) for host in self.hosts), *arguments, expected=expected)

    def asked(self) -> list[str]:
        return sorted(map(prompt_of, self.server.asked))

    def last_run(self) -> RunFile:
        return read_run(run_paths(self.path)[-1])


@pytest.fixture
def team(hosts: Network, tmp_path: Path) -> Iterator[Team]:
    with Server(address=hosts.here) as server:
        yield Team(hosts, server, tmp_path)
    for host in hosts.hosts:
        host.interpreter("python")


def facts(run: RunFile) -> list[tuple[object, ...]]:
    """What two runs over the same cases have alike."""
    rows = run.results["results"]
    assert isinstance(rows, list)
    kept = ("nodeid", "model", "status", "asked", "usage", "file", "line", "place", "outcome", "stanza", "called")
    return [tuple(json.dumps(row[name]) for name in kept) for row in rows]


def command_lines() -> str:
    """Those of all processes of this machine, and so of all hosts."""
    texts = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            texts.append(path.read_bytes().decode(errors="replace").replace("\0", " "))
        except OSError:
            continue
    return "\n".join(texts)


def files_with(text: str, folder: Path) -> list[str]:
    found = subprocess.run(["grep", "-rlF", "-e", text, str(folder)], capture_output=True, text=True, check=False)
    return found.stdout.splitlines()


def test_workers_on_hosts_give_what_one_process_gives(team: Team) -> None:
    team.cities(*towns(8))
    seen: list[str] = []
    keys: set[str] = set()

    def answer(asked: Asked) -> Answer:
        seen.append(command_lines())
        keys.add(asked.headers.get("authorization", ""))
        return echo(asked)

    team.server.default = answer
    said = team.run_on_hosts("--fc-rpm=6000", "--fc-accept")
    assert "fcall: each host keeps the replies that it asks for in a file of its own: fc_store has them shared" in said
    assert "fcall: --fc-rpm holds for each host apart: with fc_store, for all of them together" in said
    assert team.asked() == sorted(map(called, towns(8)))
    assert all((host.home / team.checkout / ".fcall/replies.db").is_file() for host in team.hosts)
    assert "execnet" in seen[0] or "ssh" in seen[0]
    assert not any(KEY in each for each in [*seen, *keys, said])
    assert not files_with(KEY, team.network.folder)
    from_hosts = facts(team.last_run())
    assert [*team.path.glob("cases/__fcall__/*/*.accepted")]
    shutil.rmtree(team.path / ".fcall")
    shutil.rmtree(team.path / "cases/__fcall__")
    team.run("--fc-accept")
    assert facts(team.last_run()) == from_hosts


def test_hosts_share_what_a_server_keeps(team: Team, reachable_postgres: Postgres) -> None:
    team.cities(*towns(8))
    team.store(reachable_postgres)
    seen: list[str] = []

    def answer(asked: Asked) -> Answer:
        seen.append(command_lines())
        return echo(asked)

    team.server.default = answer
    first, second = team.hosts
    said = team.run("-d", team.tx(first), "--fc-rpm=6000")
    assert "each host" not in said
    assert len(team.asked()) == 8
    assert "all 8 replayed" in team.run("-d", team.tx(second))
    assert len(team.asked()) == 8
    assert [path for host in team.hosts for path in (host.home / team.checkout).glob(".fcall/*")] == []
    password = reachable_postgres.url().split(":")[2].split("@")[0]
    for host in team.hosts:
        (host.home / "python").unlink()
        assert not any(files_with(each, host.folder) for each in (PASSWORD, password))
    assert not any(PASSWORD in each or password in each for each in seen)


def test_a_host_that_is_lost_is_replaced_and_its_cases_run_elsewhere(team: Team) -> None:
    team.cities(*towns(16))
    first, lost = team.hosts
    arrived: list[Asked] = []

    def answer(asked: Asked) -> Answer:
        arrived.append(asked)
        if len(arrived) == 4:
            threading.Thread(target=lost.kill).start()
        return Answer(echo(asked).body, latency=0.1)

    team.server.default = answer
    try:
        said = team.run_on_hosts("--fc-concurrency=2", expected=1)
    finally:
        lost.start()
    assert f"fcall: worker gw1 on {lost.name} is lost: {first.name} goes on in its place" in said
    assert "INTERNALERROR" not in said
    assert "worker 'gw1' crashed while running 'cases/exam.fc.yaml::" in said
    assert "1 failed, 15 passed" in said


@pytest.mark.parametrize(
    ("count", "options"),
    [(1, ()), by_night(2, ()), (1, ("--max-worker-restart=0",))],
)
def test_a_run_that_loses_its_last_host_ends_in_words_and_keeps_what_came(
    team: Team, count: int, options: tuple[str, ...]
) -> None:
    team.cities(*towns(16))
    hosts = team.hosts[:count]
    arrived: list[Asked] = []

    def lose() -> None:
        for host in hosts:
            host.kill()

    def answer(asked: Asked) -> Answer:
        arrived.append(asked)
        if len(arrived) == 8:
            threading.Thread(target=lose).start()
        return Answer(echo(asked).body, latency=0.1)

    team.server.default = answer
    try:
        said = team.run("-d", *map(team.tx, hosts), "--fc-concurrency=2", *options, expected=2)
    finally:
        for host in hosts:
            host.start()
    kept = team.last_run()
    rows = kept.results["results"]
    assert isinstance(rows, list)
    assert "INTERNALERROR" not in said
    assert "Traceback" not in said
    assert kept.broken_off
    assert len(rows) >= 4
    crashed = re.findall("\nworker 'gw[0-9]+' crashed while running '([^']+)'", said)
    left = 16 - len({row["nodeid"] for row in rows} | set(crashed))  # which may have passed before its worker was lost
    assert f" is lost, and none goes on in its place: {left} of 16 tests have not run !" in said
    assert said.count("\n  cases/exam.fc.yaml::Town") == min(left, 10)


def test_a_host_that_is_not_there_is_named_before_anything_is_asked(team: Team) -> None:
    team.cities(*towns(2))
    first, second = team.hosts
    second.kill()
    try:
        said = team.run("-d", team.tx(first), team.tx(second), expected=4)
    finally:
        second.start()
    assert "ERROR: --tx: no worker can be started on host2: try there by hand what ssh= and python= say" in said
    said = team.run("-d", team.tx(first, "no-python"), expected=4)
    assert "ERROR: --tx: no worker can be started on host1: try there by hand what ssh= and python= say" in said
    assert not team.server.asked


def test_clocks_of_hosts_may_be_wrong(team: Team) -> None:
    team.cities(*towns(4))
    for host, hours in zip(team.hosts, (1, -1), strict=True):
        clock = host.folder / "clock"
        clock.mkdir()
        (clock / "sitecustomize.py").write_text(WRONG_CLOCK.format(seconds=3600 * hours))
        host.interpreter("wrong", packages=[clock])
    team.run_on_hosts("--fc-live", python="wrong")
    assert len(team.asked()) == 4
    assert "all 4 replayed (under 2 minutes old)" in team.run_on_hosts("--fc-max-age=10m", python="wrong")
    said = team.run_on_hosts("--fc-record=all", python="wrong")
    assert "4 asked" in said
    assert len(team.asked()) == 8


def other_version(host: Host) -> str:
    """A Python of the host whose pytest-fcall says that it is of another version."""
    packages = host.folder / "packages"
    named = packages / "pytest_fcall-0.0.7.dist-info"
    named.mkdir(parents=True, exist_ok=True)
    (named / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-fcall\nVersion: 0.0.7\n")
    (named / "entry_points.txt").write_text("[pytest11]\nfcall = pytest_fcall.plugin\n")
    host.interpreter("older", packages=[packages])
    return "older"


def test_another_version_on_a_host_is_refused(team: Team) -> None:
    team.cities(*towns(2))
    first, second = team.hosts
    said = team.run("-d", team.tx(first), team.tx(second, other_version(second)), expected=4)
    assert (
        f"ERROR: --tx: {second.home}/older on host2 has pytest-fcall 0.0.7, and here it is {OURS}: install that" in said
    )
    assert not team.server.asked


def test_copies_that_would_lose_replies_are_refused(team: Team) -> None:
    team.cities(*towns(2))
    copied = ("-d", team.tx(team.hosts[0], folder="copies"), "--rsyncdir=.", f"{team.path}/cases")
    assert "ERROR: --rsyncdir: pytest-xdist would delete" in team.run(*copied, expected=4)
    assert not team.server.asked
    assert "2 passed" in team.run(*copied, "--fc-record=off")


def shards(team: Team, folder: Path) -> list[Path]:
    """The files of the runs of two shards, one on each host."""
    folder.mkdir()
    found = []
    for number, host in enumerate(team.hosts, 1):
        host.run(f"cd {team.checkout} && ../python -m pytest '{team.model}' --fc-shard={number}/2")
        (file,) = run_paths(host.home / team.checkout)
        found.append(Path(shutil.copy(file, folder / f"{host.name}.json")))
    return found


@pytest.mark.parametrize("shared", [True, False], ids=["one store", "a store each"])
def test_shards_of_hosts_are_merged_to_one_run(
    team: Team, shared: bool, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    team.cities(*towns(8))
    if shared:
        team.store(request.getfixturevalue("reachable_postgres"))
    files = shards(team, team.path.with_name("shards"))
    merged = team.path.with_name("merged.json")
    assert fcall(["merge", *map(str, files), "-o", str(merged)]) == 0
    assert "8/8 right" in capsys.readouterr().out
    assert team.asked() == sorted(map(called, towns(8)))
    said = team.run()
    assert ("all 8 replayed" in said) is shared
    if not shared:
        assert facts(team.last_run()) == facts(read_run(merged))
    older = json.loads(files[1].read_text())
    older["provenance"]["pytest_fcall"] = "0.0.7"
    files[1].write_text(json.dumps(older))
    assert fcall(["merge", *map(str, files)]) == 2
    assert f"by different versions of pytest-fcall: {OURS} and 0.0.7" in capsys.readouterr().err
