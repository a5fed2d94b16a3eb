"""Plans, replies, verdicts and checkpoints in object storage: a server of S3 on this machine."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from moto.server import ThreadedMotoServer
from pyarrow import fs
from ray.cluster_utils import Cluster

from pytest_fcall.backends.cluster.answerer import Assignment, UnfitNode, package_version, part_names, prepare_node
from pytest_fcall.cli import main
from pytest_fcall.core.storage import Folder, MissingObject, StorageError, open_address
from tests.ray.conftest import counts, python
from tests.servers import Server, chat
from tests.unit.suites.bfcl.rows import case_row, decoded, forecast

MODEL = "--fc-model=openai:exam"
KEY = "AKIAEXAMPLE"
SECRET = "s3cr3t/with+signs"  # noqa: S105
CASES = 12
GOOGLE = """
import time
from gcp_storage_emulator.server import create_server

server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="team")
server.start()
print(server._api._httpd.socket.getsockname()[1], flush=True)
time.sleep(600)
"""
"""A process of its own: the library holds Python's lock while it waits for this storage."""


class Storage:
    """A server of S3, with the bucket `team`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.send("PUT", "/team")

    def send(self, method: str, path: str, data: bytes = b"") -> bytes:
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        asked.add_header("Content-Type", "text/plain")
        with urllib.request.urlopen(asked) as said:  # noqa: S310
            return bytes(said.read())

    def address(self, name: str, port: int = 0) -> str:
        return f"s3://{name}?endpoint_override=127.0.0.1:{port or self.port}&scheme=http&region=us-east-1"

    def variables(self) -> dict[str, str]:
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="session")
def served() -> Iterator[ThreadedMotoServer]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def storage(served: ThreadedMotoServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    found = Storage(served.get_host_and_port()[1])
    yield found
    found.send("POST", "/moto-api/reset-auth", b"inf")
    found.send("POST", "/moto-api/reset")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    cases = [{"id": f"c{each}", "prompt": f"Question {each}", "expect": "no_call"} for each in range(CASES)]
    (folder / "cases.fc.yaml").write_text(json.dumps({"cases": cases}), "utf-8")
    return folder


class Said(NamedTuple):
    status: int
    out: str
    err: str


def fcall(folder: Path, *given: str) -> Said:
    """What a command says; the credentials are never in it."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        try:
            status = main([*given])
        except SystemExit as end:
            status = int(end.code or 0)
    assert SECRET not in out.getvalue() + err.getvalue()
    return Said(status, out.getvalue(), err.getvalue())


def answers(plan: Iterator[str]) -> str:
    rows = [json.loads(line) for line in plan]
    replies = [{"digest": row["digest"], "reply": {"text": "Hello"}} for row in rows if "digest" in row]
    return "".join(f"{json.dumps(row)}\n" for row in replies)


@pytest.mark.parametrize("by", ["the address", "variables"])
def test_plans_and_replies_are_read_and_written_by_address(
    project: Path, storage: Storage, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    def address(name: str) -> str:
        return storage.address(name) if by == "the address" else f"s3://{name}"

    if by == "variables":
        for name, value in storage.variables().items():
            monkeypatch.setenv(name, value)
    said = fcall(project, "record", "--plan", address("team/plans/requests.jsonl"), MODEL)
    assert said == Said(0, f"s3://team/plans/requests.jsonl: {CASES} requests\n  {CASES} to openai:exam\n", "")
    with open_address(address("team/plans/requests.jsonl")) as plan:
        replies = answers(line.decode() for line in plan)
    Folder(address("team/plans")).write("replies.jsonl", replies.encode())
    taken = fcall(project, "record", "--from", address("team/plans/replies.jsonl"), MODEL)
    assert (taken.status, taken.out) == (0, f"s3://team/plans/replies.jsonl: {CASES} replies taken\n")
    assert Folder(address("team/plans")).names() == ["replies.jsonl", "requests.jsonl"]


def test_plans_in_parquet_are_as_those_of_a_file(project: Path, storage: Storage) -> None:
    assert fcall(project, "record", "--plan", storage.address("team/requests.parquet"), MODEL).status == 0
    assert fcall(project, "record", "--plan", "requests.parquet", MODEL).status == 0
    with open_address(storage.address("team/requests.parquet")) as plan:
        assert plan.read() == (project / "requests.parquet").read_bytes()


def test_verdicts_are_those_of_files(tmp_path: Path, storage: Storage) -> None:
    (tmp_path / "cases.jsonl").write_text(f"{json.dumps(case_row(forecast(city=['Oslo'])))}\n", "utf-8")
    right = {"category": "simple_python", "id": "simple_python_0", **decoded(forecast(city="Oslo"))}
    rows = "".join(f"{json.dumps(row)}\n" for row in [right] * 3000)
    (tmp_path / "rows.jsonl").write_text(rows, "utf-8")
    Folder(storage.address("team")).write("rows.jsonl", rows.encode())
    given = ["score", "--format=bfcl", "--cases=cases.jsonl"]
    for end in ("jsonl", "parquet"):
        here = fcall(tmp_path, *given, f"--output=verdicts.{end}", "rows.jsonl")
        place = storage.address(f"team/out/verdicts.{end}")
        there = fcall(tmp_path, *given, f"--output={place}", storage.address("team/rows.jsonl"))
        assert here.status == there.status == 0, there
        with open_address(place) as verdicts:
            assert verdicts.read() == (tmp_path / f"verdicts.{end}").read_bytes()
    again = fcall(tmp_path, *given, storage.address("team/out/verdicts.parquet"))
    assert "Parquet" not in again.out + again.err


def test_a_cluster_writes_its_replies_there_and_they_are_taken_again(
    project: Path, storage: Storage, server: Server, shared_cluster: Cluster
) -> None:
    server.default = lambda _: chat("Hello")
    checkpoint = storage.address("team/run-7")
    names = ("OPENAI_BASE_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED")
    handed_on = [f"--env={name}" for name in names]
    given = ["-m", "pytest_fcall.cli", "record", "--engine=ray", f"--address={shared_cluster.address}", MODEL]
    given += [f"--checkpoint={checkpoint}", *handed_on]
    said = python(project, *given, OPENAI_BASE_URL=server.url)
    assert said.returncode == 0, said.stdout + said.stderr
    assert set(counts(server).values()) == {1}
    assert part_names(Folder(checkpoint))
    (project / ".fcall" / "replies.db").unlink()
    again = python(project, *given, OPENAI_BASE_URL=server.url)
    assert again.stdout == f"{CASES} replies of an earlier run taken from s3://team/run-7\nnothing is open\n"
    with closing(sqlite3.connect(project / ".fcall" / "replies.db")) as store:
        assert store.execute("SELECT count(*) FROM replies").fetchone()[0] == CASES


def test_a_node_without_the_key_says_what_it_lacks(
    project: Path, storage: Storage, server: Server, shared_cluster: Cluster
) -> None:
    given = ["-m", "pytest_fcall.cli", "record", "--engine=ray", f"--address={shared_cluster.address}", MODEL]
    given += [f"--checkpoint={storage.address('team/run-8')}", "--env=AWS_EC2_METADATA_DISABLED"]
    said = python(project, *given, OPENAI_BASE_URL=server.url)
    assert said.returncode == 1, said.stdout + said.stderr
    assert "s3://team/run-8" in said.stderr
    assert "access is refused: check the credentials" in said.stderr
    assert SECRET not in said.stdout + said.stderr
    storage.send("POST", "/moto-api/reset-auth", b"0")
    assignment = Assignment(None, storage.address("team/run-8"), {}, 1, False, package_version())
    with pytest.raises(UnfitNode, match=r"does not see s3://team/run-8 \(access is refused.*--env=AWS_ACCESS_KEY_ID"):
        prepare_node(assignment)


@pytest.mark.parametrize("kind", ["plan", "replies", "rows", "verdicts", "checkpoint"])
@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        ("bucket", "there is no such bucket: create it, or correct the address"),
        ("key", "access is refused: check the credentials, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("server", "no server answers: check the network, and endpoint_override in the address or AWS_ENDPOINT_URL"),
    ],
)
def test_what_cannot_be_reached_is_told_with_what_to_do(
    project: Path, storage: Storage, kind: str, trouble: str, told: str
) -> None:
    bucket = "nobody" if trouble == "bucket" else "team"
    address = storage.address(f"{bucket}/x.jsonl", port=1 if trouble == "server" else 0)
    if trouble == "key":
        storage.send("POST", "/moto-api/reset-auth", b"0")
    (project / "c.jsonl").write_text(f"{json.dumps(case_row(forecast(city=['Oslo'])))}\n", "utf-8")
    (project / "r.jsonl").write_text("{}\n", "utf-8")
    score = ["score", "--format=bfcl", "--cases=c.jsonl"]
    given = {
        "plan": ["record", "--plan", address, MODEL],
        "replies": ["record", "--from", address, MODEL],
        "rows": [*score, address],
        "verdicts": [*score, f"--output={address}", "r.jsonl"],
        "checkpoint": ["record", "--engine=ray", f"--checkpoint={address}", MODEL],
    }[kind]
    said = fcall(project, *given)
    assert said.status in (1, 2)
    if trouble == "bucket" and kind in ("replies", "rows"):
        told = "there is no such file"  # S3 does not tell these apart
    assert f"s3://{bucket}/x.jsonl" in said.err
    assert told in said.err


@pytest.mark.parametrize(
    "user", [f"{KEY}:{SECRET}@", f"{KEY}:{SECRET.replace('/', '%2F')}@", f"{KEY}:{SECRET} @", f"{KEY}:{SECRET}?@"]
)
@pytest.mark.parametrize("scheme", ["s3", "gs", "nonsense"])
def test_credentials_in_an_address_are_not_shown(project: Path, storage: Storage, scheme: str, user: str) -> None:
    address = f"{scheme}://{user}team/none.jsonl?secret_key={SECRET}"
    for given in (["--plan", address], ["--from", address], ["--engine=ray", f"--checkpoint={address}"]):
        said = fcall(project, "record", *given, MODEL)
        assert said.status == 1, said
        for secret in (KEY, SECRET, SECRET.replace("/", "%2F"), SECRET[-10:]):
            assert secret not in said.out + said.err
        assert f"{scheme}://" in said.err


def test_a_user_in_the_address_opens_it_and_is_not_shown(project: Path, storage: Storage) -> None:
    address = storage.address("team/x.jsonl").replace("s3://", f"s3://{KEY}:{SECRET.replace('/', '%2F')}@")
    said = fcall(project, "record", "--plan", address, MODEL)
    assert said.out.startswith("s3://…@team/x.jsonl: ")
    assert KEY not in said.out


def test_a_folder_of_thousands_of_parts_is_listed_to_its_end(storage: Storage) -> None:
    for number in range(2100):
        storage.send("PUT", f"/team/many/part-{number}.parquet", b"x")
    assert len(part_names(Folder(storage.address("team/many")))) == 2100


def test_what_is_written_halfway_is_not_there(tmp_path: Path, storage: Storage) -> None:
    folder = Folder(storage.address("team/half"))
    with pytest.raises(KeyError):
        _write_half(folder)
    assert not folder.file_system.get_file_info(fs.FileSelector("team/half", recursive=True, allow_not_found=True))
    program = f"""
import os
from pytest_fcall.core.storage import Folder
with Folder({folder.address!r}).writer("whole") as stream:
    stream.write(b"x" * (11 << 20))
    os._exit(9)
"""
    assert python(tmp_path, "-c", program).returncode == 9
    assert folder.names() == []
    with folder.writer("whole") as stream:
        stream.write(b"x" * (11 << 20))
    assert folder.names() == ["whole"]


def _write_half(folder: Folder) -> None:
    with folder.writer("whole") as stream:
        stream.write(b"x" * (11 << 20))
        raise KeyError


def test_a_file_that_vanishes_while_it_is_read_is_told(storage: Storage) -> None:
    folder = Folder(storage.address("team"))
    folder.write("large", os.urandom(4 << 20))
    with open_address(storage.address("team/large")) as file:
        assert file.read(10)
        folder.remove("large")
        with pytest.raises(MissingObject, match=r"s3://team/large: there is no such file"):
            file.read()
    with pytest.raises(MissingObject):
        open_address(storage.address("team/large"))


@pytest.fixture(scope="session")
def google() -> Iterator[str]:
    """What comes after an address of Google's storage; it has the bucket `team`."""
    with subprocess.Popen([sys.executable, "-c", GOOGLE], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        yield f"?scheme=http&endpoint_override=127.0.0.1:{server.stdout.readline().strip()}&retry_limit_seconds=2"
        server.kill()


def test_storage_of_google_takes_the_same(project: Path, google: str) -> None:
    plan = f"gs://anonymous@team/plans/requests.jsonl{google}"
    assert fcall(project, "record", "--plan", plan, MODEL).status == 0
    with open_address(plan) as file:
        replies = answers(line.decode() for line in file)
    folder = Folder(f"gs://anonymous@team/plans{google}")
    folder.write("replies.jsonl", replies.encode())
    assert folder.names() == ["replies.jsonl", "requests.jsonl"]
    taken = fcall(project, "record", "--from", f"gs://anonymous@team/plans/replies.jsonl{google}", MODEL)
    assert taken.out == f"gs://anonymous@team/plans/replies.jsonl: {CASES} replies taken\n"


@pytest.mark.parametrize("name", ["team/none.jsonl", "nobody/x.jsonl"])
def test_what_is_not_in_storage_of_google_is_told(project: Path, google: str, name: str) -> None:
    said = fcall(project, "record", "--from", f"gs://anonymous@{name}{google}", MODEL)
    assert said.status == 1
    assert said.err == f"fcall record: cannot read gs://anonymous@{name}: there is no such file\n"


def test_a_bucket_of_google_is_not_made(google: str) -> None:
    with pytest.raises(StorageError, match=r"gs://anonymous@nobody/run: there is no such bucket: create it"):
        Folder(f"gs://anonymous@nobody/run{google}").make()
