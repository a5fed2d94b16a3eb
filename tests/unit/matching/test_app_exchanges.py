from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fcall.core import (
    AppExchange,
    Call,
    CallPattern,
    Calls,
    Expectation,
    ExpectedCall,
    Operator,
    Pattern,
    RawCall,
    Reply,
    Request,
    Rules,
    Tool,
    Usage,
    WireExpectation,
)
from pytest_fcall.matching.app import judge_app_exchanges
from pytest_fcall.matching.context import MatchContext

WEATHER = Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
TIME = Tool("get_time")
CALLING = AppExchange(
    "small",
    Request((), (WEATHER,)),
    Reply(tool_calls=(RawCall("get_weather", {}),), usage=Usage(20, 5)),
    "openai:small",
)
SPEAKING = AppExchange("large", Request((), (WEATHER, TIME)), Reply("Rain.", usage=Usage(30, 5)))
MADE = Calls((Call("get_weather", {"city": "Oslo"}),))


def wrong(
    expected: WireExpectation,
    *inner: AppExchange,
    calls: Calls = MADE,
    costs: Sequence[float | None] = (0.2, 0.3),
    rules: Rules = Rules(),  # noqa: B008  frozen
) -> list[str]:
    verdict = judge_app_exchanges(expected, inner or (CALLING, SPEAKING), calls, costs, MatchContext((), rules))
    assert verdict.valid is not bool(verdict.reasons)
    return [f"{reason.kind} {reason.path}: {reason.message}" for reason in verdict.reasons]


@pytest.mark.parametrize(
    ("name", "right", "other", "kind"),
    [
        ("count", 2, 3, "wrong_count"),
        ("count", Operator("le", 2), Operator("le", 1), "wrong_count"),
        ("tools", ["get_weather", "get_time"], ["get_weather"], "wrong_value"),
        ("tools", ["get_weather", "get_time"], "get_weather", "wrong_value"),
        ("models", ["small", "large"], ["large"], "wrong_value"),
        ("models", ["small", "large"], "small", "wrong_value"),
        ("tokens", 60, Operator("lt", 60), "wrong_value"),
        ("tokens", 60, "60", "wrong_value"),
        ("cost", 0.5, Operator("lt", 0.1), "wrong_value"),
        ("cost", 0.5, "0.5", "wrong_value"),
    ],
)
def test_each_figure_is_judged_and_even_another_type_is_a_wrong_figure(
    name: str, right: Pattern, other: Pattern, kind: str
) -> None:
    assert wrong(WireExpectation(**{name: right})) == []  # type: ignore[arg-type]  # a name of a pattern
    [reason] = wrong(WireExpectation(**{name: other}))  # type: ignore[arg-type]
    assert reason.startswith(f"{kind} wire.{name}")


def test_calls_are_judged_by_the_tools_that_the_app_offered() -> None:
    def expecting(city: str) -> WireExpectation:
        return WireExpectation(Expectation(stages=((ExpectedCall("get_weather", {"city": city}),),)))

    assert wrong(expecting("Oslo")) == []
    [reason] = wrong(expecting("Rome"))
    assert reason.startswith("wrong_value wire.calls[0].args.city: inside the app: ")
    [reason] = wrong(expecting("Oslo"), CALLING, calls=Calls((Call("get_weather", {"city": 7}),)))
    assert reason == ("wrong_type wire.calls[0].args.city: inside the app: `city` must be a string, not the integer 7")


def test_what_nobody_knows_is_wrong_and_says_why() -> None:
    silent = AppExchange("small", Request(()), Reply("hi"))
    assert wrong(WireExpectation(tokens=5), silent) == [
        "wrong_value wire.tokens: wire.tokens is unknown: a reply has no token counts."
    ]
    for usage in (Usage(20), Usage(output_tokens=5), Usage()):
        torn = replace(silent, reply=Reply("hi", usage=usage))
        assert len(wrong(WireExpectation(tokens=25), CALLING, torn)) == 1
    own = replace(CALLING, priced_as="openai:own")
    [reason] = wrong(WireExpectation(cost=5), own, CALLING, own, costs=(None, 0.1, None))
    assert reason.endswith('no price for openai:own; set [tool.fcall.prices."openai:own"] in pyproject.toml')


def test_an_app_that_asked_nothing_has_called_nothing() -> None:
    embedding = AppExchange("", Request(()), Reply())
    assert wrong(WireExpectation(Expectation("no_call"), count=0), embedding, calls=Calls()) == []
    one_call = Expectation(stages=((ExpectedCall("get_weather", {}),),))
    assert wrong(WireExpectation(one_call), embedding, calls=Calls()) == [
        "no_call wire.calls: inside the app: No call was made, expected `get_weather()`; the app sent no "
        "model request through the proxy"
    ]


def test_what_is_no_question_to_a_model_does_not_count() -> None:
    embedding = AppExchange("", Request(()), Reply())
    assert wrong(WireExpectation(count=1, tokens=25), embedding, CALLING) == []


def test_calls_may_have_been_in_the_last_reply_where_that_was_cut_off() -> None:
    one_call = Expectation(stages=((ExpectedCall("get_weather", {}),),))
    cut = replace(SPEAKING, reply=Reply("Rain", finish="length"))
    [reason] = wrong(WireExpectation(one_call), CALLING, cut, calls=Calls())
    assert reason.startswith("truncated wire.reply: inside the app: ")


def test_what_is_forbidden_is_wrong_also_where_only_requests_are_counted() -> None:
    forbidding = Rules(never=(CallPattern("get_*"),))
    broken = Calls((Call("search", {}), *MADE.calls))
    assert [each.partition(":")[0] for each in wrong(WireExpectation(count=2), calls=broken, rules=forbidding)] == [
        "forbidden_call wire.calls[1]"
    ]


def test_an_app_that_asks_nothing_can_be_expected() -> None:
    assert judge_app_exchanges(WireExpectation(count=0, tools=[], tokens=0), (), Calls(), (), MatchContext(())).valid
    no_call = WireExpectation(Expectation("no_call"))
    assert judge_app_exchanges(no_call, (SPEAKING,), Calls(), (), MatchContext(())).valid
