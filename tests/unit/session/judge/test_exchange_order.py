"""The order in which an app's requests are judged and kept: their own, and none that is otherwise each time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import AppExchange, Call, Json, Message, RawCall, Reply, Request
from pytest_fcall.session.judge.baseline_wire import wire_of
from pytest_fcall.tracking.acceptance import Acceptance, accept
from pytest_fcall.tracking.stanza import Stanza

FIRST = Acceptance("2026-11-01", {"date": "2026-11-01"})
LATER = Acceptance("2026-11-21", {"date": "2026-11-21"})


def exchange(*said: str, begun: float, ended: float, called: str = "", **settings: Json) -> AppExchange:
    """A request of these messages; its reply calls what the last of them says, or `called`."""
    messages: list[Message] = [{"role": "user", "content": each} for each in said]
    reply = Reply(tool_calls=(RawCall(called or said[-1], "{}"),), seconds=ended - begun)
    return AppExchange("gpt", Request(tuple(messages), (), settings), reply, ended=ended)


def names(exchanges: Sequence[AppExchange]) -> list[str]:
    """What the kept requests call, in their order."""
    return [call.name for request in wire_of(exchanges, {}) or () for call in request.calls or ()]


def test_requests_one_after_the_other_keep_their_order() -> None:
    asked = [exchange(name, begun=at, ended=at + 1) for at, name in enumerate(["search", "book", "cancel"], start=100)]
    assert names(asked) == ["search", "book", "cancel"]


def test_recordings_of_other_days_keep_the_order_in_which_they_were_replayed() -> None:
    asked = [exchange("search", begun=900, ended=901), exchange("book", begun=100, ended=101)]
    assert names(asked) == ["search", "book"]


def test_requests_of_unknown_times_keep_their_order() -> None:
    assert names([replace(exchange(name, begun=0, ended=1), ended=0.0) for name in "ba"]) == ["b", "a"]


def test_parallel_requests_stay_between_the_one_before_and_the_one_after() -> None:
    plan, end = exchange("plan", begun=100, ended=101), exchange("end", begun=110, ended=111)
    oslo, rome = exchange("oslo", begun=102, ended=104), exchange("rome", begun=103, ended=105)
    assert names([plan, oslo, rome, end]) == names([plan, rome, oslo, end]) == ["plan", "oslo", "rome", "end"]


def test_each_of_two_parallel_conversations_keeps_its_order_whichever_is_faster() -> None:
    def asked(slow: str, fast: str) -> list[AppExchange]:
        return [
            exchange(fast, begun=100, ended=101, called=f"{fast}1"),
            exchange(fast, "go on", begun=102, ended=103, called=f"{fast}2"),
            exchange(slow, begun=100, ended=109, called=f"{slow}1"),
            exchange(slow, "go on", begun=110, ended=119, called=f"{slow}2"),
        ]

    assert names(asked("b", "a")) == names(asked("a", "b")) == ["a1", "b1", "a2", "b2"]


def test_a_continued_response_stays_behind_what_came_before_it() -> None:
    first, other = exchange("z", begun=100, ended=101), exchange("y", begun=100, ended=109)
    then = exchange("a", begun=102, ended=103, previous_response_id="resp_1")
    assert names([first, then, other]) == ["y", "z", "a"]


ARGUMENTS = st.dictionaries(st.text(max_size=3), st.integers() | st.booleans() | st.text(max_size=3), max_size=4)


@st.composite
def parallel_requests(draw: st.DrawFn) -> tuple[list[AppExchange], list[AppExchange]]:
    """The same parallel requests twice, in two orders of arrival, with the arguments of the calls in two orders."""
    contents = draw(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), ARGUMENTS), max_size=5))

    def run() -> list[AppExchange]:
        exchanges = []
        for place, (said, name, arguments) in enumerate(draw(st.permutations(contents))):
            written = json.dumps(dict(draw(st.permutations(list(arguments.items())))))
            asked = exchange(said, begun=100, ended=200 + place)
            exchanges.append(replace(asked, reply=replace(asked.reply, tool_calls=(RawCall(name, written),))))
        return exchanges

    return run(), run()


@given(parallel_requests())
def test_what_is_kept_of_parallel_requests_is_the_same_bytes_however_they_arrive(
    tmp_path_factory: pytest.TempPathFactory, runs: tuple[list[AppExchange], list[AppExchange]]
) -> None:
    first, second = (Stanza("oslo", True, calls=(Call("f", {}),), wire=wire_of(run, {})) for run in runs)
    folder = tmp_path_factory.mktemp("kept")
    accept(folder / "first.accepted", [first], FIRST)
    accept(folder / "second.accepted", [second], FIRST)
    assert (folder / "first.accepted").read_bytes() == (folder / "second.accepted").read_bytes()

    before = (folder / "first.accepted").stat()
    assert accept(folder / "first.accepted", [second], LATER) == []
    assert (folder / "first.accepted").stat() == before
