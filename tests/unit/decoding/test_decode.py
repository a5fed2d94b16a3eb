"""Who reads a reply."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Calls, RawCall, Reply
from pytest_fcall.decoding import DECODERS, decode

ONE = Calls((Call("f", {}),))


def shout(text: str) -> Calls:
    return Calls((Call(text.upper(), {}),))


def broken(text: str) -> Calls:
    raise KeyError(text)


def test_without_a_decoder_text_is_not_read() -> None:
    assert decode(Reply("f", (RawCall("f", "{}"),)), {"shout": shout}) == ONE


def test_the_decoder_that_the_reply_names_reads_the_text() -> None:
    assert decode(Reply("f", decoder="shout"), {"shout": shout}) == Calls((Call("F", {}),))


def test_an_unknown_decoder_is_malformed_and_the_known_ones_are_named() -> None:
    assert decode(Reply("f", decoder="shot"), {"shout": shout}) == Calls(
        malformed="There is no decoder `shot`; known are `json`, `shout`."
    )


def test_a_decoder_that_raises_is_named() -> None:
    assert "`broken` failed: KeyError" in str(decode(Reply("f", decoder="broken"), {"broken": broken}).malformed)


def test_a_decoder_that_gives_something_else_is_named() -> None:
    calls = decode(Reply("f", decoder="list"), {"list": list})  # type: ignore[dict-item]  # the mistake under test
    assert "gave list, not Calls" in str(calls.malformed)


def test_native_calls_beside_a_decoder_are_noted() -> None:
    calls = decode(Reply("[]", (RawCall("f", "{}"),), decoder="json"))
    assert calls.calls == ()
    assert "native tool calls" in calls.notes[0]


def test_the_table_of_decoders_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        DECODERS["mine"] = shout  # type: ignore[index]  # that is the point
