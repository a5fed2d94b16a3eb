"""Servers that take batches and say anything: no traceback, no second batch, and what they say later is taken."""

from __future__ import annotations

from collections.abc import Iterator
from gzip import compress
from itertools import count
from pathlib import Path

import pytest

from pytest_fcall.backends.batch.progress import SETTLE_SECONDS
from pytest_fcall.backends.batch_server import BatchInterface
from tests.servers import Answer, Asked, Server
from tests.servers.batch_apis import BatchApi
from tests.unit.backends.batch.support import APIS, Project, name

ANSWERS = {
    "no object": Answer(b"[]"),
    "nothing": Answer(b""),
    "no text": Answer(b"\xff"),
    "numbers where texts belong": Answer(
        b'{"id": 5, "data": 5, "status": 5, "processing_status": 5, "request_counts": 5, "metadata": 5, "file": 5}'
    ),
    "ids that lead elsewhere": Answer(
        b'{"id": "../x", "name": "batches/../x", "status": "completed", "output_file_id": "../../y", "data": [5],'
        b' "file": {"name": "files/../z"}, "metadata": {"state": "SUCCEEDED", "output": {"responsesFile": "../y"}}}'
    ),
    "stages that nobody knows": Answer(
        b'{"status": "eaten", "processing_status": "eaten", "metadata": {"state": "EATEN", "output": 5}, "error": 5}'
    ),
    "lists in lists": Answer(b"[" * 100_000),
    "an endless number": Answer(b'{"a": ' + b"9" * 5_000 + b"}"),
    "a broken compression": Answer(b"no gzip", headers={"content-encoding": "gzip"}),
    "a redirect to nowhere": Answer(b"", 307, headers={"location": "file:///etc/passwd"}),
    "more than memory holds": Answer(compress(b" " * 40_000_000, 1), headers={"content-encoding": "gzip"}),
}
QUICK = ("ids that lead elsewhere",)


@pytest.fixture(params=["openai", "anthropic", "gemini"])
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Project]:
    interface: BatchInterface = request.param
    with Server(APIS[interface]()) as server:
        yield Project(tmp_path, server, interface)


class Moody:
    """A server that gives one of its answers for something else; by then it has done its part, or has not."""

    def __init__(self, api: BatchApi, fatal: int, answer: Answer, *, is_done: bool) -> None:
        self._api = api
        self._fatal = fatal
        self._answer = answer
        self._is_done = is_done
        self._numbers = count(1)

    def __call__(self, asked: Asked) -> Answer:
        if next(self._numbers) != self._fatal:
            return self._api(asked)
        if self._is_done:
            self._api(asked)
        return self._answer


@pytest.mark.parametrize("is_done", [True, False], ids=["done", "not done"])
@pytest.mark.parametrize(
    "answer",
    [pytest.param(ANSWERS[name], id=name, marks=[] if name in QUICK else [pytest.mark.nightly]) for name in ANSWERS],
)
def test_no_answer_makes_a_second_batch_or_loses_one(
    project: Project, tmp_path: Path, answer: Answer, is_done: bool
) -> None:
    for number in range(1, 8):
        project.root = tmp_path / str(number)
        project.root.mkdir()
        api = type(APIS[project.interface]())()
        api.stages = {"gemini": ["PENDING"]}.get(project.interface, ["in_progress"])
        is_redirect = answer.status == 307  # which says that nothing was done
        project.server.default = Moody(api, number, answer, is_done=is_done and not is_redirect)
        for _ in range(5):
            project.run()
            project.now += 2 * SETTLE_SECONDS
        assert sorted(api.submitted) == [name(0), name(1), name(2)], f"answer {number}"
        assert project.answered == [name(0), name(1), name(2)], f"answer {number}"
