"""`fcall record --engine=ray` on a cluster of three nodes: whatever dies, each reply comes once and none is lost."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

from pytest_fcall.backends.cluster.answerer import part_names, read_part
from pytest_fcall.core.storage import Folder
from tests.ray.autoscaled import autoscaled_cluster
from tests.ray.conftest import NODE, counts, python
from tests.servers import Answer, Asked, Server, chat, throttled

MODEL = "--fc-model=openai:exam"
CASES = 40
DOOM = """
import os

from pytest_fcall.core import Reply


class Doom:
    settings = {}
    reusable = True
    ahead = True

    async def complete(self, request):
        text = request.messages[-1]["content"]
        with open(os.environ["FCALL_ASKED"], "a") as file:
            file.write(text + "\\n")
        if "poison" in text:
            os._exit(1)
        return Reply(text="fine")

    async def close(self):
        pass


def doom(model, root):
    return Doom()


def pytest_fcall_backends():
    return {"doom": doom}
"""


WHERE = """
import asyncio
import os

from pytest_fcall.core import Reply


class Where:
    settings = {}
    reusable = True
    ahead = True

    async def complete(self, request):
        import ray

        await asyncio.sleep(0.5)
        with open(os.environ["FCALL_ASKED"], "a") as file:
            file.write(ray.get_runtime_context().get_node_id() + "\\n")
        return Reply(text="fine")

    async def close(self):
        pass


def where(model, root):
    return Where()


def pytest_fcall_backends():
    return {"where": where}
"""


BROKEN = """
import os


class Broken:
    settings = {}
    reusable = True
    ahead = True

    async def close(self):
        pass


def broken(model, root):
    if "RAY_JOB_ID" in os.environ:
        raise KeyError("no licence on this node")
    return Broken()


def pytest_fcall_backends():
    return {"broken": broken}
"""


def write_cases(folder: Path, number: int = CASES, poison: int | None = None) -> None:
    cases = [
        {"id": f"c{each}", "prompt": f"Question {each}" + (" poison" if each == poison else ""), "expect": "no_call"}
        for each in range(number)
    ]
    (folder / "cases.fc.yaml").write_text(json.dumps({"cases": cases}), "utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    write_cases(folder)
    return folder


def arguments(cluster: Cluster, *others: str) -> list[str]:
    return ["record", "--engine=ray", f"--address={cluster.address}", MODEL, *others]


def started(project: Path, *given: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest_fcall.cli", *given],
        cwd=project,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def fcall(folder: Path, *given: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "-m", "pytest_fcall.cli", *given, **environment)


def recorded(project: Path) -> int:
    with closing(sqlite3.connect(project / ".fcall" / "replies.db")) as store:
        return int(store.execute("SELECT count(*) FROM replies").fetchone()[0])


def written(project: Path) -> set[str]:
    folder = Folder(str(project / ".fcall" / "ray"))
    return {row.digest for name in part_names(folder) for row in read_part(folder, name) if row.reply}


def test_every_node_answers_and_every_reply_is_judged(project: Path, server: Server, shared_cluster: Cluster) -> None:
    server.default = lambda _: chat("Hello")
    said = fcall(project, *arguments(shared_cluster, "--actors=3", "--env=OPENAI_BASE_URL"), OPENAI_BASE_URL=server.url)
    assert said.returncode == 0, said.stdout + said.stderr
    assert said.stdout == f"ray: 3 nodes, up to 3 actors\nround 1: {CASES} requests, {CASES} replies\nnothing is open\n"
    assert set(counts(server).values()) == {1}
    assert not written(project)
    judged = python(project, "-m", "pytest", "--fc-replay", MODEL)
    assert f"{CASES}/{CASES} right" in judged.stdout
    again = fcall(project, *arguments(shared_cluster), OPENAI_BASE_URL=server.url)
    assert again.stdout == "nothing is open\n"


def test_a_pause_that_one_actor_is_told_to_make_all_make(
    project: Path, server: Server, shared_cluster: Cluster
) -> None:
    server.script(throttled(6))
    server.default = lambda _: chat("Hello", latency=0.05)
    given = arguments(shared_cluster, "--actors=3", "--env=OPENAI_BASE_URL")
    said = fcall(project, *given, "--", "--fc-concurrency=3", OPENAI_BASE_URL=server.url)
    assert said.returncode == 0, said.stdout + said.stderr
    first, *others = server.asked
    assert first.answered is not None
    told = first.answered
    # What was on its way already may arrive; then nobody asks until the pause is over.
    during = [each for each in others if told + 3 < each.arrived < told + 5.5]
    assert not during
    assert len(others) == CASES


def test_conversations_go_on_until_nothing_is_open(project: Path, server: Server, shared_cluster: Cluster) -> None:
    turns = [{"user": "One", "expect": "no_call"}, {"user": "Two", "expect": "no_call"}]
    cases = {"cases": [{"id": "talk", "turns": turns}]}
    (project / "cases.fc.yaml").write_text(json.dumps(cases), "utf-8")
    server.default = lambda _: chat("Hello")
    given = arguments(shared_cluster, "--env=OPENAI_BASE_URL", f"--checkpoint=file://{project}/parts")
    said = fcall(project, *given, OPENAI_BASE_URL=server.url)
    assert "round 2: 1 request, 1 reply\nnothing is open\n" in said.stdout, said.stdout + said.stderr
    assert counts(server) == {"One": 1, "Two": 1}
    (project / ".fcall" / "replies.db").unlink()
    again = fcall(project, *given, OPENAI_BASE_URL=server.url)
    assert "1 reply of an earlier run taken" in again.stdout, again.stdout + again.stderr


def test_a_request_that_is_refused_is_told_and_the_others_are_answered(
    project: Path, server: Server, shared_cluster: Cluster
) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.json["messages"][-1]["content"] == "Question 7":
            return Answer(b'{"error": {"message": "too rude"}}', 400)
        return chat("Hello")

    server.default = answer
    given = arguments(shared_cluster, "--env=OPENAI_BASE_URL")
    said = fcall(project, *given, OPENAI_BASE_URL=server.url)
    assert said.returncode == 10, said.stdout + said.stderr
    assert "cases.fc.yaml::c7: openai:exam: no reply: " in said.stderr
    assert "too rude" in said.stderr
    assert said.stdout.endswith(f"round 1: {CASES} requests, {CASES - 1} replies\n1 request open\n")


def test_a_row_that_kills_whoever_asks_it_is_found_and_the_others_are_answered(
    project: Path, tmp_path: Path, shared_cluster: Cluster
) -> None:
    write_cases(project, 12, poison=5)
    (project / "conftest.py").write_text(DOOM, "utf-8")
    log = tmp_path / "asked"
    given = ["record", "--engine=ray", f"--address={shared_cluster.address}", "--fc-model=doom:x", "--env=FCALL_ASKED"]
    said = fcall(project, *given, "--actors=2", FCALL_ASKED=str(log))
    assert said.returncode == 10, said.stdout + said.stderr
    assert "cases.fc.yaml::c5: doom:x: no reply: " in said.stderr
    assert "what asked it died 5 times, the last 2 times with it alone" in said.stderr
    assert "round 1: 12 requests, 11 replies\n" in said.stdout
    assert said.stdout.endswith("1 request open\n")
    assert recorded(project) == 11
    assert log.read_text("utf-8").splitlines().count("Question 5 poison") == 5


def test_a_node_that_is_killed_loses_nothing(project: Path, server: Server, cluster: Cluster) -> None:
    server.default = lambda _: chat("Hello", latency=0.2)
    given = arguments(cluster, "--actors=3", "--actor-cpus=0.6", "--env=OPENAI_BASE_URL")
    running = started(project, *given, "--", "--fc-concurrency=3", OPENAI_BASE_URL=server.url)
    server.wait_for(CASES // 2)
    done = written(project)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 0, said
    # Ray itself says things in between.
    assert f"round 1: {CASES} requests, {CASES} replies\n" in said
    assert said.endswith("nothing is open\n")
    assert recorded(project) == CASES
    asked = counts(server)
    assert max(asked.values()) <= 2
    assert sum(number == 1 for number in asked.values()) >= len(done)


def test_a_driver_that_is_killed_goes_on_where_it_was(project: Path, server: Server, cluster: Cluster) -> None:
    server.default = lambda _: chat("Hello", latency=0.2)
    given = arguments(cluster, "--actors=3", "--env=OPENAI_BASE_URL")
    running = started(project, *given, "--", "--fc-concurrency=3", OPENAI_BASE_URL=server.url)
    server.wait_for(CASES // 2)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while (before := len(server.asked)) and time.monotonic() < deadline:
        time.sleep(1)  # the actors of a dead driver end soon
        if len(server.asked) == before:
            break
    taken = len(written(project))  # some of them are recorded, too
    assert 0 < taken < CASES
    asked = len(server.asked)
    again = fcall(project, *given, OPENAI_BASE_URL=server.url)
    assert again.returncode == 0, again.stdout + again.stderr
    assert recorded(project) == CASES
    assert len(server.asked) - asked == CASES - taken


def test_a_cluster_that_is_not_there_is_told(project: Path) -> None:
    said = fcall(project, "record", "--engine=ray", "--address=127.0.0.1:1", MODEL)
    assert said.returncode == 1, said.stdout + said.stderr
    assert said.stderr == "fcall record: no cluster of Ray answers at 127.0.0.1:1: Connection refused\n"


def test_a_cluster_that_was_here_and_is_gone_is_told(project: Path, tmp_path: Path) -> None:
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:1", "utf-8")
    said = fcall(project, "record", "--engine=ray", "--address=auto", MODEL, RAY_TMPDIR=str(tmp_path))
    assert said.returncode == 1, said.stdout + said.stderr
    assert said.stderr == (
        "fcall record: no cluster of Ray answers at 127.0.0.1:1, where one was last started on this machine: "
        "Connection refused; start it, or name another with --address=HOST:PORT\n"
    )


def test_asking_all_anew_is_refused_since_it_would_never_end(project: Path) -> None:
    said = fcall(project, "record", "--engine=ray", MODEL, "--", "--fc-record=all")
    assert said.returncode == 2, said.stdout + said.stderr
    assert said.stderr == "fcall record: --engine=ray asks what is missing; --fc-record=all does not\n"


def test_a_cluster_whose_head_dies_is_told_and_the_same_command_goes_on_elsewhere(
    project: Path, server: Server, cluster: Cluster, other_cluster: Cluster
) -> None:
    server.default = lambda _: chat("Hello", latency=0.2)
    others = ("--actors=3", "--env=OPENAI_BASE_URL")
    running = started(project, *arguments(cluster, *others), "--", "--fc-concurrency=3", OPENAI_BASE_URL=server.url)
    server.wait_for(CASES // 2)
    cluster.remove_node(cluster.head_node, allow_graceful=False)
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 1, said
    assert "is gone: its head " in said
    assert "the replies until now are kept, and the same command goes on" in said
    assert "Traceback" not in said
    kept = len(written(project))
    assert 0 < kept < CASES
    asked = len(server.asked)
    again = fcall(project, *arguments(other_cluster, *others), OPENAI_BASE_URL=server.url)
    assert again.returncode == 0, again.stdout + again.stderr
    assert recorded(project) == CASES
    assert len(server.asked) - asked == CASES - kept


def test_why_a_backend_cannot_be_made_on_a_node_is_told(project: Path, shared_cluster: Cluster) -> None:
    (project / "conftest.py").write_text(BROKEN, "utf-8")
    given = [f"--address={shared_cluster.address}", "--fc-model=broken:x"]
    said = fcall(project, "record", "--engine=ray", *given)
    assert said.returncode == 1, said.stdout + said.stderr
    assert said.stderr.endswith("KeyError: 'no licence on this node'\n")


def test_nodes_that_join_in_the_middle_answer_as_well(project: Path, tmp_path: Path) -> None:
    number = 120  # Ray takes half a minute to add actors
    write_cases(project, number)
    (project / "conftest.py").write_text(WHERE, "utf-8")
    log = tmp_path / "asked"
    log.touch()
    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    try:
        given = ["record", "--engine=ray", f"--address={cluster.address}", "--fc-model=where:x", "--env=FCALL_ASKED"]
        given += ["--actors=1:3", "--actor-cpus=1", "--", "--fc-concurrency=3"]
        running = started(project, *given, FCALL_ASKED=str(log))
        wait_for_lines(log, 3)
        assert len({*log.read_text("utf-8").split()}) == 1
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        said, _ = running.communicate(timeout=120)
    finally:
        cluster.shutdown()
    assert running.returncode == 0, said
    asked = log.read_text("utf-8").split()
    assert len({*asked}) > 1
    assert len(asked) == number
    assert said.endswith(f"round 1: {number} requests, {number} replies\nnothing is open\n")


def test_the_autoscaler_starts_nodes_for_actors_and_ends_them_afterwards(project: Path, tmp_path: Path) -> None:
    number = 120  # Ray takes half a minute to add actors
    write_cases(project, number)
    (project / "conftest.py").write_text(WHERE, "utf-8")
    log = tmp_path / "asked"
    with autoscaled_cluster() as head:
        given = ["record", "--engine=ray", "--fc-model=where:x", "--env=FCALL_ASKED"]
        given += ["--actors=1:3", "--actor-cpus=1", "--", "--fc-concurrency=3"]
        ended = fcall(project, *given, FCALL_ASKED=str(log), **head)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        count = "import ray; ray.init(logging_level='ERROR'); print(sum(each['Alive'] for each in ray.nodes()))"
        deadline = time.monotonic() + 60
        while (alive := python(project, "-c", count, **head).stdout.strip()) != "1" and time.monotonic() < deadline:
            pass
    assert alive == "1"
    asked = log.read_text("utf-8").split()
    assert len({*asked}) > 1
    assert len(asked) == number
    assert ended.stdout.endswith(f"round 1: {number} requests, {number} replies\nnothing is open\n")


def wait_for_lines(path: Path, number: int) -> None:
    deadline = time.monotonic() + 60
    while path.read_text("utf-8").count("\n") < number and time.monotonic() < deadline:
        time.sleep(0.1)
