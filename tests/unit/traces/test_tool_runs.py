from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_fcall.core import Json
from pytest_fcall.traces.extraction import ToolRuns
from pytest_fcall.traces.record import Record, ToolRun
from tests.unit.traces.support import OSLO, calling, chat_call, giving, saying, user

ROME: Json = {"city": "Rome"}
RECORD = Record(
    (
        user("Oslo and Rome?"),
        calling(chat_call(OSLO, of="a"), chat_call(ROME, of="b")),
        giving("3", "a"),
        giving("timeout", "b"),
        calling(chat_call(ROME, of="c")),
        giving("20", "c"),
        saying("Cold and warm."),
    ),
    "log:1",
    trace="t",
)


def run(arguments: Json, *, id_: str = "", time: str = "1", failed: bool = False, trace: str = "t") -> ToolRun:
    given = arguments if isinstance(arguments, dict) else None
    return ToolRun(trace, "get_weather", id_, given, time, failed)


def errors(runs: Sequence[ToolRun], record: Record = RECORD) -> list[Json]:
    """The ids of the calls whose results are marked."""
    known = ToolRuns()
    for each in runs:
        known.add(each)
    return [message["tool_call_id"] for message in known.marked(record).messages if message.get("is_error")]


def test_a_run_is_known_by_the_id_of_its_call() -> None:
    assert errors([run(None, id_="b", failed=True), run(None, id_="c"), run(None, id_="a")]) == ["b"]


@pytest.mark.parametrize("reverse", [False, True])
def test_runs_without_ids_are_known_by_their_arguments_and_in_order(*, reverse: bool) -> None:
    runs = [run(OSLO, time="1"), run(ROME, time="2", failed=True), run(ROME, time="3")]
    assert errors(sorted(runs, key=lambda each: each.time, reverse=reverse)) == ["b"]


def test_runs_without_arguments_are_known_in_order() -> None:
    assert errors([run(OSLO, time="1"), run(None, time="2", failed=True), run(ROME, time="3")]) == ["b"]


@pytest.mark.parametrize(
    "runs",
    [
        [run(ROME, failed=True)],
        [run(ROME, failed=True), run(ROME, failed=True), run(ROME, failed=True)],
        [run({"city": "Bonn"}, failed=True)],
        [run(OSLO, failed=True, trace="other")],
        [run(OSLO), run(ROME), run(ROME)],
    ],
    ids=["fewer", "more", "other-arguments", "other-trace", "none-failed"],
)
def test_what_is_not_known_to_have_failed_is_not_marked(runs: list[ToolRun]) -> None:
    assert errors(runs) == []


def test_without_a_trace_nothing_is_told_of_a_run() -> None:
    assert errors([run(OSLO, failed=True, trace="")], Record(RECORD.messages, "log:1")) == []
