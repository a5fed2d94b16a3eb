"""Every operator: what fits, what does not, and what nobody can say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from pytest_fcall.core import OPERATORS, Json, Operator, Pattern, Rules, Verdict
from pytest_fcall.matching.operators.table import OPERATOR_FUNCTIONS, operator_function
from tests.unit.matching.language import findings, judged

CLOCK = Rules(now=datetime.fromisoformat("2026-11-21T16:30:00-08:00"))  # a Saturday
X = "wrong_value calls[0].args.x"


def verdict(expected: Any, got: Any, rules: Rules = CLOCK, **given: Any) -> Verdict:
    return judged([{"any": {"x": got}}], [{"any": {"x": expected}}], rules=rules, tools=(), **given)


def short(value: Any) -> str:
    return "huge" if isinstance(value, int) and value.bit_length() > 100 else repr(value)[:40]


FITS: list[tuple[Any, Any]] = [
    ({"$any": [1, "a"]}, "a"),
    ({"$any": [{"$all": [{"$gt": 1}, {"$lt": 3}]}, {"$regex": "x+"}]}, 2),
    ({"$any": [{"a": {"$any": [1, 2]}}]}, {"a": 2}),
    ({"$all": [{"$contains": "a"}, {"$not": {"$contains": "b"}}]}, "ac"),
    ({"$all": []}, 1),
    ({"$not": 1}, 2),
    ({"$not": 1}, "1"),
    ({"$not": {"$not": 1}}, 1),
    ({"$not": {"$type": "null"}}, 0),
    ({"$optional": {"$gt": 1}}, 2),
    ({"$ignore": True}, None),
    ({"$regex": "a.c"}, "abc"),
    ({"$regex": "(?s)a.c"}, "a\nc"),
    ({"$regex": "Z\u00fcrich"}, "Zu\u0308rich"),
    ({"$regex": ".*"}, "x" * 1_000_000),
    ({"$contains": "a"}, "cat"),
    ({"$contains": {"$literal": "a"}}, "cat"),
    ({"$contains": ""}, ""),
    ({"$contains": {"name": "a"}}, [{"name": "b"}, {"name": "a"}]),
    ({"$contains": None}, [1, None]),
    ({"$text": "Joe's Bar - Oslo"}, "joe’s\u00a0bar – oslo"),
    ({"$text": "2 adults, 1 child"}, "Two adults,  one child"),
    ({"$text": "twenty-one"}, "21"),
    ({"$text": "Paris", "strings": "exact"}, "Paris"),
    ({"$text": "Paris", "strings": "relaxed"}, "PARIS"),
    ({"$text": "San Francisco, CA", "strings": "bfcl"}, "san-francisco ca"),
    ({"$approx": 0.3}, 0.1 + 0.2),
    ({"$approx": 42.10, "within": 0.005}, 42.095),
    ({"$approx": -200, "within": "10%"}, -220),
    ({"$approx": 0, "within": 1}, -1),
    ({"$approx": 10**30}, 10**30 + 1),
    ({"$gt": 1.5}, 2),
    ({"$ge": 2}, 2.0),
    ({"$lt": 0}, -(10**400)),
    ({"$le": 0}, 0),
    ({"$between": [0, 1]}, 0.5),
    ({"$date": "today"}, "2026-11-21"),
    ({"$date": "yesterday"}, "Nov 20, 2026"),
    ({"$date": "tomorrow"}, "Sunday, 22nd of November 2026"),
    ({"$date": "saturday"}, "2026-11-28"),
    ({"$date": "sunday"}, "2026-11-22"),
    ({"$date": "friday"}, "2026-11-27"),
    ({"$date": "+3d"}, "24 November 2026"),
    ({"$date": "-2w"}, "2026-11-07"),
    ({"$datetime": "2026-11-22T15:00"}, "2026-11-22T15:00:00"),
    ({"$datetime": "2026-11-22T15:00"}, "2026-11-22T23:00:00Z"),
    ({"$datetime": "2026-11-22T15:00Z"}, "2026-11-22T16:00+01:00"),
    ({"$datetime": "2026-11-22T15:00+01:00"}, "2026-11-22T15:00"),
    ({"$datetime": "2026-11-22T15:00"}, "22 November 2026 at 3 pm"),
    ({"$datetime": "2026-11-22T15:00"}, "November 22, 2026, 15:00"),
    ({"$datetime": {"day": "tomorrow", "from": "12:00", "to": "17:00"}}, "2026-11-22T12:00"),
    ({"$datetime": {"day": "tomorrow", "from": "12:00", "to": "17:00"}}, "2026-11-22T17:00:00-08:00"),
    ({"$datetime": {"day": "tomorrow"}}, "2026-11-22T23:59"),
    ({"$datetime": {"day": "today", "from": "22:00", "to": "02:00"}}, "2026-11-22T01:00"),
    ({"$datetime": {"day": "today", "from": "12:00", "to": "12:00"}}, "2026-11-21T12:00"),
    ({"$type": "number"}, 1),
    ({"$type": ["string", "null"]}, None),
    ({"$type": "array"}, []),
    ({"$type": "object"}, {}),
    ({"$subset": {"a": {"$gt": 0}}}, {"a": 1, "b": 2}),
    ({"$subset": {"a": {"$optional": 1}}}, {}),
    ({"$subset": [1, {"$type": "integer"}]}, [2, 1]),
    ({"$unordered": [{"$type": "integer"}, 1]}, [1, 2]),
    ({"$unordered": []}, []),
    ({"$each": {"$any": [1, 2]}}, [1, 2, 2]),
    ({"$json": {"a": [1, {"$ignore": True}]}}, '{"a": [1, 7]}'),
    ({"$json": None}, "null"),
    ({"$literal": {"$gt": 3}}, {"$gt": 3}),
    ({"a": {"$optional": 1}, "b": 2}, {"b": 2}),
    ({"a": {"$any": [1, {"$ignore": True}]}}, {}),
    ([{"$gt": 0}, "a"], [1, "a"]),
]

MISSES: list[tuple[Any, Any]] = [
    ({"$any": [1, "a"]}, True),
    ({"$any": []}, 1),
    ({"$all": [{"$contains": "a"}, {"$contains": "b"}]}, "a"),
    ({"$not": {"$any": [1, 2]}}, 2),
    ({"$regex": "b"}, "abc"),
    ({"$regex": "1"}, 1),
    ({"$contains": "1"}, 1),
    ({"$contains": 1}, "1"),
    ({"$contains": {"$literal": "b"}}, "cat"),
    ({"$contains": "a"}, {"a": 1}),
    ({"$contains": 1}, [True]),
    ({"$text": "Oslo"}, "Oslo!"),
    ({"$text": "1"}, 1),
    ({"$text": "3"}, 3),
    ({"$text": "2 adults"}, "three adults"),
    ({"$text": "Paris", "strings": "exact"}, "PARIS"),
    ({"$text": "2 adults", "strings": "relaxed"}, "two adults"),
    ({"$approx": 3}, "three"),
    ({"$gt": 2}, "three"),
    ("2", "two"),
    ({"$approx": 1}, True),
    ({"$approx": 1}, "1"),
    ({"$approx": 1}, float("inf")),
    ({"$approx": 1}, 10**5000),
    ({"$gt": 1}, True),
    ({"$gt": 1}, "2"),
    ({"$ge": 0}, float("nan")),
    ({"$between": [0, 1]}, True),
    ({"$date": "2026-04-03"}, "03/04/2026"),
    ({"$date": "2026-11-22"}, "11/22/2026"),
    ({"$date": "2026-11-22"}, "22/11/2026"),
    ({"$date": "2026-11-22"}, "22.11.2026"),
    ({"$date": "2026-11-22"}, "22 Nov 26"),
    ({"$date": "2026-11-22"}, "Monday, 22 November 2026"),
    ({"$date": "2026-11-22"}, "2026-11-22T00:00:00"),
    ({"$date": "2026-11-22"}, 20261122),
    ({"$date": "tomorrow"}, "tomorrow"),
    ({"$date": "saturday"}, "2026-11-21"),
    ({"$datetime": "2026-11-22T15:00"}, "2026-11-22"),
    ({"$datetime": "2026-11-22T15:00"}, "2026-11-22T15:00Z"),
    ({"$datetime": "2026-11-22T15:00Z"}, "2026-11-22T07:00"),
    ({"$datetime": "2026-11-22T15:00"}, "22 November 2026 3:00"),
    ({"$datetime": "2026-11-22T15:00"}, "11/22/2026 15:00"),
    ({"$datetime": {"day": "tomorrow", "from": "12:00", "to": "17:00"}}, "2026-11-22T17:01"),
    ({"$datetime": {"day": "today", "from": "12:00", "to": "12:00"}}, "2026-11-21T12:01"),
    ({"$type": "integer"}, 1.0),
    ({"$type": "integer"}, True),
    ({"$type": "number"}, "1"),
    ({"$subset": [1, 1]}, [1, 2]),
    ({"$subset": {"a": 1}}, [1]),
    ({"$subset": [1]}, {"a": 1}),
    ({"$unordered": [1, 2]}, [1, 1]),
    ({"$unordered": [1, 2]}, [1, 2, 2]),
    ({"$unordered": [1]}, 1),
    ({"$each": 1}, {"a": 1}),
    ({"$json": {}}, {}),
    ({"$json": {}}, "{"),
    ({"$json": {"$type": "number"}}, "NaN"),
    ({"$json": []}, "[" * 100_000),
    ({"$literal": "x"}, "y"),
]


@pytest.mark.parametrize(("expected", "got"), FITS, ids=short)
def test_it_fits(expected: Any, got: Any) -> None:
    assert findings(verdict(expected, got)) == []


@pytest.mark.parametrize(("expected", "got"), MISSES, ids=short)
def test_it_does_not_fit_and_that_is_told_where_it_is(expected: Any, got: Any) -> None:
    found = verdict(expected, got)
    assert found.reasons
    assert {f"{reason.kind} {reason.path}" for reason in found.reasons} <= {X, f"{X}[0]", f"{X}[1]"}


def test_the_table_and_the_functions_name_the_same_operators() -> None:
    assert OPERATOR_FUNCTIONS.keys() == OPERATORS.keys()
    assert all(callable(operator_function(name)) for name in OPERATORS)


@pytest.mark.parametrize(
    ("expected", "got", "path"),
    [
        ({"$each": {"$gt": 0}}, [1, 0], "x[1]"),
        ({"$subset": {"a": {"b": 1}}}, {"a": {"b": 2}}, "x.a.b"),
        ({"$json": {"a": 1}}, '{"a": 2}', "x.a"),
        ({"$any": [{"a": 1, "b": 1}, {"a": 2, "b": 2}]}, {"a": 2, "b": 3}, "x.b"),
        ({"$any": [{"a": 1, "b": 1}, {"a": 2, "b": 2}]}, {"a": 2, "b": 1}, "x"),
        ({"$literal": {"$gt": 3}}, {"$gt": 4}, "x.$gt"),
    ],
)
def test_the_path_leads_to_the_value_inside(expected: Any, got: Any, path: str) -> None:
    assert findings(verdict(expected, got)) == [f"wrong_value calls[0].args.{path}"]


UNDECIDED: list[tuple[Any, Any, Rules, str]] = [
    ({"$from": "found.result[0].id"}, "F7", CLOCK, "found.result[0].id"),
    ({"$judge": "sounds polite"}, "hi", CLOCK, "a judge model"),
    ({"$date": "tomorrow"}, "2026-11-22", Rules(), "`now:`"),
    ({"$datetime": {"day": "friday"}}, "2026-11-22T10:00", Rules(), "`now:`"),
    ({"$date": "someday"}, "2026-11-22", CLOCK, "'someday'"),
    ({"$date": "su"}, "2026-11-22", CLOCK, "'su'"),
    ({"$date": "+999999w"}, "2026-11-22", CLOCK, "calendar"),
    ({"$datetime": "soon"}, "2026-11-22T10:00", CLOCK, "'soon'"),
    ({"$datetime": {"day": "today", "from": "noon"}}, "2026-11-22T10:00", CLOCK, "'noon'"),
    ({"$datetime": 3}, "2026-11-22T10:00", CLOCK, "{day, from, to}"),
    ({"$regex": "("}, "x", CLOCK, "regular expression"),
    ({"$regex": "(a|aa)+"}, "a" * 100 + "b", CLOCK, "repeats"),
    ({"$iban": "DE"}, "x", CLOCK, "`$iban`"),
    ({"$any": 3}, "x", CLOCK, "takes a list"),
    ({"$text": 3}, "x", CLOCK, "takes a string"),
    ({"$text": "a", "strings": "loose"}, "a", CLOCK, "exact, relaxed, bfcl"),
    ({"$gt": "3"}, 4, CLOCK, "takes a number"),
    ({"$between": [1]}, 4, CLOCK, "two numbers"),
    ({"$approx": 1, "within": "much"}, 4, CLOCK, "percentage"),
    ({"$approx": 1, "within": "x%"}, 4, CLOCK, "percentage"),
    ({"$approx": 100, "within": "1e999999%"}, 4, CLOCK, "percentage"),
    ({"$approx": float("inf")}, 4, CLOCK, "finite"),
    ({"$subset": 3}, 4, CLOCK, "an object or a list"),
]


@pytest.mark.parametrize(("expected", "got", "rules", "words"), UNDECIDED)
@pytest.mark.parametrize("around", ["{}", "$not", "$not $not", "$any", "$all", "$optional", "list"])
def test_what_cannot_be_judged_is_never_right_and_says_why(
    expected: Any, got: Any, rules: Rules, words: str, around: str
) -> None:
    wrapped: dict[str, tuple[Any, Any]] = {
        "{}": (expected, got),
        "$not": ({"$not": expected}, got),
        "$not $not": ({"$not": {"$not": expected}}, got),
        "$any": ({"$any": ["no", expected]}, got),
        "$all": ({"$all": [expected, {"$ignore": True}]}, got),
        "$optional": ({"$optional": expected}, got),
        "list": ({"$unordered": [expected]}, [got]),
    }
    found = verdict(*wrapped[around], rules=rules)
    assert not found.valid
    assert words in found.reasons[0].message


def test_without_a_clock_a_moment_has_the_zone_of_the_other_side() -> None:
    assert verdict({"$datetime": "2026-11-22T15:00"}, "2026-11-22T15:00+02:00", rules=Rules()).valid
    assert verdict({"$datetime": "2026-11-22T15:00+02:00"}, "2026-11-22T15:00", rules=Rules()).valid


def test_any_needs_no_opinion_once_something_matches() -> None:
    assert verdict({"$any": [{"$judge": "fine"}, "x"]}, "x").valid


def iban(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
    if options.get("broken"):
        raise KeyError("IBAN")
    return None if isinstance(got, str) and got.startswith(str(operand)) else f"no account in {operand}"


def test_a_registered_comparator_decides() -> None:
    assert verdict({"$iban": "DE"}, "DE12", comparators={"iban": iban}).valid


def test_a_registered_comparators_sentence_is_shown_with_the_argument() -> None:
    (reason,) = verdict({"$iban": "DE"}, "NO12", comparators={"iban": iban}).reasons
    assert reason.message == "`x`: no account in DE"
    assert reason.expected == Operator("iban", "DE")


@pytest.mark.parametrize("name", ["plain", "not"])
def test_a_comparator_that_raises_is_named_and_never_right(name: str) -> None:
    broken = {"$iban": "DE", "broken": True}
    (reason,) = verdict({"$not": broken} if name == "not" else broken, "DE12", comparators={"iban": iban}).reasons
    assert "`$iban` raised KeyError: 'IBAN'" in reason.message


def test_a_comparator_that_answers_with_a_boolean_is_told_what_it_should_answer() -> None:
    def yes(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
        return True  # type: ignore[return-value]  # the mistake under test

    (reason,) = verdict({"$yes": True}, 1, comparators={"yes": yes}).reasons
    assert "None or a sentence" in reason.message
