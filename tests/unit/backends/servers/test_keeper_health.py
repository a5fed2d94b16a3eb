from __future__ import annotations

import pytest

from pytest_fcall.backends.servers.keeper import answer_at, is_ready, server_version
from tests.servers import Answer, Asked, Server, provider_error, reset


def by_path(**answers: int) -> Server:
    def answer(asked: Asked) -> Answer:
        return provider_error(answers.get(asked.path.strip("/").replace("/", "_"), 404))

    return Server(answer)


@pytest.mark.parametrize(
    ("statuses", "ready"),
    [
        ({"health": 200}, True),
        ({"health": 503, "v1_models": 200}, False),
        ({"health": 401, "v1_models": 200}, False),
        ({"v1_models": 200}, True),
        ({"health": 405, "v1_models": 401}, True),
        ({"health": 501, "v1_models": 503}, False),
        ({}, False),
    ],
)
def test_a_server_is_ready_when_it_is_healthy_or_lists_its_models(statuses: dict[str, int], ready: bool) -> None:
    with by_path(**statuses) as server:
        assert is_ready(server.url) is ready


@pytest.mark.parametrize(
    ("health", "status", "ready"),
    [
        ("/up", 204, True),
        ("/up", 404, False),
        ("/up", 503, False),
        ("/", 404, True),
        ("/", 405, True),
        ("/", 500, False),
    ],
)
def test_an_app_is_ready_when_its_own_page_is_or_when_it_has_none_at_the_root(
    server: Server, health: str, status: int, ready: bool
) -> None:
    server.default = lambda _: provider_error(status)
    assert is_ready(server.url, health) is ready


def test_what_keeps_an_app_from_being_ready_is_told(server: Server) -> None:
    server.default = lambda _: provider_error(404)
    assert answer_at(server.url, "/up") == "/up answers HTTP 404"
    assert answer_at("http://127.0.0.1:1", "/up") == "no answer at /up"


def test_what_breaks_off_or_is_not_there_is_not_ready(server: Server) -> None:
    server.default = lambda _: reset()
    assert not is_ready(server.url)
    assert not is_ready("http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"version": "0.33.0"}', "0.33.0"),
        (b'{"version": 1}', None),
        (b"1", None),
        (b"<html>", None),
        (b"[" * 9999, None),
    ],
)
def test_the_version_is_what_the_server_says(server: Server, body: bytes, told: str | None) -> None:
    server.default = lambda _: Answer(body)
    assert server_version(server.url) == told
