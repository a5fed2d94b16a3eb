from __future__ import annotations

import asyncio

from pytest_fcall.conversation.environments.context import StoredResults
from pytest_fcall.conversation.tool_results import ToolResults
from pytest_fcall.core import Call, CallResult, ConversationSettings, FollowedCall, Json
from tests.unit.conversation.environments.result_store import MemoryStore


def answered(results: ToolResults, **arguments: Json) -> CallResult:
    (result,) = asyncio.run(results.results([FollowedCall(Call("search", arguments))]))
    return result


def test_a_recorded_result_answers_equal_calls() -> None:
    store = MemoryStore()
    settings = ConversationSettings(unmatched="error")
    ToolResults(settings, None, StoredResults({"of": "tea"}, store)).record(
        [Call("search", {"for": "tea"})], [CallResult(["Oolong"])]
    )
    other = ToolResults(settings, None, StoredResults({"of": "tea"}, store))
    assert answered(other, **{"for": "tea"}).value == ["Oolong"]
    assert answered(other, **{"for": "milk"}).error == "nothing is known about this call"
    assert answered(ToolResults(settings, None, StoredResults({"of": "x"}, store)), **{"for": "tea"}).error is not None


def test_errors_and_calls_that_are_not_json_are_not_recorded() -> None:
    store = MemoryStore()
    results = ToolResults(ConversationSettings(unmatched="error"), None, StoredResults({}, store))
    calls = [Call("search", {"for": "tea"}), Call("search", {"for": float("nan")}), Call("search", {})]
    results.record(calls, [CallResult(error="too many requests"), CallResult("x")])
    assert not store.results
    assert answered(results, **{"for": float("nan")}).error == "nothing is known about this call"
