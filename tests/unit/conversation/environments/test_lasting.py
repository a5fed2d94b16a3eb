from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from pytest_fcall.conversation.environments import WorldFailed
from pytest_fcall.conversation.environments.lasting import Lasting
from pytest_fcall.core import Executed, Json


@dataclass
class Drawer:
    """Keeps results while it lasts."""

    offline: bool = False
    conversation: str = "c"
    held: dict[str, Executed] = field(default_factory=dict)

    def find(self, key: str) -> Executed | None:
        return self.held.get(key)

    def keep(self, key: str, call: Mapping[str, Json], result: Executed) -> None:
        assert call["environment"] == "tables:make"
        self.held[key] = result


@dataclass
class Tables:
    """Counts what it is asked."""

    asked: list[str] = field(default_factory=list)
    closed: bool = False

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Executed:
        self.asked.append(f"{tool} {dict(arguments)}")
        return Executed(len(self.asked))

    async def state(self, names: Sequence[str] | None = None) -> Executed:
        return Executed({"asked": len(self.asked), "names": names})

    async def close(self) -> None:
        self.closed = True


def lasting(tables: Tables, drawer: Drawer) -> Lasting:
    async def start() -> Tables:
        return tables

    return Lasting("tables:make", start, drawer)


def test_the_same_call_is_carried_out_once_in_all_conversations() -> None:
    tables, drawer = Tables(), Drawer()

    async def talk() -> list[Executed]:
        found = []
        for environment in (lasting(tables, drawer), lasting(tables, drawer)):
            found += [await environment.call("look", {"for": each}) for each in ("tea", "milk", "tea")]
            await environment.close()
        return found

    assert [result.value for result in asyncio.run(talk())] == [1, 2, 1, 1, 2, 1]
    assert tables.closed


def test_nothing_is_started_where_all_is_kept() -> None:
    drawer = Drawer()
    asyncio.run(lasting(Tables(), drawer).call("look", {"for": "tea"}))

    async def fails() -> Tables:
        raise WorldFailed("there is no table")

    environment = Lasting("tables:make", fails, drawer)
    assert asyncio.run(environment.call("look", {"for": "tea"})).value == 1
    with pytest.raises(WorldFailed, match="there is no table"):
        asyncio.run(environment.call("look", {"for": "milk"}))
    asyncio.run(environment.close())


def test_the_state_is_that_of_what_stands_behind() -> None:
    assert asyncio.run(lasting(Tables(), Drawer()).state(["a"])).value == {"asked": 0, "names": ["a"]}


def test_arguments_that_json_cannot_say_are_told() -> None:
    result = asyncio.run(lasting(Tables(), Drawer()).call("look", {"for": float("nan")}))
    assert result.error is not None
    assert result.error.startswith("the arguments cannot be read")
