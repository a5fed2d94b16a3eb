from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.conversation.environments import Recall
from pytest_fcall.conversation.results import Results
from pytest_fcall.core import Call, Executed, Json, Seen, World


@dataclass
class Drawer:
    """Keeps results while it lasts."""

    offline: bool = True
    conversation: str = "c"
    held: dict[str, Executed] = field(default_factory=dict)

    def find(self, key: str) -> Executed | None:
        return self.held.get(key)

    def keep(self, key: str, call: Mapping[str, Json], result: Executed) -> None:
        self.held[key] = result


def answered(results: Results, **arguments: Json) -> Executed:
    (result,) = asyncio.run(results.of([Seen(Call("search", arguments))]))
    return result


def test_what_was_heard_of_a_call_answers_equal_calls() -> None:
    drawer = Drawer()
    world = World(unmatched="error")
    Results(world, None, Recall({"of": "tea"}, drawer)).heard([Call("search", {"for": "tea"})], [Executed(["Oolong"])])
    other = Results(world, None, Recall({"of": "tea"}, drawer))
    assert answered(other, **{"for": "tea"}).value == ["Oolong"]
    assert answered(other, **{"for": "milk"}).error == "nothing is known about this call"
    assert answered(Results(world, None, Recall({"of": "x"}, drawer)), **{"for": "tea"}).error is not None


def test_what_went_wrong_or_cannot_be_said_is_not_kept() -> None:
    drawer = Drawer()
    results = Results(World(unmatched="error"), None, Recall({}, drawer))
    calls = [Call("search", {"for": "tea"}), Call("search", {"for": float("nan")}), Call("search", {})]
    results.heard(calls, [Executed(error="too many requests"), Executed("x")])
    assert not drawer.held
    assert answered(results, **{"for": float("nan")}).error == "nothing is known about this call"
