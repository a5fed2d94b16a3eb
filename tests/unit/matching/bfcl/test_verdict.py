"""Cases of our own under the official rules."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Call, Calls, Expectation, ExpectedCall, Json, Reply, Rules, Tool
from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.official_case import OfficialCase, Ruling, official_tool
from pytest_fcall.matching.bfcl.verdict import verdict_of
from tests.unit.matching.language import findings, judged

BFCL = Rules(profile="bfcl")
JAVA = Rules(profile="bfcl", language="java")

WEATHER = Tool(
    "get_weather",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "share": {"type": "number"},
            "names": {"type": "array", "items": {"$ref": "#/$defs/name"}},
            "at": {"type": "object"},
            "free": {},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "legs": {"type": "array", "items": {"type": "object"}},
            "rows": {"type": "array", "items": {"type": "array"}},
            "exact": {"type": "boolean"},
        },
        "required": ["city"],
        "$defs": {"name": {"type": "string"}},
    },
)
PING = Tool("ping")

JUDGEMENTS: dict[str, tuple[list[Any], Any, str | None, list[str]]] = {
    "a boolean": (
        [{"get_weather": {"city": "Oslo", "exact": True}}],
        [{"get_weather": {"city": "Oslo", "exact": True}}],
        None,
        [],
    ),
    "a call of which no argument is named": (
        [{"ping": {}}],
        ["ping"],
        None,
        [],
    ),
    "a right call": ([{"get_weather": {"city": "oslo."}}], [{"get_weather": {"city": "Oslo"}}], None, []),
    "a wrong value": (
        [{"get_weather": {"city": "Rome"}}],
        [{"get_weather": {"city": "Oslo"}}],
        "value_error:string",
        ["wrong_value calls[0].args.city"],
    ),
    "one of several": (
        [{"get_weather": {"city": "Rome"}}],
        [{"get_weather": {"city": {"$any": ["Oslo", "Rome"]}}}],
        None,
        [],
    ),
    "a wrong type": (
        [{"get_weather": {"city": "Oslo", "days": "3"}}],
        [{"get_weather": {"city": "Oslo", "days": 3}}],
        "type_error:simple",
        ["wrong_type calls[0].args.days"],
    ),
    "an integer for a number": (
        [{"get_weather": {"city": "Oslo", "share": 1}}],
        [{"get_weather": {"city": "Oslo", "share": 1.0}}],
        None,
        [],
    ),
    "an argument that may be left out": (
        [{"get_weather": {"city": "Oslo"}}],
        [{"get_weather": {"city": "Oslo", "days": {"$optional": {"$any": [1, 2]}}}}],
        None,
        [],
    ),
    "an argument that may not": (
        [{"get_weather": {"city": "Oslo"}}],
        [{"get_weather": {"city": "Oslo", "days": 1}}],
        "simple_function_checker:missing_optional",
        ["missing_argument calls[0].args.days"],
    ),
    "an argument that the tool requires": (
        [{"get_weather": {}}],
        [{"get_weather": {"city": "Oslo"}}],
        "simple_function_checker:missing_required",
        ["missing_argument calls[0].args.city"],
    ),
    "an argument where none is named": (
        [{"ping": {"city": "Oslo"}}],
        ["ping"],
        "simple_function_checker:unexpected_param",
        ["unexpected_argument calls[0].args.city"],
    ),
    "an argument that is not expected": (
        [{"get_weather": {"city": "Oslo", "days": 1}}],
        [{"get_weather": {"city": "Oslo"}}],
        "simple_function_checker:unexpected_param",
        ["unexpected_argument calls[0].args.days"],
    ),
    "an object with alternatives by key": (
        [{"get_weather": {"city": "Oslo", "at": {"hour": 8}}}],
        [{"get_weather": {"city": "Oslo", "at": {"hour": {"$any": [7, 8]}, "minute": {"$optional": 0}}}}],
        None,
        [],
    ),
    "an object within is compared as it is": (
        [{"get_weather": {"city": "Oslo", "at": {"hour": {"from": 8}}}}],
        [{"get_weather": {"city": "Oslo", "at": {"hour": {"from": 8}}}}],
        None,
        [],
    ),
    "and so is one further within": (
        [{"get_weather": {"city": "Oslo", "at": {"hour": {"from": {"clock": 8}}}}}],
        [{"get_weather": {"city": "Oslo", "at": {"hour": {"from": {"clock": 8}}}}}],
        None,
        [],
    ),
    "and one in a list within": (
        [{"get_weather": {"city": "Oslo", "at": {"hours": [{"from": 8}]}}}],
        [{"get_weather": {"city": "Oslo", "at": {"hours": [{"from": 8}]}}}],
        None,
        [],
    ),
    "an object that must be left out": (
        [{"get_weather": {"city": "Oslo", "at": {"hour": 8}}}],
        [{"get_weather": {"city": "Oslo", "at": ""}}],
        "dict_checker:unclear",
        ["wrong_value calls[0].args.at"],
    ),
    "objects in a list": (
        [{"get_weather": {"city": "Oslo", "legs": [{"to": "rome"}]}}],
        [{"get_weather": {"city": "Oslo", "legs": [{"to": {"$any": ["Paris", "Rome"]}}]}}],
        None,
        [],
    ),
    "an object in a list": (
        [{"get_weather": {"city": "Oslo", "legs": [{"to": "rome"}]}}],
        [{"get_weather": {"city": "Oslo", "legs": [{"to": "Rome"}]}}],
        None,
        [],
    ),
    "an object in a list in a list is compared as it is": (
        [{"get_weather": {"city": "Oslo", "rows": [[{"to": "Rome"}]]}}],
        [{"get_weather": {"city": "Oslo", "rows": [[{"to": "Rome"}]]}}],
        None,
        [],
    ),
    "other objects in a list": (
        [{"get_weather": {"city": "Oslo", "legs": [{"to": "Rome"}]}}],
        [{"get_weather": {"city": "Oslo", "legs": [{"to": "Paris"}]}}],
        "value_error:dict_value",
        ["wrong_value calls[0].args.legs"],
    ),
    "strings in a list": (
        [{"get_weather": {"city": "Oslo", "names": ["ola"]}}],
        [{"get_weather": {"city": "Oslo", "names": ["Ola"]}}],
        None,
        [],
    ),
    "a literal": (
        [{"get_weather": {"city": "$any"}}],
        [{"get_weather": {"city": {"$literal": "$any"}}}],
        None,
        [],
    ),
    "another function": (
        [{"ping": {}}],
        [{"get_weather": {"city": "Oslo"}}],
        "simple_function_checker:wrong_func_name",
        ["wrong_tool calls[0]"],
    ),
    "a call too many": (
        [{"ping": {}}, {"ping": {}}],
        ["ping"],
        "multiple_function_checker:wrong_count",
        ["wrong_count calls"],
    ),
    "several calls in any order": (
        [{"ping": {}}, {"get_weather": {"city": "Oslo"}}],
        [{"get_weather": {"city": "Oslo"}}, "ping"],
        None,
        [],
    ),
    "of several calls the nearest is told": (
        [{"ping": {}}, {"get_weather": {"city": "Rome"}}],
        [{"get_weather": {"city": "Oslo"}}, "ping"],
        "parallel_function_checker_no_order:cannot_find_match",
        ["wrong_value calls[1].args.city"],
    ),
    "an abstention": ([], "no_call", None, []),
    "a call instead": (
        [{"ping": {}}],
        "no_call",
        "irrelevance_error:decoder_success",
        ["unexpected_call calls"],
    ),
    "some call": ([{"no such tool": {}}], "any_call", None, []),
    "no call, where some is wanted": ([], "any_call", "relevance_error:decoder_failed", ["no_call calls"]),
    "no call, where one is expected": ([], ["ping"], "ast_decoder:decoder_failed", ["no_call calls"]),
    "a value that breaks the official checker": (
        [{"get_weather": {"city": "Oslo", "share": 10**400}}],
        [{"get_weather": {"city": "Oslo", "share": 1.5}}],
        "case_error:OverflowError",
        ["wrong_value calls"],
    ),
    "more than the official checker knows": (
        [{"get_weather": {"city": "Oslo"}}],
        [{"get_weather": {"city": {"$regex": "O.*"}}}],
        "case_error:beyond_bfcl",
        ["wrong_value expected"],
    ),
}


@pytest.mark.parametrize(
    ("calls", "expected", "error", "found"), [pytest.param(*row, id=name) for name, row in JUDGEMENTS.items()]
)
def test_a_case_is_judged_by_the_official_rules(
    calls: list[Any], expected: Any, error: str | None, found: list[str]
) -> None:
    verdict = judged(calls, expected, tools=[WEATHER, PING], rules=BFCL)
    assert (verdict.error_type, findings(verdict)) == (error, found)


def test_a_reason_says_what_was_expected_and_what_came() -> None:
    verdict = judged([{"get_weather": {"city": "Rome"}}], [{"get_weather": {"city": "Oslo"}}], rules=BFCL)
    (reason,) = verdict.reasons
    assert (reason.expected, reason.got) == ("Oslo", "Rome")
    assert reason.message == "`city` is 'Rome', not one of ['Oslo']"


def test_an_object_that_must_be_left_out_is_said_to_be_one_too_many() -> None:
    made, expected = {"city": "Oslo", "at": {"hour": 8}}, {"city": "Oslo", "at": ""}
    verdict = judged([{"get_weather": made}], [{"get_weather": expected}], tools=[WEATHER], rules=BFCL)
    assert [reason.message for reason in verdict.reasons] == ["`at` must be left out"]


def test_an_official_ruling_that_calls_could_not_be_read_is_told_in_its_words() -> None:
    ruling = Ruling(False, "ast_decoder:decoder_failed", ("no call", "in this text"))
    verdict = verdict_of(ruling, Calls((Call("ping", {}),)), Expectation("any_call"))
    assert verdict.error_type == "ast_decoder:decoder_failed"
    assert [(reason.kind, reason.path, reason.message) for reason in verdict.reasons] == [
        ("malformed", "reply", "no call in this text")
    ]


def test_an_official_ruling_that_there_are_no_calls_in_what_was_read_is_told_of_the_calls() -> None:
    verdict = verdict_of(check_answer(OfficialCase("simple", (), ()), "f(x=1)"), Calls(), Expectation("any_call"))
    assert verdict.error_type == "ast_decoder:decoder_wrong_output_format"
    assert findings(verdict) == ["malformed calls"]


WRONG = Ruling(False, "value_error:string", ("`x` is wrong",), "x")


@pytest.mark.parametrize(
    ("pairs", "rejected", "found"),
    [
        ((), ((0, WRONG), (1, WRONG)), ["wrong_value calls[0].args.x"]),
        (((0, 1),), ((0, WRONG),), ["wrong_value calls[0].args.x"]),
        (((0, 0), (1, 1)), ((0, WRONG),), ["wrong_value calls"]),
        ((), ((0, WRONG), (2, WRONG)), ["wrong_value calls"]),
        ((), ((0, WRONG), (1, Ruling(False, "new_error:odd", ("new",)))), ["wrong_value calls"]),
    ],
)
def test_an_official_ruling_is_about_a_call_only_where_all_calls_that_it_rejects_can_be_shown(
    pairs: tuple[tuple[int, int], ...], rejected: tuple[tuple[int, Ruling], ...], found: list[str]
) -> None:
    ruling = Ruling(False, "parallel_function_checker_no_order:cannot_find_match", ("none",), None, pairs, rejected)
    two = Calls((Call("ping", {}), Call("ping", {})))
    expected = Expectation(stages=((ExpectedCall("ping"), ExpectedCall("ping")),))
    assert findings(verdict_of(ruling, two, expected)) == found


def test_of_no_calls_it_is_told_that_one_was_expected_and_of_text_why_it_cannot_be_read() -> None:
    silent = judged([], ["ping"], tools=[PING], rules=BFCL)
    assert [reason.message for reason in silent.reasons] == ["No call was made, and one was expected."]
    verdict = judged([{"ping": {}}], ["ping"], malformed="half a call", tools=[PING], rules=BFCL)
    assert [reason.message for reason in verdict.reasons] == ["half a call"]


def test_pairs_are_those_of_the_official_checker_and_the_nearest() -> None:
    calls = [{"f": {"x": 3}}, {"f": {"x": 1}}]
    tool = Tool("f", parameters={"type": "object", "properties": {"x": {"type": "integer"}}})
    right = judged(calls, [{"f": {"x": 1}}, {"f": {"x": 3}}], tools=[tool], rules=BFCL)
    wrong = judged(calls, [{"f": {"x": 1}}, {"f": {"x": 2}}], tools=[tool], rules=BFCL)
    assert right.pairs == wrong.pairs == ((0, 1), (1, 0))


def test_a_call_too_many_is_named_by_the_checker_of_one_function_where_one_is_offered() -> None:
    verdict = judged([{"ping": {}}, {"ping": {}}], ["ping"], tools=[PING], rules=BFCL)
    assert verdict.error_type == "simple_function_checker:wrong_count"


@pytest.mark.parametrize(("expected", "valid"), [("no_call", True), ("any_call", False), (["ping"], False)])
def test_calls_that_cannot_be_read_pass_for_an_abstention(expected: Any, valid: bool) -> None:
    verdict = judged([{"ping": {}}], expected, malformed="half a call", tools=[PING], rules=BFCL)
    assert verdict.valid is valid
    assert findings(verdict) == ([] if valid else ["malformed reply"])


def test_a_refusal_is_an_abstention_too() -> None:
    assert judged([], "no_call", reply=Reply("", finish="refusal", refusal="No."), rules=BFCL).valid


def test_arguments_of_java_functions_are_source_text() -> None:
    declared: dict[str, Json] = {"type": "dict", "properties": {"n": {"type": "long"}}, "required": ["n"]}
    tool = Tool("f", declared=declared)
    assert judged([{"f": {"n": "5L"}}], [{"f": {"n": 5}}], tools=[tool], rules=JAVA).valid
    verdict = judged([{"f": {"n": 5}}], [{"f": {"n": 5}}], tools=[tool], rules=JAVA)
    assert (verdict.error_type, findings(verdict)) == ("type_error:java", ["wrong_type calls[0].args.n"])


def test_parameters_in_json_schema_are_put_into_the_leaderboards_words() -> None:
    found = official_tool(WEATHER)["parameters"]
    words = {name: (part["type"], part["items"]["type"]) for name, part in found["properties"].items()}
    assert words == {
        "city": ("string", "any"),
        "days": ("integer", "any"),
        "share": ("float", "any"),
        "names": ("array", "string"),
        "at": ("dict", "any"),
        "free": ("any", "any"),
        "exact": ("boolean", "any"),
        "note": ("string", "any"),
        "legs": ("array", "dict"),
        "rows": ("array", "array"),
    }
    assert found["required"] == ["city"]


def test_parameters_in_the_leaderboards_words_are_kept() -> None:
    declared: dict[str, Json] = {"type": "dict", "properties": {"n": {"type": "tuple", "items": {"type": "float"}}}}
    assert official_tool(Tool("f", declared=declared))["parameters"] == {**declared, "required": []}


def test_what_the_profile_strict_knows_more_is_named() -> None:
    expected = {"calls": ["ping", {"then": ["ping"]}], "order": "strict", "extra": "allow", "never": ["x"]}
    verdict = judged([], expected, tools=[PING], rules=BFCL)
    assert verdict.reasons[0].message.endswith(", not `never`, `order: strict`, `then`")


@pytest.mark.parametrize(
    ("declared", "official"),
    [
        ("string", "string"),
        ("number", "float"),
        ("object", "dict"),
        (["null", "integer"], "integer"),
        (["string", "integer"], "any"),
        (["string", "integer", "null"], "any"),
        ("null", "any"),
        (None, "any"),
    ],
)
def test_a_parameter_has_the_official_type_of_its_one_type_and_any_of_several_or_none(
    declared: Json, official: str
) -> None:
    schema = {} if declared is None else {"type": declared}
    tool = Tool(
        "f", parameters={"type": "object", "properties": {"x": schema, "xs": {"type": "array", "items": schema}}}
    )
    found = official_tool(tool)["parameters"]["properties"]
    assert found["x"] == {"type": official, "items": {"type": "any"}}
    assert found["xs"] == {"type": "array", "items": {"type": official}}
