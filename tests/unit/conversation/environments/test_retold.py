from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from pytest_fcall.conversation.environments.kept import NotRecorded
from pytest_fcall.conversation.environments.retold import Retold
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
        assert call["environment"] == "notes:make"
        self.held[key] = result


@dataclass
class Counter:
    """Counts its calls."""

    calls: int = 0
    closed: bool = False

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Executed:
        self.calls += 1
        return Executed(self.calls)

    async def state(self, names: Sequence[str] | None = None) -> Executed:
        return Executed({"calls": self.calls, "names": names})

    async def close(self) -> None:
        self.closed = True


async def started() -> Counter:
    return Counter()


async def unstarted() -> Counter:
    raise AssertionError("nothing is started offline")


def talk(environment: Retold, tools: Sequence[str] = ("add", "add")) -> list[Json]:
    async def all_of_it() -> list[Executed]:
        said = [await environment.call(tool, {"to": "tea"}) for tool in tools]
        said.append(await environment.state(["calls"]))
        await environment.close()
        return said

    return [each.value for each in asyncio.run(all_of_it())]


def retold(drawer: Drawer, *, left: Json = None) -> Retold:
    named: dict[str, Json] = {"environment": "notes:make", "setup": left}
    return Retold(named, unstarted if drawer.offline else started, drawer)


def test_the_same_conversation_is_told_again_without_its_functions() -> None:
    drawer = Drawer()
    said = talk(retold(drawer))
    assert said == [1, 2, {"calls": 2, "names": ["calls"]}]
    drawer.offline = True
    assert talk(retold(drawer)) == said


def test_where_functions_may_be_called_they_are() -> None:
    drawer, counter = Drawer(), Counter(calls=7)

    async def start() -> Counter:
        return counter

    talk(retold(drawer))
    assert talk(Retold({"environment": "notes:make", "setup": None}, start, drawer))[:2] == [8, 9]
    assert counter.closed


@pytest.mark.parametrize("other", [Drawer(conversation="d"), Drawer()])
def test_another_conversation_or_another_set_up_is_not_told(other: Drawer) -> None:
    drawer = Drawer()
    talk(retold(drawer))
    offline = Drawer(offline=True, conversation=other.conversation, held=drawer.held)
    with pytest.raises(NotRecorded, match="`add` is recorded"):
        talk(retold(offline, left="x" if other.conversation == "c" else None))


def test_a_call_after_other_calls_is_another_call() -> None:
    drawer = Drawer()
    talk(retold(drawer), ["add", "read"])
    drawer.offline = True
    with pytest.raises(NotRecorded, match="`read` is recorded"):
        talk(retold(drawer), ["read"])


def test_arguments_that_no_json_can_say_are_an_error() -> None:
    result = asyncio.run(retold(Drawer()).call("add", {"to": float("nan")}))
    assert result.error is not None
    assert result.error.startswith("the arguments cannot be read")
