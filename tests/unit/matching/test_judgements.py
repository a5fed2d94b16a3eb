"""What is right and what is wrong: one sentence a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from pytest_fcall.core import MatchRule, Operator, Reply, Rules
from tests.unit.matching.language import call_pattern, findings, judged

PARIS: dict[str, Any] = {"get_weather": {"city": "Paris"}}
ROME: dict[str, Any] = {"get_weather": {"city": "Rome"}}
OSLO: dict[str, Any] = {"get_weather": {"city": "Oslo"}}
DELETE: dict[str, Any] = {"delete_db": {}}
TABLES: dict[str, Any] = {"list_tables": {}}
CLOCK = Rules(now=datetime.fromisoformat("2026-11-21T16:30:00-08:00"))  # a Saturday
RELAXED = Rules(strings="relaxed")


@dataclass(frozen=True)
class Row:
    sentence: str
    made: list[dict[str, Any]]
    expected: Any
    wrong: list[str] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)


def one(sentence: str, argument: Any, expected: Any, *wrong: str, **given: Any) -> Row:
    """A row about one argument `x` of a tool whose schema says nothing of it."""
    return Row(sentence, [{"any": {"x": argument}}], [{"any": {"x": expected}}], [f"{w}" for w in wrong], given)


def weather(sentence: str, made: dict[str, Any], expected: dict[str, Any], *wrong: str, **given: Any) -> Row:
    """A row about one call of get_weather."""
    return Row(sentence, [{"get_weather": made}], [{"get_weather": expected}], list(wrong), given)


def book(sentence: str, made: dict[str, Any], expected: dict[str, Any], *wrong: str, **given: Any) -> Row:
    """A row about one call of book."""
    flight = {"flight": "F7"}
    return Row(sentence, [{"book": flight | made}], [{"book": flight | expected}], list(wrong), given)


X = "wrong_value calls[0].args.x"
XT = "wrong_type calls[0].args.x"

CITY = "wrong_value calls[0].args.city"
CITY_OF = "wrong_value calls[{}].args.city"
PRICE = "wrong_value calls[{}].args.price"
BOOKED: list[dict[str, Any]] = [{"book": {"flight": "F1", "price": 1}}, {"book": {"flight": "F2", "price": 2}}]
SWAPPED: list[dict[str, Any]] = [{"book": {"flight": "F1", "price": 2}}, {"book": {"flight": "F2", "price": 1}}]

RIVALS = [
    weather("wrong arguments do not pass", {"city": "Rome"}, {"city": "Paris"}, "wrong_value calls[0].args.city"),
    Row("an extra call does not pass", [PARIS, DELETE], [PARIS], ["unexpected_call calls[1]"]),
    weather(
        "two right arguments out of three do not pass",
        {"city": "Paris", "unit": "fahrenheit", "days": 2},
        {"city": "Paris", "unit": "fahrenheit", "days": 3},
        "wrong_value calls[0].args.days",
    ),
    Row("two identical parallel calls are both counted", [PARIS, PARIS], [PARIS, PARIS]),
    Row("one call does not stand for two identical ones", [PARIS], [PARIS, PARIS], ["wrong_count expected[1]"]),
    Row("two calls do not stand for one", [PARIS, PARIS], [PARIS], ["unexpected_call calls[1]"]),
    Row("a call without arguments is {}", [TABLES], ["list_tables"]),
    Row("a call without arguments is written {} too", [TABLES], [{"list_tables": {}}]),
    Row("parallel calls come in any order", [ROME, PARIS], [PARIS, ROME]),
    weather(
        "true is not 1", {"city": "Paris", "days": True}, {"city": "Paris", "days": 1}, "wrong_type calls[0].args.days"
    ),
    weather(
        '"1" is not 1', {"city": "Paris", "days": "1"}, {"city": "Paris", "days": 1}, "wrong_type calls[0].args.days"
    ),
    weather(
        "1.0 is no integer",
        {"city": "Paris", "days": 1.0},
        {"city": "Paris", "days": 1},
        "wrong_type calls[0].args.days",
    ),
    book("1.0 is the number 1", {"price": 1.0}, {"price": 1}),
    weather(
        "an invented argument does not pass",
        {"city": "Paris", "mood": "good"},
        {"city": "Paris"},
        "unexpected_argument calls[0].args.mood",
    ),
    weather("a default spelled out passes", {"city": "Paris", "unit": "celsius"}, {"city": "Paris"}),
    Row("no call is no success where one is expected", [], [PARIS], ["no_call calls"]),
    Row("a call is no success where none is expected", [PARIS], "no_call", ["unexpected_call calls[0]"]),
    Row(
        "a general expectation does not steal the call of a narrow one",
        [{"any": {"x": 1}}, {"any": {"x": 2}}],
        [{"any": {"x": {"$type": "integer"}}}, {"any": {"x": 1}}],
    ),
]

MORE_RIVALS = [
    Row("a name alone is no call: arguments count", [{"get_weather": {"city": "Rome"}}], [PARIS], [CITY]),
    Row("order of parallel calls says nothing about their arguments", [ROME, OSLO], [OSLO, ROME]),
    Row("swapped arguments of two calls are wrong", SWAPPED, BOOKED, [PRICE.format(0), PRICE.format(1)]),
    Row("the same call three times is not twice", [PARIS] * 3, [PARIS, PARIS], ["unexpected_call calls[2]"]),
    Row("the same tool with other arguments is not the same call", [PARIS, PARIS], [PARIS, ROME], [CITY_OF.format(1)]),
    Row("an empty list of calls is an abstention", [], []),
    Row("an empty list of calls takes no call", [TABLES], [], ["unexpected_call calls[0]"]),
    Row(
        "a hallucinated extra call beside a right one is wrong",
        [PARIS, {"drop_table": {}}],
        [PARIS],
        ["unknown_tool calls[1]"],
    ),
    one("-5 is not 5, though it is but for punctuation", "-5", "5", X),
    one("1.5 is not 15, though it is but for punctuation", "1.5", "15", X),
    one("a dash is not an empty string", "-", "", X),
    one("an empty list is not an argument left out", [], {"$optional": ["a"]}, X),
    one("a list in a list is compared with its letters", [["A"]], [["a"]], f"{X}[0][0]"),
    one("true in an object is not 1", {"a": True}, {"a": 1}, f"{XT}.a"),
    one("1.0 in a list is 1 where the schema is silent", [1.0, 2], [1, 2]),
    one("null matches null and nothing else", None, None),
    one("alternatives of another type are all open", "x", {"$any": [5, "x"]}),
    one("alternatives keep their own types", "5", {"$any": [5, "x"]}, X),
    one("alternatives inside an object are open too", {"a": {"b": 2}}, {"a": {"b": {"$any": [1, 2]}}}),
    one("alternatives inside a list are open too", [1, "b"], [1, {"$any": ["a", "b"]}]),
    Row(
        "numbers are compared as numbers",
        [{"book": {"flight": "F7", "price": 1e2}}],
        [{"book": {"flight": "F7", "price": 100}}],
    ),
    Row(
        "a perfect match is simply valid",
        [{"get_weather": {"city": "Paris", "days": 3}}],
        [{"get_weather": {"city": "Paris", "days": 3}}],
    ),
    Row(
        "an optional argument that nobody asked for is wrong",
        [{"get_weather": {"city": "Paris", "days": 3}}],
        [PARIS],
        ["unexpected_argument calls[0].args.days"],
    ),
]

RELEVANCE = [
    Row("an empty reply where a call is expected made none", [], [PARIS], ["no_call calls"], {"reply": Reply("")}),
    Row("an empty reply is no call for any_call either", [], "any_call", ["no_call calls"], {"reply": Reply("")}),
    Row(
        "a refusal where a call is expected is a refusal",
        [],
        [PARIS],
        ["refused reply"],
        {"reply": Reply("", refusal="no")},
    ),
    Row("a refusal is no call for any_call", [], "any_call", ["refused reply"], {"reply": Reply("", refusal="no")}),
    Row(
        "a cut off reply where a call is expected is cut off",
        [],
        [PARIS],
        ["truncated reply"],
        {"reply": Reply("{", finish="length")},
    ),
    Row("a broken call is no call for any_call", [], "any_call", ["malformed reply"], {"malformed": "not JSON"}),
    Row(
        "a broken call beside a right one is told", [TABLES], "any_call", ["malformed reply"], {"malformed": "not JSON"}
    ),
    Row(
        "broken and cut off are both told",
        [],
        "no_call",
        ["malformed reply", "truncated reply"],
        {"malformed": "not JSON", "reply": Reply("", finish="length")},
    ),
    Row(
        "an alternative of no call takes no broken one",
        [],
        {"any_of": ["no_call", [PARIS]]},
        ["malformed reply"],
        {"malformed": "x"},
    ),
    Row("a plain answer is an abstention", [], "no_call"),
    Row("an empty reply is no abstention", [], "no_call", ["malformed reply"], {"reply": Reply("")}),
    Row("white space is no answer", [], "no_call", ["malformed reply"], {"reply": Reply(" \n\t")}),
    Row(
        "a cut off answer is no abstention",
        [],
        "no_call",
        ["truncated reply"],
        {"reply": Reply("Well", finish="length")},
    ),
    Row("a refusal is no abstention", [], "no_call", ["refused reply"], {"reply": Reply("", refusal="I can't.")}),
    Row("a refusal may be the finish", [], "no_call", ["refused reply"], {"reply": Reply("no", finish="refusal")}),
    Row(
        "a filtered answer is a refusal",
        [],
        "no_call",
        ["refused reply"],
        {"reply": Reply("x", finish="content_filter")},
    ),
    Row("a broken call is no abstention", [], "no_call", ["malformed reply"], {"malformed": "not JSON"}),
    Row("any call will do for any_call", [TABLES], "any_call"),
    Row("two calls will do for any_call", [PARIS, ROME], "any_call"),
    Row("an answer will not do for any_call", [], "any_call", ["no_call calls"]),
    Row("an invented tool will not do for any_call", [{"fly": {}}], "any_call", ["unknown_tool calls[0]"]),
    Row(
        "an invented argument will not do for any_call",
        [{"get_weather": {"city": "Paris", "mood": 1}}],
        "any_call",
        ["unexpected_argument calls[0].args.mood"],
    ),
    Row("a broken call is not missing as well", [], [PARIS], ["malformed reply"], {"malformed": "not JSON"}),
    Row(
        "what could be read beside a broken call is judged",
        [ROME],
        [PARIS, OSLO],
        ["malformed reply", "wrong_value calls[0].args.city"],
        {"malformed": "not JSON"},
    ),
    Row(
        "a cut off reply is not whole though its calls are right",
        [PARIS],
        [PARIS],
        ["truncated reply"],
        {"reply": Reply(finish="length")},
    ),
    Row("a refusal beside a call is told", [PARIS], [PARIS], ["refused reply"], {"reply": Reply(refusal="no")}),
    Row("calls need no text beside them", [PARIS], [PARIS], given={"reply": Reply("")}),
    Row(
        "two calls where none is expected are both told",
        [PARIS, DELETE],
        "no_call",
        ["unexpected_call calls[0]", "unexpected_call calls[1]"],
    ),
]

COUNTS = [
    Row("a missing call is named", [PARIS], [PARIS, ROME], ["wrong_count expected[1]"]),
    Row("a wrong tool is one finding, not two", [TABLES], [PARIS], ["wrong_tool calls[0]"]),
    Row("an invented tool is one finding", [{"get_wether": {"city": "Paris"}}], [PARIS], ["unknown_tool calls[0]"]),
    Row(
        "an invented tool is wrong where all is allowed",
        [PARIS, {"fly": {}}],
        {"calls": [PARIS], "extra": "allow"},
        ["unknown_tool calls[1]"],
    ),
    Row("without tools nothing is invented", [{"fly": {"to": "Oslo"}}], [{"fly": {"to": "Oslo"}}], given={"tools": ()}),
    Row(
        "without tools values are still compared",
        [{"fly": {"to": "Rome"}}],
        [{"fly": {"to": "Oslo"}}],
        ["wrong_value calls[0].args.to"],
        {"tools": ()},
    ),
    Row(
        "without tools an unnamed argument is still wrong",
        [{"fly": {"to": "Oslo", "by": 1}}],
        [{"fly": {"to": "Oslo"}}],
        ["unexpected_argument calls[0].args.by"],
        {"tools": ()},
    ),
    Row("extra calls may be allowed", [PARIS, TABLES], {"calls": [PARIS], "extra": "allow"}),
    Row(
        "extra calls keep to their schema",
        [PARIS, {"get_weather": {}}],
        {"calls": [PARIS], "extra": "allow"},
        ["missing_argument calls[1].args.city"],
    ),
    Row("a call that allow names may be made", [TABLES, PARIS], {"calls": [PARIS], "allow": ["list_*"]}),
    Row("a call that allow names may be left out", [PARIS], {"calls": [PARIS], "allow": ["list_*"]}),
    Row(
        "a call that allow does not name is unexpected",
        [DELETE, PARIS],
        {"calls": [PARIS], "allow": ["list_*"]},
        ["unexpected_call calls[0]"],
    ),
    Row("allow looks at arguments", [PARIS, ROME], {"calls": [], "allow": [PARIS]}, ["unexpected_call calls[1]"]),
    Row(
        "an allowed call does not stand for the one expected",
        [TABLES],
        {"calls": [PARIS], "allow": ["list_*"]},
        ["wrong_count expected[0]"],
    ),
    Row("an allowed call may serve an expectation", [PARIS], {"calls": [PARIS], "allow": ["get_*"]}),
    Row(
        "only allowed calls are as good as none",
        [TABLES],
        {"calls": [], "allow": ["list_*"]},
        given={"reply": Reply("")},
    ),
    Row(
        "a place goes to the call that nothing else excuses",
        [{"any": {"x": 1}}, {"any": {"x": 2}}],
        {"calls": [{"any": {"x": {"$type": "integer"}}}], "allow": [{"any": {"x": 1}}]},
    ),
    Row("times takes the number it says", [PARIS, PARIS], [{**PARIS, "times": [2, 2]}]),
    Row("times misses one", [PARIS], [{**PARIS, "times": [2, 2]}], ["wrong_count expected[0]"]),
    Row("times has one too many", [PARIS, PARIS, PARIS], [{**PARIS, "times": [1, 2]}], ["unexpected_call calls[2]"]),
    Row("times may be open", [PARIS] * 5, [{**PARIS, "times": [1, None]}]),
    Row("times of none needs none", [], [{**PARIS, "times": [0, 2]}]),
    Row(
        "times of none still asks for an answer",
        [],
        [{**PARIS, "times": [0, 2]}],
        ["malformed reply"],
        {"reply": Reply("")},
    ),
    Row("times of none may be used", [PARIS], [{**PARIS, "times": [0, 2]}]),
    Row(
        "times does not take another city",
        [PARIS, ROME],
        [{**PARIS, "times": [1, None]}],
        ["wrong_value calls[1].args.city"],
    ),
    Row(
        "two expectations share what is there",
        [PARIS, PARIS, ROME],
        [{"get_weather": {"$ignore": True}, "times": [2, 2]}, PARIS],
    ),
    Row("a flood of calls is one finding", [PARIS] * 300, [PARIS], ["wrong_count calls"]),
    Row(
        "all that differs is told, not only the first",
        [{"get_weather": {"city": "Rome", "unit": "fahrenheit", "mood": 1}}, DELETE],
        [{"get_weather": {"city": "Paris", "days": 2}}],
        [
            "missing_argument calls[0].args.days",
            "unexpected_argument calls[0].args.mood",
            "unexpected_argument calls[0].args.unit",
            "unexpected_call calls[1]",
            "wrong_value calls[0].args.city",
        ],
    ),
    Row("in a wrong pair only what is wrong is named", [OSLO, ROME], [ROME, PARIS], ["wrong_value calls[0].args.city"]),
    Row(
        "the nearest of two calls is the one explained",
        [{"get_weather": {"city": "Bonn", "days": 9}}, {"get_weather": {"city": "Rome", "days": 3}}],
        [{"get_weather": {"city": "Rome", "days": 2}}, {"get_weather": {"city": "Bonn", "days": 9}}],
        ["wrong_value calls[1].args.days"],
    ),
]

NEVER = [
    Row(
        "a forbidden call is told",
        [PARIS, DELETE],
        {"calls": [PARIS], "never": ["delete_*"]},
        ["forbidden_call calls[1]"],
    ),
    Row(
        "extra: allow does not excuse it",
        [PARIS, DELETE],
        {"calls": [PARIS], "extra": "allow", "never": ["delete_*"]},
        ["forbidden_call calls[1]"],
    ),
    Row(
        "allow does not excuse it",
        [DELETE],
        {"calls": [], "allow": ["*"], "never": ["delete_*"]},
        ["forbidden_call calls[0]"],
    ),
    Row(
        "being expected does not excuse it",
        [DELETE],
        {"calls": [DELETE], "never": ["delete_*"]},
        ["forbidden_call calls[0]"],
    ),
    Row(
        "any_call does not excuse it",
        [DELETE],
        "any_call",
        ["forbidden_call calls[0]"],
        {"rules": Rules(never=(call_pattern("delete_*"),))},
    ),
    Row(
        "a rule of the file forbids too",
        [DELETE],
        [DELETE],
        ["forbidden_call calls[0]"],
        {"rules": Rules(never=(call_pattern("delete_db"),))},
    ),
    Row(
        "an invented tool may be forbidden too",
        [{"delete_all": {}}],
        "no_call",
        ["forbidden_call calls[0]", "unknown_tool calls[0]"],
        {"rules": Rules(never=(call_pattern("delete_*"),))},
    ),
    Row(
        "only the arguments named are forbidden",
        [{"book": {"flight": "F7", "price": 101}}],
        {"calls": [{"book": {"$ignore": True}}], "never": [{"book": {"price": {"$gt": 100}}}]},
        ["forbidden_call calls[0]"],
    ),
    Row(
        "other arguments are not",
        [{"book": {"flight": "F7", "price": 99}}],
        {"calls": [{"book": {"$ignore": True}}], "never": [{"book": {"price": {"$gt": 100}}}]},
    ),
    Row(
        "an argument left out is not",
        [{"book": {"flight": "F7"}}],
        {"calls": [{"book": {"$ignore": True}}], "never": [{"book": {"price": {"$gt": 100}}}]},
    ),
    Row(
        "an argument left out counts as its default",
        [PARIS],
        {"calls": [{"get_weather": {"$ignore": True}}], "never": [{"get_weather": {"unit": "celsius"}}]},
        ["forbidden_call calls[0]"],
    ),
    Row(
        "a match rule that frees a parameter forbids nothing",
        [{"any": {"x": 1}}],
        {"calls": [{"any": {"$ignore": True}}], "never": [{"any": {"x": 2}}]},
        given={"rules": Rules(match=(MatchRule("*.x", operator=Operator("ignore", True)),))},
    ),
    Row(
        "what cannot be judged is not let through",
        [{"any": {"x": 1}}],
        {"calls": [{"any": {"$ignore": True}}], "never": [{"any": {"x": {"$iban": True}}}]},
        ["forbidden_call calls[0]"],
    ),
    Row(
        "never holds in every alternative",
        [DELETE],
        {"any_of": ["no_call", [DELETE]], "never": ["delete_*"]},
        ["forbidden_call calls[0]"],
    ),
    Row(
        "a flood hides no forbidden call",
        [PARIS] * 300 + [DELETE],
        {"calls": [PARIS], "never": ["delete_*"]},
        ["forbidden_call calls[300]", "wrong_count calls"],
    ),
]

ORDER = [
    Row("strict order is kept", [PARIS, ROME], {"calls": [PARIS, ROME], "order": "strict"}),
    Row("strict order is broken", [ROME, PARIS], {"calls": [PARIS, ROME], "order": "strict"}, ["wrong_order calls[0]"]),
    Row(
        "strict order lets allowed calls stand between",
        [PARIS, TABLES, ROME],
        {"calls": [PARIS, ROME], "order": "strict", "allow": ["list_*"]},
    ),
    Row(
        "strict order lets an extra call stand before calls that are equal",
        [OSLO, PARIS, PARIS, ROME],
        {"calls": [PARIS, PARIS, ROME], "order": "strict", "extra": "allow"},
    ),
    Row("a group comes after what is above it", [TABLES, PARIS], ["list_tables", {"then": [PARIS]}]),
    Row("a group does not come before", [PARIS, TABLES], ["list_tables", {"then": [PARIS]}], ["wrong_order calls[0]"]),
    Row("within a group order is free", [TABLES, ROME, PARIS], ["list_tables", {"then": [PARIS, ROME]}]),
    Row("three groups in a row", [PARIS, ROME, OSLO], [PARIS, {"then": [ROME]}, {"then": [OSLO]}]),
    Row(
        "three groups out of order",
        [PARIS, OSLO, ROME],
        [PARIS, {"then": [ROME]}, {"then": [OSLO]}],
        ["wrong_order calls[1]"],
    ),
    Row(
        "identical calls in two groups are told apart by place",
        [PARIS, TABLES, PARIS],
        [PARIS, {"then": ["list_tables"]}, {"then": [PARIS]}],
    ),
    Row(
        "a group may be served by the later of two calls",
        [{"any": {"x": 2}}, {"any": {"x": 1}}],
        [{"any": {"x": {"$type": "integer"}}}, {"then": [{"any": {"x": 1}}]}],
    ),
    Row(
        "a call with times may stand several times in its group",
        [PARIS, PARIS, TABLES],
        [{**PARIS, "times": [1, None]}, {"then": ["list_tables"]}],
    ),
    Row(
        "a wrong argument in a group is named, and order is not blamed",
        [TABLES, ROME],
        ["list_tables", {"then": [PARIS]}],
        ["wrong_value calls[1].args.city"],
    ),
    Row("a group that is missing is named", [TABLES], ["list_tables", {"then": [PARIS]}], ["wrong_count expected[1]"]),
]

PARALLEL_MULTIPLE = [
    Row("calls of several tools come in any order", [TABLES, ROME, PARIS], [PARIS, ROME, "list_tables"]),
    Row(
        "one wrong argument among several calls is the one reason",
        [OSLO, TABLES, PARIS],
        [PARIS, ROME, "list_tables"],
        [CITY],
    ),
    Row(
        "a missing call among several is the one reason",
        [TABLES, PARIS],
        [PARIS, ROME, "list_tables"],
        ["wrong_count expected[1]"],
    ),
    Row("a wrong tool among several is the one reason", [TABLES, PARIS], [PARIS, "delete_db"], ["wrong_tool calls[0]"]),
    Row(
        "an extra call among several is the one reason",
        [TABLES, PARIS, ROME],
        [PARIS, "list_tables"],
        ["unexpected_call calls[2]"],
    ),
    Row(
        "duplicates of several tools are counted one by one",
        [TABLES, PARIS, TABLES, PARIS],
        [PARIS, PARIS, "list_tables"],
        ["unexpected_call calls[0]"],
    ),
    Row(
        "three general expectations find the one way that serves all",
        [{"any": {"x": 3}}, {"any": {"x": 2}}, {"any": {"x": 1}}],
        [{"any": {"x": {"$ge": 1}}}, {"any": {"x": {"$ge": 2}}}, {"any": {"x": 3}}],
    ),
    Row(
        "all wrong arguments of all calls are told",
        [{"get_weather": {"city": "Rome", "days": 2}}, {"book": {"flight": "F2"}}],
        [{"get_weather": {"city": "Oslo", "days": 3}}, {"book": {"flight": "F1"}}],
        ["wrong_value calls[0].args.city", "wrong_value calls[0].args.days", "wrong_value calls[1].args.flight"],
    ),
    Row(
        "a call with an invented argument is paired with what it is nearest to",
        [{"get_weather": {"city": "Rome", "mood": 1}}, PARIS],
        [PARIS, ROME],
        ["unexpected_argument calls[0].args.mood"],
    ),
]

ALTERNATIVES = [
    Row(
        "nested alternatives tell the nearest path",
        [OSLO],
        {"any_of": ["no_call", {"any_of": [["list_tables"], [PARIS]]}]},
        [CITY],
    ),
    Row(
        "an alternative in groups may be the one that holds",
        [TABLES, PARIS],
        {"any_of": [[PARIS], ["list_tables", {"then": [PARIS]}]]},
    ),
    Row("an alternative of any call holds for any", [TABLES], {"any_of": [[PARIS], "any_call"]}),
    Row(
        "what must never be called is wrong in every alternative",
        [DELETE],
        {"any_of": [["delete_db"], "any_call"], "never": ["delete_*"]},
        ["forbidden_call calls[0]"],
    ),
    Row(
        "an extra call that any_of allows is allowed in each",
        [PARIS, TABLES],
        {"any_of": [[PARIS], [ROME]], "extra": "allow"},
    ),
    Row(
        "too few calls are nearer than other ones",
        [PARIS],
        {"any_of": [[PARIS, ROME], ["list_tables", "delete_db"]]},
        ["wrong_count expected[1]"],
    ),
    Row("the first alternative will do", [], {"any_of": ["no_call", [PARIS]]}),
    Row("the second alternative will do", [PARIS], {"any_of": ["no_call", [PARIS]]}),
    Row(
        "the alternative that explains best is told",
        [ROME],
        {"any_of": ["no_call", [PARIS]]},
        ["wrong_value calls[0].args.city"],
    ),
    Row(
        "one wrong argument is nearer than two",
        [{"get_weather": {"city": "Rome", "days": 2}}],
        {"any_of": [[{"get_weather": {"city": "Oslo", "days": 3}}], [{"get_weather": {"city": "Rome", "days": 3}}]]},
        ["wrong_value calls[0].args.days"],
    ),
    Row("alternatives nest", [TABLES], {"any_of": ["no_call", {"any_of": [[PARIS], ["list_tables"]]}]}),
    Row(
        "what is allowed beside any_of is allowed in each",
        [TABLES, PARIS],
        {"any_of": ["no_call", [PARIS]], "allow": ["list_*"]},
    ),
    Row(
        "an alternative keeps its own order",
        [ROME, PARIS],
        {"any_of": [{"calls": [PARIS, ROME], "order": "strict"}, [OSLO]]},
        ["wrong_order calls[0]"],
    ),
]

ARGUMENTS = [
    weather("a required argument may not be left out", {}, {"city": "Paris"}, "missing_argument calls[0].args.city"),
    weather("not even under $ignore", {}, {"city": {"$ignore": True}}, "missing_argument calls[0].args.city"),
    weather("not even under $optional", {}, {"city": {"$optional": "x"}}, "missing_argument calls[0].args.city"),
    weather(
        "an optional argument that is named may not be left out",
        {"city": "Paris"},
        {"city": "Paris", "days": 2},
        "missing_argument calls[0].args.days",
    ),
    weather("one that is named with its default may", {"city": "Paris"}, {"city": "Paris", "unit": "celsius"}),
    weather(
        "one whose default fits an operator may", {"city": "Paris"}, {"city": "Paris", "unit": {"$regex": "cel.*"}}
    ),
    weather(
        "one whose default does not may not",
        {"city": "Paris"},
        {"city": "Paris", "unit": "fahrenheit"},
        "missing_argument calls[0].args.unit",
    ),
    weather(
        "$not asks for a value",
        {"city": "Paris"},
        {"city": "Paris", "unit": {"$not": "fahrenheit"}},
        "missing_argument calls[0].args.unit",
    ),
    weather("null says nothing where the schema takes it", {"city": "Paris", "note": None}, {"city": "Paris"}),
    weather("null may be expected", {"city": "Paris", "note": None}, {"city": "Paris", "note": None}),
    weather("an expected null may be left out", {"city": "Paris"}, {"city": "Paris", "note": None}),
    weather(
        "null is no value",
        {"city": "Paris", "note": None},
        {"city": "Paris", "note": "x"},
        "wrong_value calls[0].args.note",
    ),
    weather(
        "null is wrong where the schema does not take it",
        {"city": "Paris", "days": None},
        {"city": "Paris"},
        "wrong_type calls[0].args.days",
    ),
    weather(
        "a value that is not the default is unexpected",
        {"city": "Paris", "unit": "fahrenheit"},
        {"city": "Paris"},
        "unexpected_argument calls[0].args.unit",
    ),
    Row(
        "args: open frees optional arguments",
        [{"get_weather": {"city": "Paris", "days": 3}}],
        [{**PARIS, "args": "open"}],
    ),
    Row(
        "args: open frees no invented ones",
        [{"get_weather": {"city": "Paris", "mood": 3}}],
        [{**PARIS, "args": "open"}],
        ["unexpected_argument calls[0].args.mood"],
    ),
    Row(
        "args: open checks the schema",
        [{"get_weather": {"city": "Paris", "days": 0}}],
        [{**PARIS, "args": "open"}],
        ["schema calls[0].args.days"],
    ),
    Row(
        "args: open compares what is named",
        [{"get_weather": {"city": "Rome", "days": 3}}],
        [{**PARIS, "args": "open"}],
        ["wrong_value calls[0].args.city"],
    ),
    Row(
        "any arguments are any that the schema takes",
        [{"get_weather": {"city": "Rome", "days": 3}}],
        [{"get_weather": {"$ignore": True}}],
    ),
    Row(
        "any arguments are no invented ones",
        [{"get_weather": {"city": "Rome", "mood": 3}}],
        [{"get_weather": {"$ignore": True}}],
        ["unexpected_argument calls[0].args.mood"],
    ),
    Row(
        "a tool may take what its schema does not name",
        [{"note": {"text": "a", "more": 1}}],
        [{"note": {"text": "a", "more": 1}}],
    ),
    Row(
        "what neither case nor schema names is wrong even there",
        [{"note": {"text": "a", "more": 1}}],
        [{"note": {"text": "a"}}],
        ["unexpected_argument calls[0].args.more"],
    ),
    weather(
        "an enum is checked under an operator",
        {"city": "Paris", "unit": "kelvin"},
        {"city": "Paris", "unit": {"$ignore": True}},
        "schema calls[0].args.unit",
    ),
    weather(
        "a bound is checked under an operator",
        {"city": "Paris", "days": 0},
        {"city": "Paris", "days": {"$type": "integer"}},
        "schema calls[0].args.days",
    ),
    weather(
        "a type is checked under an operator",
        {"city": "Paris", "days": "3"},
        {"city": "Paris", "days": {"$ignore": True}},
        "wrong_type calls[0].args.days",
    ),
    weather("a wrong type is told once", {"city": 3}, {"city": "3"}, "wrong_type calls[0].args.city"),
    weather(
        "a forbidden value that is also another one is told as both",
        {"city": "Paris", "unit": "kelvin"},
        {"city": "Paris", "unit": "fahrenheit"},
        "schema calls[0].args.unit",
        "wrong_value calls[0].args.unit",
    ),
    book(
        "a nested value is found",
        {"address": {"city": "Oslo"}},
        {"address": {"city": "Rome"}},
        "wrong_value calls[0].args.address.city",
    ),
    book(
        "a nested key is missing",
        {"address": {"city": "Oslo"}},
        {"address": {"city": "Oslo", "zip": "0150"}},
        "missing_argument calls[0].args.address.zip",
    ),
    book(
        "a nested key is unexpected",
        {"address": {"city": "Oslo", "zip": "0150"}},
        {"address": {"city": "Oslo"}},
        "unexpected_argument calls[0].args.address.zip",
    ),
    book(
        "a nested default may be spelled out",
        {"address": {"city": "Oslo", "country": "NO"}},
        {"address": {"city": "Oslo"}},
    ),
    book(
        "a nested default may be left out",
        {"address": {"city": "Oslo"}},
        {"address": {"city": "Oslo", "country": "NO"}},
    ),
    book(
        "an item's key is found",
        {"items": [{"name": "a"}, {"name": "b"}]},
        {"items": [{"name": "a"}, {"name": "c"}]},
        "wrong_value calls[0].args.items[1].name",
    ),
    book("an item's default may be spelled out", {"items": [{"name": "a", "count": 1}]}, {"items": [{"name": "a"}]}),
    book(
        "an item's type is checked",
        {"items": [{"name": "a", "count": "1"}]},
        {"items": [{"name": "a", "count": 1}]},
        "wrong_type calls[0].args.items[0].count",
    ),
    book("lists keep their order", {"seats": ["1A", "1B"]}, {"seats": ["1B", "1A"]}, "wrong_value calls[0].args.seats"),
    book("lists keep their length", {"seats": ["1A"]}, {"seats": ["1A", "1B"]}, "wrong_value calls[0].args.seats"),
    book(
        "one wrong item is named",
        {"seats": ["1A", "1C"]},
        {"seats": ["1A", "1B"]},
        "wrong_value calls[0].args.seats[1]",
    ),
    book("an empty list is a list", {"seats": []}, {"seats": []}),
    book("a scalar is no list of one", {"seats": "1A"}, {"seats": ["1A"]}, "wrong_type calls[0].args.seats"),
    book("an object is no list", {"seats": {"a": 1}}, {"seats": ["1A"]}, "wrong_type calls[0].args.seats"),
    book("false is false", {"window": False}, {"window": False}),
    book("false is not true", {"window": False}, {"window": True}, "wrong_value calls[0].args.window"),
    book("0 is not false", {"window": 0}, {"window": False}, "wrong_type calls[0].args.window"),
]

VALUES = [
    one("1.0 equals 1 where the schema is silent", 1.0, 1),
    one("1 equals 1.0", 1, 1.0),
    one("true is not 1 where the schema is silent", True, 1, XT),
    one("1 is not true", 1, True, XT),
    one("0 is not null", 0, None, X),
    one("an empty string is not null", "", None, X),
    one("null is not an empty string", None, "", X),
    one('"1" is not 1 where the schema is silent', "1", 1, XT),
    one("large integers are compared exactly", 2**53 + 1, 2**53, X),
    one("a large integer and a float are compared exactly", float(2**53), 2**53 + 1, X),
    one("0.1 + 0.2 is not 0.3", 0.1 + 0.2, 0.3, X),
    one("not a number is nothing", float("nan"), float("nan"), X, tools=()),
    one("composed and decomposed letters are the same", "Zu\u0308rich", "Z\u00fcrich"),
    one("case counts", "paris", "Paris", X),
    one("spaces count", "New  York", "New York", X),
    one("case does not count where strings are relaxed", "paris", "Paris", rules=RELAXED),
    one("spaces, quotes and dashes do not count there", "joe’s  bar – oslo", "Joe's Bar - Oslo", rules=RELAXED),
    one("full-width letters are letters there", "ＯＳＬＯ", "Oslo", rules=RELAXED),
    one("sharp s folds there", "STRASSE", "Straße", rules=RELAXED),
    one("punctuation counts even there", "Oslo, Norway", "Oslo Norway", X, rules=RELAXED),
    one(
        "bfcl strings drop what that checker drops",
        "San-Francisco, CA",
        "san francisco ca",
        rules=Rules(strings="bfcl"),
    ),
    one("relaxed strings hold inside lists and objects", {"a": ["OSLO"]}, {"a": ["Oslo"]}, rules=RELAXED),
    one("types differ even where strings are relaxed", 1, "1", XT, rules=RELAXED),
    one("a list is no object", [], {}, XT),
    one(
        "keys are compared as they are",
        {"City": 1},
        {"city": 1},
        "missing_argument calls[0].args.x.city",
        "unexpected_argument calls[0].args.x.City",
        rules=RELAXED,
    ),
    one("odd keys are quoted in paths", {"a.b": 1}, {"a.b": 2}, "wrong_value calls[0].args.x['a.b']"),
    one("a dollar sign in what a model says is just one", {"$ignore": True}, 3, XT),
]

RULES = [
    one(
        "a match rule frees its place in a list, and no other place that is left when equal items are gone",
        ["a", "c"],
        {"$unordered": ["a", "b"]},
        X,
        rules=Rules(match=(MatchRule("any.x[0]", operator=Operator("ignore", True)),)),
    ),
    Row(
        "a rule by parameter relaxes strings",
        [{"get_weather": {"city": "paris"}}],
        [PARIS],
        given={"rules": Rules(match=(MatchRule("*.city", strings="relaxed"),))},
    ),
    Row(
        "a rule for another parameter does not",
        [{"get_weather": {"city": "paris"}}],
        [PARIS],
        ["wrong_value calls[0].args.city"],
        {"rules": Rules(match=(MatchRule("*.town", strings="relaxed"),))},
    ),
    Row(
        "a rule for another tool does not",
        [{"get_weather": {"city": "paris"}}],
        [PARIS],
        ["wrong_value calls[0].args.city"],
        {"rules": Rules(match=(MatchRule("book.*", strings="relaxed"),))},
    ),
    Row(
        "an operator stands in for what the case expects",
        [{"get_weather": {"city": "Rome"}}],
        [PARIS],
        given={"rules": Rules(match=(MatchRule("*.city", operator=Operator("ignore", True)),))},
    ),
    Row(
        "an operator that the case writes itself goes first",
        [{"get_weather": {"city": "Rome"}}],
        [{"get_weather": {"city": {"$not": "Rome"}}}],
        ["wrong_value calls[0].args.city"],
        {"rules": Rules(match=(MatchRule("*.city", operator=Operator("ignore", True)),))},
    ),
    Row(
        "also where nothing is given",
        [{"get_weather": {"city": "Paris"}}],
        [{"get_weather": {"city": "Paris", "note": {"$literal": "x"}}}],
        ["missing_argument calls[0].args.note"],
        {"rules": Rules(match=(MatchRule("*.note", operator=Operator("ignore", True)),))},
    ),
    Row(
        "and in a list, whose plain items are the rule's",
        [{"book": {"flight": "F7", "seats": ["9Z", "2C"]}}],
        [{"book": {"flight": "F7", "seats": ["1A", {"$any": ["1B", "2B"]}]}}],
        ["wrong_value calls[0].args.seats[1]"],
        {"rules": Rules(match=(MatchRule("book.seats[*]", operator=Operator("ignore", True)),))},
    ),
    Row(
        "an operator speaks for what the case does not name",
        [{"get_weather": {"city": "Paris", "days": 9}}],
        [PARIS],
        given={"rules": Rules(match=(MatchRule("*.days", operator=Operator("ignore", True)),))},
    ),
    Row(
        "an operator may be broken",
        [{"get_weather": {"city": "Paris", "days": 9}}],
        [PARIS],
        ["wrong_value calls[0].args.days"],
        {"rules": Rules(match=(MatchRule("*.days", operator=Operator("lt", 5)),))},
    ),
    Row(
        "the first rule that fits counts",
        [{"get_weather": {"city": "paris"}}],
        [PARIS],
        ["wrong_value calls[0].args.city"],
        {"rules": Rules(match=(MatchRule("get_*.city", strings="exact"), MatchRule("*.city", strings="relaxed")))},
    ),
    Row(
        "a rule reaches nested parameters",
        [{"book": {"flight": "F7", "address": {"city": "oslo"}}}],
        [{"book": {"flight": "F7", "address": {"city": "Oslo"}}}],
        given={"rules": Rules(match=(MatchRule("book.address.city", strings="relaxed"),))},
    ),
    Row(
        "a rule reaches the items of lists",
        [{"book": {"flight": "F7", "items": [{"name": "A"}]}}],
        [{"book": {"flight": "F7", "items": [{"name": "a"}]}}],
        given={"rules": Rules(match=(MatchRule("*.items[*].name", strings="relaxed"),))},
    ),
    Row(
        "a rule for strings holds below its parameter",
        [{"book": {"flight": "F7", "seats": ["1a"]}}],
        [{"book": {"flight": "F7", "seats": ["1A"]}}],
        given={"rules": Rules(match=(MatchRule("book.seats", strings="relaxed"),))},
    ),
    Row(
        "no rule excuses an invented argument",
        [{"get_weather": {"city": "Paris", "mood": 1}}],
        [PARIS],
        ["unexpected_argument calls[0].args.mood"],
        {"rules": Rules(match=(MatchRule("*", operator=Operator("ignore", True)),))},
    ),
]


@pytest.mark.parametrize(
    "row",
    [
        *RIVALS,
        *MORE_RIVALS,
        *RELEVANCE,
        *COUNTS,
        *NEVER,
        *ORDER,
        *PARALLEL_MULTIPLE,
        *ALTERNATIVES,
        *ARGUMENTS,
        *VALUES,
        *RULES,
    ],
    ids=lambda row: row.sentence,
)
def test_a_judgement_is_what_its_sentence_says(row: Row) -> None:
    verdict = judged(row.made, row.expected, **row.given)
    assert findings(verdict) == sorted(row.wrong), [reason.message for reason in verdict.reasons]
