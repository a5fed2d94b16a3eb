from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from pytest_fcall.conversation.environments.context import ResultNotRecorded
from pytest_fcall.conversation.environments.environment import ReplayedEnvironment
from pytest_fcall.core import CallResult, Json
from tests.unit.conversation.environments.result_store import MemoryStore


@dataclass
class Counter:
    """Counts its calls."""

    calls: int = 0
    closed: bool = False

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        self.calls += 1
        return CallResult(self.calls)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        return CallResult({"calls": self.calls, "names": names})

    async def close(self) -> None:
        self.closed = True


async def started() -> Counter:
    return Counter()


async def unstarted() -> Counter:
    raise AssertionError("nothing is started offline")


def talk(environment: ReplayedEnvironment, tools: Sequence[str] = ("add", "add")) -> list[Json]:
    async def all_of_it() -> list[CallResult]:
        said = [await environment.call(tool, {"to": "tea"}) for tool in tools]
        said.append(await environment.state(["calls"]))
        await environment.close()
        return said

    return [each.value for each in asyncio.run(all_of_it())]


def retold(shelf: MemoryStore, *, left: Json = None) -> ReplayedEnvironment:
    named: dict[str, Json] = {"environment": "notes:make", "setup": left}
    return ReplayedEnvironment(named, unstarted if shelf.offline else started, shelf)


def test_the_same_conversation_is_told_again_without_its_functions() -> None:
    shelf = MemoryStore()
    said = talk(retold(shelf))
    assert {call["environment"] for call in shelf.calls} == {"notes:make"}
    assert said == [1, 2, {"calls": 2, "names": ["calls"]}]
    shelf.offline = True
    assert talk(retold(shelf)) == said


def test_where_functions_may_be_called_they_are() -> None:
    shelf, counter = MemoryStore(), Counter(calls=7)

    async def start() -> Counter:
        return counter

    talk(retold(shelf))
    assert talk(ReplayedEnvironment({"environment": "notes:make", "setup": None}, start, shelf))[:2] == [8, 9]
    assert counter.closed


def test_another_conversation_is_not_told() -> None:
    shelf = MemoryStore()
    talk(retold(shelf))
    with pytest.raises(ResultNotRecorded, match="no recorded result for this call of `add`"):
        talk(retold(MemoryStore(conversation_key="another", offline=True, results=shelf.results)))


def test_another_set_up_is_not_told() -> None:
    shelf = MemoryStore()
    talk(retold(shelf))
    with pytest.raises(ResultNotRecorded, match="no recorded result for this call of `add`"):
        talk(retold(MemoryStore(offline=True, results=shelf.results), left="x"))


def test_a_call_after_other_calls_is_another_call() -> None:
    shelf = MemoryStore()
    talk(retold(shelf), ["add", "read"])
    shelf.offline = True
    with pytest.raises(ResultNotRecorded, match="no recorded result for this call of `read`"):
        talk(retold(shelf), ["read"])


def test_arguments_that_no_json_can_say_are_an_error() -> None:
    result = asyncio.run(retold(MemoryStore()).call("add", {"to": float("nan")}))
    assert result.error is not None
    assert result.error.startswith("the arguments are not JSON")
