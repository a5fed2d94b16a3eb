from __future__ import annotations

import pytest
from hypothesis import given

from pytest_fcall.core import Call
from pytest_fcall.tracking.differences import wire_differences
from pytest_fcall.tracking.stanza import StanzaRequest
from tests.unit.tracking.stanzas import WIRE

SEARCH = StanzaRequest(
    "gpt", (Call("search", {"to": "Oslo"}),), {"system": "1", "prompt": "2", "tool:search": "3" * 16}
)
BOOK = StanzaRequest("gpt", (Call("book", {"flight": "F7"}),), {"system": "1", "prompt": "4", "tool:search": "3" * 16})
SAY = StanzaRequest("gpt", (), {"system": "1", "prompt": "5"})


def asked_otherwise(request: StanzaRequest, **digests: str) -> StanzaRequest:
    return request._replace(digests={**request.digests, **digests})


@pytest.mark.parametrize(
    ("new", "lines"),
    [
        ((SEARCH, BOOK), []),
        ((BOOK, SEARCH), []),
        ((SEARCH, BOOK, SAY), ["request 3 to gpt is new"]),
        ((SEARCH, SEARCH, BOOK), ['request 2 to gpt is new: search("to": "Oslo")']),
        ((SEARCH,), ['request 2 to gpt is gone: book("flight": "F7")']),
        ((), ['request 1 to gpt is gone: search("to": "Oslo")', 'request 2 to gpt is gone: book("flight": "F7")']),
        (
            (asked_otherwise(SEARCH, system="9"), asked_otherwise(BOOK, system="9")),
            ["requests 1, 2: the system prompt changed"],
        ),
        ((asked_otherwise(SEARCH, prompt="9"), asked_otherwise(BOOK, prompt="8")), ["request 1: the prompt changed"]),
        (
            (SEARCH, asked_otherwise(BOOK, **{"tool:search": "9" * 8 + "3" * 8})),
            ["request 2: the description of search changed"],
        ),
        ((SEARCH._replace(model="mini"), BOOK), ["request 1: goes to mini instead of gpt"]),
        (
            (SEARCH._replace(calls=(Call("search", {"to": "Rome"}),)), asked_otherwise(BOOK, prompt="8")),
            ["request 1: calls[0].args.to: 'Oslo' → 'Rome'"],
        ),
        ((SEARCH._replace(calls=None), BOOK), ["request 1: its reply can no longer be read"]),
    ],
)
def test_what_an_app_asks_otherwise_is_told_by_its_number(new: tuple[StanzaRequest, ...], lines: list[str]) -> None:
    assert wire_differences((SEARCH, BOOK), new) == lines


def test_a_reply_that_can_be_read_again_is_told() -> None:
    assert wire_differences((SAY._replace(calls=None),), (SAY,)) == ["request 1: its reply can now be read"]


@given(WIRE)
def test_nothing_changed_in_what_is_the_same(wire: tuple[StanzaRequest, ...]) -> None:
    assert wire_differences(wire, wire[::-1]) == []
