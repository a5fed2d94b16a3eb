"""What people read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from pytest_fcall.core import Call, Calls, Expectation, ExpectedCall, Operator, Reply, Rules
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.matching.wording import call_text
from tests.unit.matching.language import TOOLS, judged

NO_DIFFERENCE = "they read the same: `$text` or `strings: relaxed` would accept it"
SAME_NUMBER = "the number is the same: `$text` would accept it"
PUNCTUATION = "only punctuation and spacing differ: `$any` can list both spellings"
READER_FINDS = "`strings: relaxed` would find it"
OTHER_ORDER = "the same items in another order: `$unordered` would accept it"
ONE_WAY = "that is 2026-11-22, in a spelling with only one meaning"
A_DAY = "it names a day, not a moment: `$date` accepts one"
CLOCK = Rules(now=datetime.fromisoformat("2026-11-21T16:30:00-08:00"))


@pytest.mark.parametrize(
    ("got", "expected", "sentence"),
    [
        ("fahrenheit", "celsius", "`x` is 'fahrenheit', expected 'celsius'"),
        ("1", 1, "`x` is '1' (a string), expected 1 (an integer)"),
        (True, 1, "`x` is true (a boolean), expected 1 (an integer)"),
        (None, "a", "`x` is null, expected 'a'"),
        (
            "paris",
            "Paris",
            "`x` is 'paris', expected 'Paris'; " + NO_DIFFERENCE,
        ),
        (
            "Oslo, Norway",
            "Oslo Norway",
            "`x` is 'Oslo, Norway', expected 'Oslo Norway'; " + PUNCTUATION,
        ),
        ("two adults", "2 adults", "`x` is 'two adults', expected '2 adults'; " + SAME_NUMBER),
        (
            "PARIS",
            {"$text": "Paris", "strings": "exact"},
            "`x` is 'PARIS', expected 'Paris' (strings: 'exact'); " + NO_DIFFERENCE,
        ),
        ("-5", "5", "`x` is '-5', expected '5'"),
        ("1.5", "15", "`x` is '1.5', expected '15'"),
        ("555-12", "55512", "`x` is '555-12', expected '55512'; " + PUNCTUATION),
        (0.1 + 0.2, 0.3, "`x` is 0.30000000000000004, expected 0.3; `$approx` would accept it"),
        (0.1 + 0.2, {"$any": [0.3, 7]}, "`x` is 0.30000000000000004, expected 0.3 or 7; `$approx` would accept it"),
        ([1, 2], [2, 1], "`x` is [1, 2], expected [2, 1]; " + OTHER_ORDER),
        ({"a": 1}, [1, 2], "`x` is {a: 1} (an object), expected [1, 2] (a list)"),
        ([1], [1, 2], "`x` is [1], expected [1, 2]; its length is 1, not 2"),
        ([], {}, "`x` is [] (a list), expected {} (an object)"),
        ([1, 3], {"$unordered": [1, 2]}, "`x` is [1, 3], expected [1, 2] in any order; no item matches 2"),
        ("oslo", {"$any": ["Oslo", "Rome"]}, "`x` is 'oslo', expected 'Oslo' or 'Rome'; " + NO_DIFFERENCE),
        ([1, 5], {"$any": [[1, 2], [3, 4]]}, "`x[1]` is 5, expected 2"),
        ([1, 5], {"$any": [[1, 2], [1, 3]]}, "`x` is [1, 5], expected [1, 2] or [1, 3]"),
        (5, {"$any": [1, {"$gt": 7}]}, "`x` is 5, expected 1 or a number greater than 7"),
        (5, {"$not": {"$between": [1, 9]}}, "`x` is 5, expected anything but a number from 1 to 9"),
        (5, {"$approx": 4, "within": "10%"}, "`x` is 5, expected about 4 (within 10%)"),
        (
            "Big oven",
            {"$contains": "Oven"},
            "`x` is 'Big oven', expected something that contains 'Oven'; " + READER_FINDS,
        ),
        ("22.11.2026", {"$date": "tomorrow"}, "`x` is '22.11.2026', expected the day 'tomorrow'; " + ONE_WAY),
        ("2026-11-23", {"$date": "tomorrow"}, "`x` is '2026-11-23', expected the day 'tomorrow'; that is 2026-11-22"),
        (
            "2026-11-22",
            {"$datetime": {"day": "2026-11-22"}},
            "`x` is '2026-11-22', expected the moment {day: '2026-11-22'}; " + A_DAY,
        ),
        (
            "2026-11-22T15:30",
            {"$date": "tomorrow"},
            "`x` is '2026-11-22T15:30', expected the day 'tomorrow'; "
            "it names a moment, not a day: `$datetime: {day: …}` accepts one",
        ),
        ({"b": 1}, {"b": 1, "c": {"$between": [1]}}, "`x.c` is missing, expected $between: [1]"),
        ({"b": 1}, {"b": 1, "c": {"$structure": [1]}}, "`x.c` is missing, expected something of the structure of [1]"),
        ({"b": 1}, {"b": 1, "c": {"$gt": 3}}, "`x.c` is missing, expected a number greater than 3"),
        ({"b": 1, "c": 2}, {"b": 1}, "`x.c` is given as 2, but not expected"),
        ([{"b": 1}], [{"b": 2}], "`x[0].b` is 1, expected 2"),
    ],
)
def test_an_argument_is_explained_in_one_sentence(got: Any, expected: Any, sentence: str) -> None:
    (reason,) = judged([{"any": {"x": got}}], [{"any": {"x": expected}}], rules=CLOCK).reasons
    assert reason.message == sentence


PARIS: dict[str, Any] = {"get_weather": {"city": "Paris"}}


@pytest.mark.parametrize(
    ("made", "expected", "sentence"),
    [
        ([], [PARIS], "No call was made, expected `get_weather(city='Paris')`"),
        ([], ["list_tables", PARIS], "No call was made, expected `list_tables()` and `get_weather(city='Paris')`"),
        ([], [{"book": {"$ignore": True}}], "No call was made, expected `book(…)`"),
        ([], [{**PARIS, "args": "open"}], "No call was made, expected `get_weather(city='Paris', …)`"),
        ([PARIS], [PARIS, "list_tables"], "`list_tables()` was not called"),
        ([PARIS], [PARIS, PARIS], "`get_weather(city='Paris')` was not called again"),
        (
            [PARIS],
            [{**PARIS, "times": [2, None]}],
            "`get_weather(city='Paris')` was called once only, expected at least 2 times",
        ),
        ([PARIS], [{**PARIS, "times": [2, 2]}], "`get_weather(city='Paris')` was called once only, expected 2 times"),
        ([PARIS] * 2, [PARIS], "`get_weather(city='Paris')` was called more often than expected"),
        ([PARIS], "no_call", "`get_weather(city='Paris')` was called, and no call was expected"),
        ([PARIS, {"delete_db": {}}], [PARIS], "`delete_db()` was called, but not expected"),
        ([{"delete_db": {}}], [PARIS], "`delete_db()` was called, expected `get_weather(city='Paris')`"),
        (
            [{"get_wether": {}}],
            "any_call",
            "`get_wether` is not one of the tools offered; did the model mean `get_weather`?",
        ),
        ([{"fly": {}}], "any_call", "`fly` is not one of the tools offered"),
        (
            [{"delete_db": {}}],
            {"calls": [], "allow": ["*"], "never": ["delete_*"]},
            "`delete_db()` is forbidden",
        ),
        (
            [PARIS, {"list_tables": {}}],
            ["list_tables", {"then": [PARIS]}],
            "`get_weather(city='Paris')` was called before `list_tables()` (calls[1]), expected after it",
        ),
    ],
)
def test_calls_are_explained_in_one_sentence(made: Any, expected: Any, sentence: str) -> None:
    (reason,) = judged(made, expected).reasons
    assert reason.message == sentence


@pytest.mark.parametrize(
    ("name", "written"), [("a b", "['a b']"), ("größe", "['größe']"), ("a-b", "a-b"), ("id", "id")]
)
def test_a_name_is_written_alike_in_paths_and_sentences(name: str, written: str) -> None:
    (by_schema,) = judged([{"list_tables": {name: 1}}], ["list_tables"]).reasons
    assert by_schema.message == f"`{written}` is not an argument of this tool"
    (by_case,) = judged([{"any": {"x": {name: 1}}}], [{"any": {"x": {name: 2}}}]).reasons
    assert f"calls[0].args.{by_case.message.split('`')[1]}" == by_case.path
    assert by_schema.path.endswith(written)
    assert by_case.path.endswith(written)


def test_long_values_are_shortened() -> None:
    (reason,) = judged([{"any": {"x": "a" * 1_000_000}}], [{"any": {"x": "b"}}]).reasons
    assert len(reason.message) < 200
    assert reason.got == "a" * 1_000_000


def test_an_integer_of_more_than_400_bits_is_told_by_its_length() -> None:
    for number, told in ((2**400 - 1, str(2**400 - 1)), (2**400, "an integer of about 120 digits")):
        [reason] = judged([{"any": {"x": 1}}], [{"any": {"x": number}}]).reasons
        assert reason.message == f"`x` is 1, expected {told}"


def test_an_order_is_looked_for_where_few_items_may_have_changed_places_whatever_is_in_them() -> None:
    few, many = 10, 100
    for count, reasons in ((few, 1), (many, 2 * many)):
        expected, got = [[], {"$not": []}] * count, [1, []] * count
        assert len(judged([{"any": {"x": got}}], [{"any": {"x": expected}}]).reasons) == reasons


@pytest.mark.parametrize(
    ("expected", "got", "is_tried"),
    [
        ([*range(99)], [*range(98, -1, -1)], True),
        ([*range(100)], [*range(99, -1, -1)], False),
        ([0, [*range(50)]], [[*range(50)], 0], False),
        ([0, 1, 2, {str(key): key for key in range(499)}], [{str(key): key for key in range(499)}, 2, 1, 0], True),
        ([0, {str(key): key for key in range(1665)}], [{str(key): key for key in range(1665)}, 0], True),
        ([0, {str(key): key for key in range(1666)}], [{str(key): key for key in range(1666)}, 0], False),
        ([0, {"$subset": {str(key): key for key in range(2000)}}], [{str(key): key for key in range(2000)}, 0], False),
        ([{"$any": [1, 2]}, 1], [1, 2], True),
    ],
    ids=[
        "99 items",
        "100 items",
        "a list",
        "499 keys",
        "1,665 keys",
        "1,666 keys",
        "an operator",
        "one item that is wrong",
    ],
)
def test_another_order_is_looked_for_where_that_takes_ten_thousand_comparisons_at_most(
    expected: Any, got: Any, is_tried: bool
) -> None:
    reasons = judged([{"any": {"x": got}}], [{"any": {"x": expected}}]).reasons
    assert any(reason.message.endswith(OTHER_ORDER) for reason in reasons) is is_tried


def test_control_characters_are_shown_and_not_sent() -> None:
    (reason,) = judged([{"any": {"x": "\x1b[31m\u202e\x00"}}], [{"any": {"x": "b"}}]).reasons
    assert r"'\x1b[31m\u202e\x00'" in reason.message


def test_an_empty_reply_is_told_from_one_that_says_something_else() -> None:
    (reason,) = judged([], [PARIS], reply=Reply(" ")).reasons
    assert reason.message == "No call was made, expected `get_weather(city='Paris')`; the reply is empty"
    (reason,) = judged([], "any_call", reply=Reply(" ")).reasons
    assert reason.message == "No call was made, and some call was expected; the reply is empty"


def test_where_no_value_is_right_nothing_is_expected() -> None:
    nothing = Expectation(stages=((ExpectedCall("any", {"x": Operator("optional", Operator("any", ()))}),),))
    (reason,) = judge(Reply(), Calls((Call("any", {"x": ""}),)), nothing, MatchContext(TOOLS)).reasons
    assert reason.message == "`x` is '', expected nothing"


def test_a_reply_that_a_filter_stopped_says_so() -> None:
    verdict = judged([], "no_call", reply=Reply("x", finish="content_filter"))
    assert [(reason.message, reason.got) for reason in verdict.reasons] == [
        ("The provider's content filter stopped the reply.", "content_filter")
    ]


def test_a_name_that_would_break_a_line_is_quoted_as_a_text() -> None:
    (reason,) = judged([{"get\nweather": {"city": "Paris"}}], [{"get_weather": {"city": "Paris"}}]).reasons
    assert reason.message.startswith("`'get\\nweather'` is not one of the tools offered")


def test_a_name_of_an_argument_is_quoted_and_shortened_beyond_80_characters() -> None:
    assert call_text(Call("f", {"x" * 80: 1})) == f"`f({'x' * 80}=1)`"
    assert call_text(Call("f", {"x" * 81: 1})) == f"`f('{'x' * 80}'… (81 characters)=1)`"
