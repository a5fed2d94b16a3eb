"""What an app has asked is read when somebody looks at it."""

from __future__ import annotations

import json

import pytest

from pytest_fcall.backends.proxy.app_run import InnerRequests
from pytest_fcall.backends.proxy.forwarded_request import read_forwarded_request
from pytest_fcall.backends.recordings.entry import HttpAnswer, UnreadRecording
from pytest_fcall.core import AppExchange, Reply, Request, Usage

RECORDED = AppExchange("exam-1", Request(()), Reply("One."), "openai:exam-1", 1.5)


def unread(content: str) -> UnreadRecording:
    body = {"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    wire = HttpAnswer(200, "application/json", json.dumps(body).encode())
    return UnreadRecording("oslo", "d" * 64, Request(()), "/chat/completions", wire, 0.5, "2026-11-22T08:00:00+00:00")


@pytest.fixture
def inside() -> InnerRequests:
    inside = InnerRequests()
    inside.add(RECORDED)
    for content in ("Two.", "Three."):
        inside.add_unread(read_forwarded_request("POST", "/chat/completions", b'{"model": "exam-1"}'), unread(content))
    return inside


def test_requests_stand_in_the_order_of_their_answers(inside: InnerRequests) -> None:
    assert [inner.reply.text for inner in inside] == ["One.", "Two.", "Three."]
    assert [inner.reply.text for inner in inside[1:]] == ["Two.", "Three."]
    assert inside[-1].reply.text == "Three."
    assert len(inside) == 3


def test_what_a_provider_has_just_said_is_read_whole(inside: InnerRequests) -> None:
    assert inside[0] is RECORDED
    assert (inside[1].model, inside[1].priced_as, inside[1].recorded) == ("exam-1", "openai:exam-1", None)
    assert (inside[1].reply.usage, inside[1].reply.seconds) == (Usage(3, 2), 0.5)


def test_nothing_is_read_twice(inside: InnerRequests) -> None:
    assert inside[1] is inside[1]


def test_what_was_asked_meanwhile_is_there(inside: InnerRequests) -> None:
    asked = iter(inside)
    assert next(asked) is RECORDED
    inside.add(AppExchange("exam-1", Request(()), Reply("Four.")))
    assert [inner.reply.text for inner in asked] == ["Two.", "Three.", "Four."]
