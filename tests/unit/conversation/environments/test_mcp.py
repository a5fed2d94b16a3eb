from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcall.conversation.environments.context import EnvironmentContext, ResultNotRecorded, ResultStore
from pytest_fcall.conversation.environments.environment import open_environment
from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, CallLimits, EnvironmentFailed
from pytest_fcall.core import CallResult, ConversationSettings, Json, Tool, Unanswered
from tests.unit.conversation.environments.result_store import MemoryStore
from tests.unit.schema.sources.test_mcp_server import SERVER, served

MCP = ConversationSettings("mcp")
Spec = dict[str, Json]


@pytest.fixture
def offered(tmp_path: Path) -> Path:
    from tests.mcp_server import CALLED

    path = tmp_path / "offered.json"
    path.write_text(json.dumps([{"name": name, "inputSchema": {"type": "object"}} for name in CALLED]))
    return path


@pytest.fixture
def shop(offered: Path) -> Spec:
    return {"command": [sys.executable, SERVER, str(offered)]}


def tool(spec: Spec, name: str, offered_as: str | None = None) -> Tool:
    return Tool(offered_as or name, origin={"mcp": spec, "name": name})


def called(
    folder: Path,
    tools: Sequence[Tool],
    *calls: tuple[str, dict[str, Json]],
    limits: CallLimits = DEFAULT_LIMITS,
    store: ResultStore | None = None,
) -> list[CallResult]:
    async def run() -> list[CallResult]:
        environment = await open_environment(MCP, tools, EnvironmentContext(folder, folder, limits, result_store=store))
        try:
            return [await environment.call(*call) for call in calls]
        finally:
            await environment.close()

    return asyncio.run(run())


@pytest.mark.parametrize("arguments", [[], ["--sdk"]])
def test_a_tool_is_called_on_the_server_that_offered_it(
    tmp_path: Path, offered: Path, python: str, arguments: list[str]
) -> None:
    shop: Spec = {"command": [python, SERVER, str(offered), *arguments]}
    tools = [tool(shop, "add"), tool(shop, "count"), tool(shop, "fail"), tool(shop, "picture", "shop__picture")]
    calls: list[tuple[str, dict[str, Json]]] = [("add", {"a": 1, "b": 2}), ("count", {}), ("fail", {})]
    assert called(tmp_path, tools, *calls, ("shop__picture", {})) == [
        CallResult({"sum": 3}),
        CallResult("1"),
        CallResult(error="out of pears"),
        CallResult(["here", "[image]"]),
    ]


def test_a_server_that_is_called_over_http_answers_alike(tmp_path: Path, offered: Path, python: str) -> None:
    with served(python, offered) as url:
        assert called(tmp_path, [tool({"url": url}, "add")], ("add", {"a": 1, "b": 2})) == [CallResult({"sum": 3})]


def test_a_conversation_has_one_session_for_each_server_and_shares_it_with_no_other(tmp_path: Path, shop: Spec) -> None:
    other: Spec = {**shop, "env": {"WHICH": "other"}}
    tools = [tool(shop, "count"), tool(other, "count", "other__count")]
    calls: list[tuple[str, dict[str, Json]]] = [("count", {}), ("count", {}), ("other__count", {})]
    first, second = called(tmp_path, tools, *calls), called(tmp_path, tools, *calls)
    assert first == second == [CallResult("1"), CallResult("2"), CallResult("1")]


def test_a_server_sees_the_variables_that_its_entry_names_and_no_others(
    tmp_path: Path, shop: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    monkeypatch.setenv("OTHER_KEY", "s3cret, too")
    spec: Spec = {**shop, "env": {"SHOP_KEY": "${SHOP_KEY}"}}
    calls: list[tuple[str, dict[str, Json]]] = [("variable", {"name": "SHOP_KEY"}), ("variable", {"name": "OTHER_KEY"})]
    assert called(tmp_path, [tool(spec, "variable")], *calls) == [CallResult("s3cret"), CallResult("unset")]


def test_what_takes_too_long_or_says_too_much_is_an_error(tmp_path: Path, shop: Spec) -> None:
    tools = [tool(shop, "huge"), tool(shop, "slow")]
    limits = CallLimits(seconds=0.5, result=1000)
    huge, fitting, slow = called(
        tmp_path, tools, ("huge", {"size": 1000}), ("huge", {"size": 900}), ("slow", {"seconds": 1.5}), limits=limits
    )
    assert huge == CallResult(error="the result has more than 1,000 bytes")
    assert fitting == CallResult("x" * 900)
    assert slow == CallResult(error="it took longer than 0.5 s")


def test_a_server_that_is_gone_is_no_result_that_a_model_is_judged_by(tmp_path: Path, shop: Spec) -> None:
    with pytest.raises(Unanswered, match="ended before a call was over"):
        called(tmp_path, [tool(shop, "leave")], ("leave", {}))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"command": ["no-such-server"]}, "command not found: no-such-server"),
        (
            {"command": [sys.executable, "-c", "print('Hello')"]},
            "ended before it listed its tools; its last output:\n    Hello",
        ),
        ({"url": "http://127.0.0.1:9/mcp"}, "cannot be reached"),
        ({"command": ["x"], "env": {"A": "${NOT_SET}"}}, "the environment variable NOT_SET is not set"),
    ],
    ids=["no command", "no server", "nobody there", "no variable"],
)
def test_a_server_that_cannot_be_started_is_told_of(tmp_path: Path, spec: Spec, said: str) -> None:
    with pytest.raises(EnvironmentFailed) as failed:
        called(tmp_path, [tool(spec, "add")])
    assert said in str(failed.value)


def test_a_tool_that_the_server_offers_no_more_is_told_of(tmp_path: Path, shop: Spec) -> None:
    with pytest.raises(EnvironmentFailed, match="no longer offers the tool `gone`; run `fcall tools diff`"):
        called(tmp_path, [tool(shop, "gone")])


def test_a_tool_of_no_server_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailed, match="`search` is not one: take it from such a source"):
        called(tmp_path, [Tool("search")])


def test_results_are_kept_and_replayed_without_a_server(tmp_path: Path, shop: Spec) -> None:
    tools, recorded = [tool(shop, "count"), tool(shop, "add")], MemoryStore()
    calls: list[tuple[str, dict[str, Json]]] = [("count", {}), ("add", {"a": 1, "b": 2}), ("count", {})]
    lived = called(tmp_path, tools, *calls, store=recorded)
    (tmp_path / "offered.json").unlink()
    assert called(tmp_path, tools, *calls, store=MemoryStore(offline=True, results=recorded.results)) == lived
    with pytest.raises(ResultNotRecorded, match="no recorded result for this call of `count`"):
        called(tmp_path, tools, ("count", {}), ("count", {}), store=MemoryStore(offline=True, results=recorded.results))
    with pytest.raises(ResultNotRecorded):
        called(tmp_path, tools, calls[0], store=MemoryStore("another", offline=True, results=recorded.results))


def test_what_was_kept_before_is_no_result_of_today(tmp_path: Path, shop: Spec) -> None:
    recorded = MemoryStore()
    called(tmp_path, [tool(shop, "count")], ("count", {}), store=recorded)
    (key,) = recorded.results
    recorded.results[key] = CallResult("old")
    assert called(tmp_path, [tool(shop, "count")], ("count", {}), store=recorded) == [CallResult("1")]


def test_no_secret_is_kept(tmp_path: Path, shop: Spec) -> None:
    recorded = MemoryStore()
    called(tmp_path, [tool({**shop, "env": {"SHOP_KEY": "s3cret"}}, "count")], ("count", {}), store=recorded)
    assert recorded.calls
    assert "s3cret" not in json.dumps(recorded.calls)


def test_arguments_that_json_cannot_say_are_an_error(tmp_path: Path, shop: Spec) -> None:
    (result,) = called(tmp_path, [tool(shop, "add")], ("add", {"a": float("nan"), "b": 1}))
    assert result.error is not None
    assert result.error.startswith("the arguments are not JSON")
