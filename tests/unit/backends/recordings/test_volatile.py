from __future__ import annotations

import json

import pytest

from pytest_fcall.backends.proxy.forwarded_request import read_forwarded_request
from pytest_fcall.backends.recordings.volatile import NOTHING_VOLATILE, Volatile, offered_patterns
from pytest_fcall.core import Json
from pytest_fcall.core.bounded_text import VolatileError

UUIDS = ("6f1c7a52-0b5e-4f7c-9d58-2a1b3c4d5e6f", "00000000-0b5e-4f7c-9d58-2a1b3c4d5e6f")


def key(prompt: str, *patterns: str, **more: Json) -> str:
    body = {"model": "m", "messages": [{"role": "system", "content": prompt}], **more}
    return read_forwarded_request("POST", "/chat/completions", json.dumps(body).encode(), Volatile(patterns)).digest


def test_what_matches_is_no_part_of_the_key_and_all_else_is() -> None:
    day = r"\d{4}-\d\d-\d\d"
    assert key("Today is 2026-11-22.") != key("Today is 2026-11-23.")
    assert key("Today is 2026-11-22.", day) == key("Today is 2026-11-23.", day)
    assert key("Today is 2026-11-22.", day) != key("It was 2026-11-22.", day)
    assert key("Today is 2026-11-22.", day) != key("Today is .", day)


def test_a_pattern_that_matches_nowhere_changes_no_key() -> None:
    tool: Json = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    assert key("Be short.", r"\d+") == key("Be short.")
    assert key("Be short.", r"\d+", tools=[tool]) == key("Be short.", tools=[tool])


def test_what_matches_in_tools_is_no_part_of_the_key_either() -> None:
    def tools(day: str) -> list[Json]:
        return [{"type": "function", "function": {"name": "f", "description": f"Since {day}.", "parameters": {}}}]

    day = r"\d{4}-\d\d-\d\d"
    assert key("x", day, tools=tools("2026-11-22")) == key("x", day, tools=tools("2026-11-23"))


def test_what_each_pattern_matched_is_told_once() -> None:
    body: Json = {"messages": ["run 7", {"content": "run 8"}], "n": 9, "x": None}
    left, matched = Volatile([r"\d", "run", "never"]).left_out(body)
    assert matched == ((r"\d", "7"), ("run", "run"), (r"\d", "8"))
    assert "run" not in json.dumps(left)
    assert '"n": 9' in json.dumps(left)
    assert not NOTHING_VOLATILE


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(", "not a valid regular expression"),
        (r"\d*", "where nothing is"),
        ("", "where nothing is"),
        ("a" * 1001, "1,000"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_told(pattern: str, told: str) -> None:
    with pytest.raises(VolatileError, match=told):
        Volatile([pattern])


def test_a_pattern_that_takes_for_ever_ends_soon() -> None:
    with pytest.raises(VolatileError, match="takes too long on this request"):
        Volatile(["(x+x+)+y"]).left_out(["x" * 5_000])


@pytest.mark.parametrize(
    ("old", "new", "offered"),
    [
        ("Today is 2026-11-22.", "Today is 2026-11-23.", [r"\d{4}-\d\d-\d\d"]),
        ("It is 2026-11-22T08:15:00Z", "It is 2026-11-23T09:00:01.5+01:00", None),
        ("Session " + UUIDS[0], "Session " + UUIDS[1], None),
        ("in /home/ann/shop/db", "in /srv/ci/shop-2/db", None),
        ("On November 22, 2026 at 8:15 PM", "On May 3, 2027 at 11:00 AM", None),
        ("run 17 of the shop", "run 2048 of the shop", [r"run\ \d+"]),
        ("You are a poet.", "You are a pirate.", []),
        ("Today is 2026-11-22. Be short.", "Today is 2026-11-23. Be long.", []),
        ("same", "same", []),
    ],
)
def test_a_pattern_is_offered_where_it_explains_all(old: str, new: str, offered: list[str] | None) -> None:
    found = offered_patterns([(old, new), ("Hi.", "Hi.")])
    if offered is not None:
        assert list(found) == offered
    if offered != []:
        assert found
        assert key(old, *found) == key(new, *found)
