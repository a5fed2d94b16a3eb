from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from pytest_fcall.conversation.environments.environment import CachedEnvironment
from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core import CallResult, Json
from tests.unit.conversation.environments.result_store import MemoryStore


@dataclass
class Tables:
    """Counts what it is asked."""

    asked: list[str] = field(default_factory=list)
    closed: bool = False

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        self.asked.append(f"{tool} {dict(arguments)}")
        return CallResult(len(self.asked))

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        return CallResult({"asked": len(self.asked), "names": names})

    async def close(self) -> None:
        self.closed = True


def lasting(tables: Tables, shelf: MemoryStore) -> CachedEnvironment:
    async def start() -> Tables:
        return tables

    return CachedEnvironment("tables:make", start, shelf)


def test_the_same_call_is_carried_out_once_in_all_conversations() -> None:
    tables, shelf = Tables(), MemoryStore()

    async def talk() -> list[CallResult]:
        found = []
        for environment in (lasting(tables, shelf), lasting(tables, shelf)):
            found += [await environment.call("look", {"for": each}) for each in ("tea", "milk", "tea")]
            await environment.close()
        return found

    assert [result.value for result in asyncio.run(talk())] == [1, 2, 1, 1, 2, 1]
    assert tables.closed
    assert [call["environment"] for call in shelf.calls] == ["tables:make"] * 2


def test_nothing_is_started_where_all_is_kept() -> None:
    shelf = MemoryStore()
    asyncio.run(lasting(Tables(), shelf).call("look", {"for": "tea"}))

    async def fails() -> Tables:
        raise EnvironmentFailed("there is no table")

    environment = CachedEnvironment("tables:make", fails, shelf)
    assert asyncio.run(environment.call("look", {"for": "tea"})).value == 1
    with pytest.raises(EnvironmentFailed, match="there is no table"):
        asyncio.run(environment.call("look", {"for": "milk"}))
    asyncio.run(environment.close())


def test_the_state_is_that_of_what_stands_behind() -> None:
    assert asyncio.run(lasting(Tables(), MemoryStore()).state(["a"])).value == {"asked": 0, "names": ["a"]}


def test_arguments_that_json_cannot_say_are_told() -> None:
    result = asyncio.run(lasting(Tables(), MemoryStore()).call("look", {"for": float("nan")}))
    assert result.error is not None
    assert result.error.startswith("the arguments are not JSON")
