from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcall.conversation.environments.context import EnvironmentContext
from pytest_fcall.conversation.environments.environment import open_environment
from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core import CallResult, ConversationSettings, Json, Tool
from pytest_fcall.schema.sources.python_tools import tools_from_python

ROOT = Path(__file__).parents[4]
SHOP = "tests.unit.conversation.environments.shop"
GROUND = EnvironmentContext(ROOT, ROOT)


def done(
    settings: ConversationSettings,
    tools: Sequence[Tool],
    *calls: tuple[str, dict[str, Json]],
    state: Sequence[str] | None = None,
) -> list[CallResult]:
    """Make calls, and then read the state."""

    async def run() -> list[CallResult]:
        environment = await open_environment(settings, tools, GROUND)
        try:
            return [*[await environment.call(*call) for call in calls], await environment.state(state)]
        finally:
            await environment.close()

    return asyncio.run(run())


def test_functions_of_a_plain_module_are_the_tools_and_its_public_data_the_state() -> None:
    tools = [Tool("buy"), Tool("price")]
    *results, state = done(ConversationSettings(SHOP), tools, ("buy", {"fruit": "pear"}), ("price", {"fruit": "pear"}))
    assert results == [CallResult({"left": 2}), CallResult(1.5)]
    assert state == CallResult({"prices": {"pear": 1.5}, "sold": ["pear"], "stock": {"pear": 2}})


def test_setup_gives_attributes_of_a_plain_module_other_values() -> None:
    settings = ConversationSettings(SHOP, {"stock": {"fig": 1}})
    bought, state = done(settings, [Tool("buy")], ("buy", {"fruit": "fig"}), state=["stock"])
    assert bought == CallResult({"left": 0})
    assert state == CallResult({"stock": {"fig": 0}})


@pytest.mark.parametrize("name", ["stick", "buy", "_till", "json", "Prices"])
def test_setup_can_put_nothing_where_no_public_attribute_is(name: str) -> None:
    with pytest.raises(EnvironmentFailed, match=f"{SHOP}: `setup`: .* has no public attribute `{name}`"):
        done(ConversationSettings(SHOP, {name: 1}), [Tool("buy")])


@pytest.mark.parametrize("name", ["_hidden", "dumps", "system.getcwd", "Path", "Prices", "stock", "stock.clear"])
def test_only_functions_that_a_plain_module_defines_itself_can_be_called(name: str) -> None:
    result, state = done(ConversationSettings(SHOP), [Tool(name)], (name, {}), state=["stock"])
    assert result.error is not None
    assert state == CallResult({"stock": {"pear": 3}})


def test_functions_of_python_sources_are_called_themselves() -> None:
    tools = [*tools_from_python(SHOP), *tools_from_python(f"{SHOP}:Desk.hours")]
    *results, state = done(ConversationSettings("python"), tools, ("buy", {"fruit": "pear"}), ("hours", {}))
    assert results == [CallResult({"left": 2}), CallResult("9 to 5")]
    assert state == CallResult({})


def test_a_function_in_a_list_is_called() -> None:
    settings = ConversationSettings("python", stubs={"written_out": 1})
    assert done(settings, tools_from_python(f"{SHOP}:TOOLS"), ("buy", {"fruit": "pear"}))[0] == CallResult({"left": 2})


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (
            [Tool("search")],
            "`search` is not one: take it from such a source, or give it a stub",
        ),
        (tools_from_python(f"{SHOP}:Desk.book"), f"Desk.book` is a method, and .*name `environment: {SHOP}:Desk`"),
    ],
    ids=["no function", "a method"],
)
def test_a_tool_that_cannot_be_called_is_told_of_before_any_call(tools: Sequence[Tool], said: str) -> None:
    with pytest.raises(EnvironmentFailed, match=said):
        done(ConversationSettings("python"), tools)


def test_what_was_not_offered_is_not_called() -> None:
    stubbed = ConversationSettings(SHOP, stubs={"price": 1})
    results = done(stubbed, [Tool("buy"), Tool("price")], ("hours", {}), ("price", {"fruit": "pear"}))
    assert results[:2] == [CallResult(error="there is no tool `hours`"), CallResult(error="there is no tool `price`")]


def test_the_prefix_of_a_source_is_no_part_of_a_method_s_name() -> None:
    tool = Tool("market__buy", origin={"name": "buy"})
    assert done(ConversationSettings(SHOP), [tool], ("market__buy", {"fruit": "pear"}))[0] == CallResult({"left": 2})


def test_functions_of_two_modules_may_share_a_name() -> None:
    double = "tests.unit.conversation.execution.world:double"
    tools = [
        Tool("a__buy", origin={"name": "buy", "python": f"{SHOP}:buy"}),
        Tool("b__buy", origin={"name": "buy", "python": double}),
    ]
    assert done(ConversationSettings("python"), tools, ("b__buy", {"value": 4}), ("a__buy", {"fruit": "pear"}))[:2] == [
        CallResult(8),
        CallResult({"left": 2}),
    ]


def test_where_a_function_failed_is_told_to_people_not_to_the_model() -> None:
    result, _ = done(ConversationSettings(SHOP), [Tool("buy")], ("buy", {"fruit": "fig"}))
    assert result == CallResult(error="LookupError: there is no fig")
    assert result.place is not None
    assert result.place.startswith("tests/unit/conversation/environments/shop.py, line ")


@pytest.mark.parametrize("kind", ["python", "mcp"])
def test_what_is_not_set_up_takes_no_setup(kind: str) -> None:
    with pytest.raises(EnvironmentFailed, match=f"`environment: {kind}` takes no `setup`"):
        done(ConversationSettings(kind, {"stock": 1}), [])


def test_a_case_without_an_environment_is_told_of() -> None:
    with pytest.raises(EnvironmentFailed, match="names no `environment`"):
        done(ConversationSettings(), [])
