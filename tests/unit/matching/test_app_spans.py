from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fcall.core import CallPattern, Expectation, ExpectedCall, Json, Rules, Tool
from pytest_fcall.core.app import AppSpans, RanTool, SpansExpectation
from pytest_fcall.matching.app import judge_app_spans, unreported_tool
from pytest_fcall.matching.context import MatchContext

CITY: Mapping[str, Json] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", parameters=CITY)
OSLO = ExpectedCall("get_weather", {"city": "Oslo"})
ANY = ExpectedCall("get_weather", None)
TOLD, UNTOLD = RanTool("get_weather", {"city": "Oslo"}), RanTool("get_weather", None)
EITHER = Expectation("any_of", alternatives=(Expectation(stages=((OSLO,),)), Expectation("no_call")))
NEVER = Rules(never=(CallPattern("get_*"),))


def calls(*expected: ExpectedCall, extra: bool = False) -> SpansExpectation:
    return SpansExpectation(
        Expectation(stages=(expected,), extra="allow" if extra else "forbid"), known_tools=(WEATHER,)
    )


def kinds(expected: SpansExpectation, *tools: RanTool, rules: Rules = Rules()) -> list[str]:  # noqa: B008  frozen
    verdict = judge_app_spans(expected, AppSpans(tools), MatchContext((), rules))
    assert all(reason.path.startswith("spans.") for reason in verdict.reasons)
    assert verdict.valid is not bool(verdict.reasons)
    return [reason.kind for reason in verdict.reasons]


def test_tools_that_ran_are_judged_like_calls() -> None:
    assert kinds(calls(OSLO), TOLD) == []
    assert kinds(calls(OSLO), RanTool("get_weather", {"city": "Rome"})) == ["wrong_value"]
    assert kinds(calls(OSLO), RanTool("get_weather", {"city": 7})) == ["wrong_type"]
    assert kinds(calls(ANY), RanTool("get_weather", {"city": 7})) == ["wrong_type"]
    assert kinds(calls(OSLO), TOLD, RanTool("search", {})) == ["unexpected_call"]


def test_any_tool_may_run_where_extra_ones_are_allowed_also_one_that_the_file_does_not_have() -> None:
    assert kinds(calls(OSLO, extra=True), TOLD, RanTool("search", {"q": 1})) == []


def test_the_models_that_were_asked_are_judged() -> None:
    told = AppSpans((), ("small",))
    assert judge_app_spans(SpansExpectation(models=["small"]), told, MatchContext(())).valid
    verdict = judge_app_spans(SpansExpectation(models=["large"]), told, MatchContext(()))
    assert [(each.kind, each.path) for each in verdict.reasons] == [("wrong_value", "spans.models[0]")]
    (reason,) = judge_app_spans(SpansExpectation(models=[]), told, MatchContext(())).reasons
    assert (reason.kind, reason.path) == ("wrong_value", "spans.models")


def test_arguments_that_no_span_tells_break_no_schema() -> None:
    assert kinds(calls(ANY), UNTOLD) == []


def test_what_is_forbidden_is_wrong_also_where_no_calls_are_expected() -> None:
    assert kinds(SpansExpectation(models=[]), TOLD, rules=NEVER) == ["forbidden_call"]
    assert kinds(SpansExpectation(models=[]), rules=NEVER) == []


def test_where_no_calls_are_expected_wrong_arguments_are_none_of_its_business() -> None:
    wrong = RanTool("get_weather", {"city": 7})
    forbidding = Rules(never=(CallPattern("search"),))
    assert kinds(SpansExpectation(models=[], known_tools=(WEATHER,)), wrong, rules=forbidding) == []


def test_remarks_say_that_they_are_about_spans() -> None:
    broken = Tool("get_weather", parameters={"type": "object", "properties": {"city": {"type": 7}}})
    expected = SpansExpectation(Expectation(stages=((OSLO,),)), known_tools=(broken,))
    (note,) = judge_app_spans(expected, AppSpans((TOLD,)), MatchContext(())).notes
    assert note.startswith("in the spans: The arguments of `get_weather` were judged without its schema")


@pytest.mark.parametrize(
    ("expected", "rules", "told", "name"),
    [
        (calls(OSLO), Rules(), UNTOLD, "get_weather"),
        (calls(OSLO), Rules(), TOLD, ""),
        (calls(ANY), Rules(), UNTOLD, ""),
        (calls(ANY), NEVER, UNTOLD, ""),
        (calls(ANY), Rules(never=(CallPattern("get_*", {"city": "Oslo"}),)), UNTOLD, "get_weather"),
        (SpansExpectation(), Rules(never=(CallPattern("search", {"city": "Oslo"}),)), UNTOLD, ""),
        (SpansExpectation(EITHER), Rules(), UNTOLD, "get_weather"),
        (
            SpansExpectation(Expectation(allow=(CallPattern("get_*", {"city": "Oslo"}),))),
            Rules(),
            UNTOLD,
            "get_weather",
        ),
        (
            SpansExpectation(Expectation(never=(CallPattern("get_*", {"city": "Oslo"}),))),
            Rules(),
            UNTOLD,
            "get_weather",
        ),
    ],
)
def test_a_tool_is_named_whose_arguments_are_to_be_judged_and_not_told(
    expected: SpansExpectation, rules: Rules, told: RanTool, name: str
) -> None:
    assert unreported_tool(expected, rules, AppSpans((told,))) == name


def test_what_ran_is_told_where_something_did_not() -> None:
    told = AppSpans((RanTool("search", {"q": 1}), UNTOLD, *[RanTool("wait", {})] * 5))
    any_call = SpansExpectation(Expectation(stages=((OSLO,) * 9,)))
    *_, last = judge_app_spans(any_call, told, MatchContext(())).reasons
    assert last.message.startswith("in the spans: `get_weather(city='Oslo')` ")
    assert "; what ran: `search(q=1)`, `get_weather(…)`, `wait()`, `wait()`, `wait()` and 2 more" in last.message
    (only,) = judge_app_spans(calls(OSLO), AppSpans(), MatchContext(())).reasons
    assert only.message.endswith("; no tool ran")
    (wrong,) = judge_app_spans(
        calls(OSLO), AppSpans((RanTool("get_weather", {"city": "Rome"}),)), MatchContext(())
    ).reasons
    assert "what ran" not in wrong.message


def test_a_tool_without_parameters_has_no_arguments_to_tell() -> None:
    now = SpansExpectation(Expectation(stages=((ExpectedCall("get_time"),),)), known_tools=(Tool("get_time"),))
    assert unreported_tool(now, Rules(), AppSpans((RanTool("get_time", None),))) == ""
    assert kinds(now, RanTool("get_time", None)) == []
