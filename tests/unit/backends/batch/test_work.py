from __future__ import annotations

from dataclasses import replace

from pytest_fcall.backends.batch.portion import server_digest
from tests.unit.backends.batch.support import Project, name


def test_all_requests_are_submitted_in_one_batch_and_answered(project: Project) -> None:
    visit = project.run()
    assert len(project.api.batches) == 1
    assert project.answered == [name(0), name(1), name(2)]
    assert [(portion.stage, results.answered, results.notes) for portion, results in visit.taken] == [("taken", 3, [])]
    assert {path.name for path in project.folder.path.iterdir()} == {"lock", f"{project.portions[0].name}.json"}


def test_what_exceeds_a_batch_goes_into_the_next(project: Project) -> None:
    project.limit = 2
    project.run()
    assert [len(batch.requests) for batch in project.api.batches.values()] == [2, 1]
    assert project.answered == [name(0), name(1), name(2)]


def test_a_batch_is_left_alone_until_it_has_ended(project: Project) -> None:
    project.api.stages = {
        "openai": ["validating", "in_progress", "finalizing"],
        "anthropic": ["in_progress"] * 3,
        "gemini": ["PENDING", "RUNNING", "RUNNING"],
    }[project.interface]
    told = [project.run().under_way[0][1].split(",")[0] for _ in range(3)]
    assert told[2] in ("finalizing", "in progress", "running")
    assert project.answered == []
    project.run()
    assert len(project.api.batches) == 1
    assert project.answered == [name(0), name(1), name(2)]


def test_what_the_address_of_the_model_brings_along_goes_with_each_request(project: Project) -> None:
    project.run()
    assert all("api-version=2026-01" in asked.path for asked in project.server.asked)


def test_a_replaced_key_is_no_other_server(project: Project) -> None:
    server = project.batch_server
    replaced = {
        name: "sk-the-next-one" if "key" in name or "auth" in name else value for name, value in server.headers.items()
    }
    assert replaced != server.headers
    assert server_digest(replace(server, headers=replaced)) == server_digest(server)
    assert server_digest(replace(server, headers={**replaced, "x-team": "2"})) != server_digest(server)
