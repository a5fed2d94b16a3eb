from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.conversation.environments import StoredResults
from pytest_fcall.conversation.tool_results import ToolResults
from pytest_fcall.core import Call, CallResult, FollowedCall, Json, World


@dataclass
class Drawer:
    """Keeps results while it lasts."""

    offline: bool = True
    conversation: str = "c"
    held: dict[str, CallResult] = field(default_factory=dict)

    def find(self, key: str) -> CallResult | None:
        return self.held.get(key)

    def keep(self, key: str, call: Mapping[str, Json], result: CallResult) -> None:
        self.held[key] = result


def answered(results: ToolResults, **arguments: Json) -> CallResult:
    (result,) = asyncio.run(results.of([FollowedCall(Call("search", arguments))]))
    return result


def test_what_was_heard_of_a_call_answers_equal_calls() -> None:
    drawer = Drawer()
    world = World(unmatched="error")
    ToolResults(world, None, StoredResults({"of": "tea"}, drawer)).heard(
        [Call("search", {"for": "tea"})], [CallResult(["Oolong"])]
    )
    other = ToolResults(world, None, StoredResults({"of": "tea"}, drawer))
    assert answered(other, **{"for": "tea"}).value == ["Oolong"]
    assert answered(other, **{"for": "milk"}).error == "nothing is known about this call"
    assert answered(ToolResults(world, None, StoredResults({"of": "x"}, drawer)), **{"for": "tea"}).error is not None


def test_what_went_wrong_or_cannot_be_said_is_not_kept() -> None:
    drawer = Drawer()
    results = ToolResults(World(unmatched="error"), None, StoredResults({}, drawer))
    calls = [Call("search", {"for": "tea"}), Call("search", {"for": float("nan")}), Call("search", {})]
    results.heard(calls, [CallResult(error="too many requests"), CallResult("x")])
    assert not drawer.held
    assert answered(results, **{"for": float("nan")}).error == "nothing is known about this call"
