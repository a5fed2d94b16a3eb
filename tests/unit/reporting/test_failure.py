from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import (
    Call,
    Calls,
    Case,
    Expectation,
    ExpectedCall,
    Json,
    Location,
    Operator,
    RawCall,
    Reason,
    ReasonKind,
    Reply,
    Turn,
    Usage,
    Verdict,
)
from pytest_fcall.core.operators import Pattern
from pytest_fcall.reporting.failure import Failure, failure_text, full_failure_text
from pytest_fcall.reporting.terminal import ASCII, UNICODE, Marks, column_count

CELSIUS: dict[str, Pattern] = {"city": Operator("any", ["San Francisco", "SF"]), "unit": "celsius"}


def in_short(*failure: Any, width: int = 100, marks: Marks = UNICODE) -> str:
    return failure_text(Failure(*failure), width, marks)


def in_full(*failure: Any) -> str:
    return full_failure_text(Failure(*failure))


def calls_of(*calls: tuple[str, Mapping[str, Pattern] | None], **rest: Any) -> Expectation:
    return Expectation(stages=(tuple(ExpectedCall(name, arguments) for name, arguments in calls),), **rest)


def case_of(expect: Expectation | None, prompt: Json = "Weather in SF, in celsius?") -> Case:
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt})
    return Case("celsius", Location("cases/weather.fc.yaml", 14, 5), (Turn(messages, expect),))


def called(*calls: tuple[str, Mapping[str, Json]]) -> Calls:
    return Calls(tuple(Call(name, arguments) for name, arguments in calls))


def reason(kind: ReasonKind, path: str, message: str = "so it is", **values: Any) -> Reason:
    return Reason(kind, path, message, **values)


def invalid(*reasons: Reason, pairs: tuple[tuple[int, int], ...] = (), alternative: int | None = None) -> Verdict:
    return Verdict(valid=False, reasons=reasons, pairs=pairs, alternative=alternative)


def lines(text: str) -> list[str]:
    return text.split("\n")


WRONG_UNIT = invalid(
    reason("wrong_value", "calls[0].args.unit", "`unit` is 'kelvin', expected 'celsius'"), pairs=((0, 0),)
)


def test_the_wrong_argument_is_marked_and_told_in_words() -> None:
    calls = called(("get_weather", {"city": "SF", "unit": "kelvin"}))
    text = in_short(case_of(calls_of(("get_weather", CELSIUS))), calls, WRONG_UNIT, Reply(), "openai:gpt-5.2")
    assert lines(text) == [
        "wrong_value: `unit` is 'kelvin', expected 'celsius'",
        "  cases/weather.fc.yaml:14 asked openai:gpt-5.2: Weather in SF, in celsius?",
        "                 expected                     called",
        "  ✗ get_weather",
        '  ✗   unit       "celsius"                    "kelvin"',
        '  ✓   city       $any["San Francisco", "SF"]  "SF"',
    ]


def test_marks_have_an_ascii_form() -> None:
    calls = called(("get_weather", {"city": "SF", "unit": "k" * 200}))
    text = in_short(case_of(calls_of(("get_weather", CELSIUS))), calls, WRONG_UNIT, Reply(), marks=ASCII)
    assert text.isascii()
    assert "  !   unit" in text


@pytest.mark.parametrize(
    ("kind", "expected", "got", "row"),
    [
        ("missing_argument", {"days": 3}, {}, ["3", "(left out)"]),
        ("unexpected_argument", {}, {"days": 3}, ["(not expected)", "3"]),
        ("wrong_type", {"days": 3}, {"days": "3"}, ["3", '"3"']),
        ("wrong_value", {"days": None}, {"days": 0}, ["null", "0"]),
        ("wrong_value", {"days": 1}, {"days": True}, ["1", "true"]),
        ("wrong_value", {"days": "caf\u00e9"}, {"days": "cafe\u0301"}, ['"caf\\xe9"', '"cafe\\u0301"']),
    ],
)
def test_each_kind_of_wrong_argument_reads_well(
    kind: ReasonKind, expected: dict[str, Pattern], got: dict[str, Json], row: list[str]
) -> None:
    verdict = invalid(reason(kind, "calls[0].args.days"), pairs=((0, 0),))
    text = in_short(case_of(calls_of(("plan", expected))), called(("plan", got)), verdict, Reply())
    assert lines(text)[4].split() == ["✗", "days", *" ".join(row).split()]


@pytest.mark.parametrize(
    ("path", "label", "shown"),
    [
        ("calls[0].args.legs[1].to", "legs[1].to", '"OSL" "OSL"'),
        ("calls[0].args.legs[1]['x y']", "legs[1]['x y']", "2 2"),
        ("calls[0].args['a.b']", "a.b", "{c: 1} {c: 1}"),
        ("calls[0].args['a.b'].c", "a.b.c", "1 1"),
        ("calls[0].args['都市']", "都市", '"\\u6771\\u4eac" "\\u6771\\u4eac"'),
    ],
)
def test_a_place_deep_inside_is_named_with_its_own_values(path: str, label: str, shown: str) -> None:
    arguments: dict[str, Json] = {"legs": [{}, {"to": "OSL", "x y": 2}], "a.b": {"c": 1}, "都市": "東京", "fine": 1}
    verdict = invalid(reason("wrong_value", path, expected="never shown", got="never shown"), pairs=((0, 0),))
    text = in_short(case_of(calls_of(("book", arguments))), called(("book", arguments)), verdict, Reply())
    assert lines(text)[4].split() == ["✗", *label.split(), *shown.split()]
    assert sum(line.lstrip().startswith("✓") for line in lines(text)) == 3


def test_a_place_below_an_operator_shows_what_the_reason_says() -> None:
    verdict = invalid(reason("wrong_value", "calls[0].args.legs[0].to", expected="OSL", got="?"), pairs=((0, 0),))
    expectation = calls_of(("book", {"legs": Operator("unordered", [{"to": "OSL"}])}))
    text = in_short(case_of(expectation), called(("book", {"legs": [{"to": "BGO"}]})), verdict, Reply())
    assert lines(text)[4].split() == ["✗", "legs[0].to", '"OSL"', '"BGO"']


def test_long_values_are_shown_where_they_part() -> None:
    body = "The report is attached. " * 40
    expected, got = {"body": body + "Yours, Ana"}, {"body": body + "Yours, Bob"}
    verdict = invalid(reason("wrong_value", "calls[0].args.body"), pairs=((0, 0),))
    text = in_short(case_of(calls_of(("send", expected))), called(("send", got)), verdict, Reply(), width=80)
    assert 'Yours, Ana"' in lines(text)[4]
    assert 'Yours, Bob"' in lines(text)[4]


def test_missing_and_unexpected_calls_face_an_empty_side() -> None:
    expectation = calls_of(("get_weather", {"city": "Oslo"}), ("get_time", None))
    calls = called(("get_weather", {"city": "Oslo"}), ("delete_all", {}))
    verdict = invalid(reason("unexpected_call", "calls[1]"), reason("wrong_count", "calls"), pairs=((0, 0),))
    text = in_short(case_of(expectation), calls, verdict, Reply())
    assert lines(text)[2:6] == [
        "                 expected         called",
        '  ✓ get_weather  city: "Oslo"     city: "Oslo"',
        "  ✗ get_time     (any arguments)  (not called)",
        "  ✗ delete_all   (not expected)   (no arguments)",
    ]


def test_another_tool_is_named_on_its_side() -> None:
    verdict = invalid(reason("wrong_tool", "calls[0]"), pairs=((0, 0),))
    text = in_short(
        case_of(calls_of(("get_weather", {"city": "Oslo"}))), called(("get_time", {"zone": "CET"})), verdict, Reply()
    )
    assert lines(text)[3] == '  ✗ get_weather  city: "Oslo"  get_time: zone: "CET"'


def test_calls_that_are_right_fold_before_wrong_ones_are_left_out() -> None:
    cities = ["Oslo", "Rome", "Bern", "Kyiv", "Riga", "Lima", "Cairo", "Delhi", "Paris", "Wien"]
    calls = called(*(("get_weather", {"city": city, "unit": "K"}) for city in cities))
    expectation = calls_of(*(("get_weather", {"city": city, "unit": "K"}) for city in cities))
    pairs = tuple((n, n) for n in range(10))
    one_wrong = in_short(
        case_of(expectation), calls, invalid(reason("wrong_value", "calls[3].args.unit"), pairs=pairs), Reply()
    )
    assert "  ✓ 9 more as expected" in lines(one_wrong)
    all_wrong = invalid(*(reason("wrong_value", f"calls[{n}].args.unit") for n in range(10)), pairs=pairs)
    text = in_short(case_of(expectation), calls, all_wrong, Reply())
    assert len(lines(text)) == 12
    assert "  … more with -vv; 0 of 10 calls are as expected" in lines(text)
    assert lines(text)[-1] == "  … and 8 more (-vv)"


def test_calls_that_are_wrong_only_together_are_shown_as_far_as_they_fit() -> None:
    names = [f"step_{n}" for n in range(20)]
    pairs = tuple((n, n) for n in range(20))
    verdict = invalid(reason("wrong_order", "calls"), pairs=pairs)
    expectation = calls_of(*((name, {}) for name in names))
    text = in_short(case_of(expectation), called(*((name, {}) for name in names)), verdict, Reply())
    assert len(lines(text)) == 12
    assert lines(text)[3] == "  ✓ step_0  (no arguments)  (no arguments)"
    assert lines(text)[-1] == "  … more with -vv; 20 of 20 calls are as expected"


def test_text_stands_in_where_no_call_was_made() -> None:
    verdict = invalid(reason("no_call", "calls", "no tool was called"))
    text = in_short(case_of(calls_of(("get_weather", {}))), Calls(), verdict, Reply(text="Which city?"))
    assert lines(text)[3:] == [
        "  ✗ get_weather  (no arguments)  (not called)",
        '  text: "Which city?"',
    ]


@pytest.mark.parametrize(
    ("calls", "reply", "line"),
    [
        (Calls(), Reply(refusal="I must not."), '  refusal: "I must not."'),
        (Calls(), Reply(), '  text: ""'),
        (
            Calls(malformed="JSON ends early"),
            Reply(tool_calls=(RawCall("f", '{"a": '),)),
            '  raw call: "f" \'{"a": \'',
        ),
        (Calls(malformed="no JSON"), Reply(text="f(a=", decoder="json"), '  text: "f(a="'),
    ],
)
def test_what_the_model_gave_instead_of_calls_is_shown(calls: Calls, reply: Reply, line: str) -> None:
    assert line in lines(in_short(case_of(Expectation("any_call")), calls, invalid(), reply))


def test_the_alternative_of_the_verdict_is_shown() -> None:
    expectation = Expectation("any_of", alternatives=(Expectation("no_call"), calls_of(("get_time", {"zone": "CET"}))))
    text = in_short(case_of(expectation), Calls(), invalid(alternative=1), Reply())
    assert '  ✗ get_time  zone: "CET"  (not called)' in lines(text)


def test_a_call_where_none_was_expected_is_wrong() -> None:
    verdict = invalid(reason("unexpected_call", "calls[0]"))
    text = in_short(case_of(Expectation("no_call")), called(("get_time", {"zone": "CET"})), verdict, Reply())
    assert '  ✗ get_time  (not expected)  zone: "CET"' in lines(text)


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("two\nlines", "two\\nlines"),
        (
            [{"type": "text", "text": "File this."}, {"type": "image_file", "image_file": {"path": "r1.png"}}],
            "File this. [image r1.png]",
        ),
        ([{"type": "audio"}, "stray"], "[audio]"),
        (None, ""),
    ],
)
def test_what_was_asked_is_one_line(prompt: Json, asked: str) -> None:
    text = in_short(case_of(None, prompt), Calls(), invalid(), Reply())
    assert lines(text)[1].rstrip() == f"  cases/weather.fc.yaml:14 asked: {asked}".rstrip()


def test_a_case_without_turns_or_place_is_no_trouble() -> None:
    text = in_short(Case("assert_calls", Location(""), ()), Calls(), invalid(), Reply())
    assert lines(text)[:2] == ["assert_calls", "  asked: (nothing)"]


def test_the_full_text_leaves_nothing_out() -> None:
    calls = Calls((Call("get_weather", {"city": "SF", "unit": "kelvin"}),), notes=("one call was dropped",))
    wrong = reason("wrong_value", "calls[0].args.unit", "`unit` is wrong", expected="celsius", got="kelvin")
    verdict = invalid(*[wrong] * 5, pairs=((0, 0),))
    engine = {"model": "gpt-5.2-2026-11-01"}
    reply = Reply(text="Here\nyou are", usage=Usage(12, 3), seconds=0.2500417, finish="tool_calls", engine=engine)
    case = case_of(calls_of(("get_weather", CELSIUS), ("get_time", None)))
    text = in_full(case, calls, verdict, reply, "openai:gpt-5.2")
    assert lines(text)[:11] == [
        "wrong_value: `unit` is wrong",
        "  cases/weather.fc.yaml:14 celsius (openai:gpt-5.2)",
        "  asked:",
        "    system: Be brief.",
        "    user: Weather in SF, in celsius?",
        "  expected and called:",
        '    ✗ expected get_weather(city: $any["San Francisco", "SF"], unit: "celsius")',
        '    ✗ called   get_weather(city: "SF", unit: "kelvin")',
        "    ✗ expected get_time(any arguments)",
        "  reasons:",
        "    wrong_value at calls[0].args.unit: `unit` is wrong",
    ]
    assert text.count("wrong_value at ") == 5
    assert lines(text)[-7:] == [
        "  text:",
        "    Here",
        "    you are",
        "  notes:",
        "    one call was dropped",
        "  reply:",
        '    finish tool_calls, model "gpt-5.2-2026-11-01", seconds 0.25, input tokens 12, output tokens 3',
    ]


TEXT = st.text(st.characters(exclude_categories=[]), max_size=30)
ARGUMENTS = st.dictionaries(
    TEXT, st.recursive(TEXT | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=3)), max_size=4
)
CALLS = st.lists(st.tuples(TEXT, ARGUMENTS), max_size=8)
REASONS = st.lists(
    st.builds(
        Reason,
        st.sampled_from(["wrong_value", "missing_argument", "unexpected_argument", "wrong_count"]),
        st.builds("calls[{}].args{}".format, st.integers(0, 12), st.just("") | TEXT.map(".{}".format)) | TEXT,
        TEXT,
    ),
    max_size=12,
)


@given(
    expected=CALLS,
    got=CALLS,
    reasons=REASONS,
    pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9),
    said=TEXT,
    width=st.integers(20, 200),
)
def test_whatever_comes_twelve_printable_lines_of_the_width_are_enough(
    *,
    expected: list[tuple[str, dict[str, Any]]],
    got: list[tuple[str, dict[str, Any]]],
    reasons: list[Reason],
    pairs: list[tuple[int, int]],
    said: str,
    width: int,
) -> None:
    case, calls = case_of(calls_of(*expected), said), called(*got)
    verdict, reply = invalid(*reasons, pairs=tuple(pairs)), Reply(text=said)
    text = in_short(case, calls, verdict, reply, said, width=width)
    assert len(lines(text)) <= 12
    assert all(line.isprintable() for line in lines(text))
    assert all(column_count(line) <= width for line in lines(text)[1:])
    assert all(line.isprintable() for line in lines(in_full(case, calls, verdict, reply, said)))


@pytest.mark.timeout(60)
def test_a_flood_of_text_arguments_and_calls_takes_no_time() -> None:
    flood = "\u202eab" * 400_000
    arguments = {f"a{n}": flood for n in range(2_000)}
    reasons = [reason("unexpected_argument", f"calls[0].args.a{n}", flood, got=flood) for n in range(2_000)]
    calls = called(("f", arguments), *[("g", {})] * 2_000)
    verdict = invalid(*reasons, *(reason("unexpected_call", f"calls[{n}]") for n in range(1, 2_001)), pairs=((0, 0),))
    case = case_of(calls_of(("f", {})), flood)
    text = in_short(case, calls, verdict, Reply(text=flood), flood)
    assert len(lines(text)) == 12


def test_nothing_is_called_right_of_calls_that_are_too_many_to_be_looked_at() -> None:
    calls = called(*[("get_weather", {"city": "Rome"})] * 300)
    message = "The reply has 300 calls, more than are compared one by one."
    verdict = invalid(reason("wrong_count", "calls", message, got=300))
    text = in_short(case_of(calls_of(("get_weather", CELSIUS))), calls, verdict, Reply())
    assert "as expected" not in text
    assert "more than are compared" in lines(text)[0]


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        ("F7", '"F7"'),
        (Operator("from", "found.result", {"unresolved": "it has no result yet"}), '$from "found.result"'),
    ],
)
def test_a_reference_is_shown_as_what_it_stands_for_or_as_it_is_written(known: Pattern, shown: str) -> None:
    wrong = invalid(reason("wrong_value", "calls[0].args.flight", expected=known, got="F8"), pairs=((0, 0),))
    expected = calls_of(("book", {"flight": Operator("from", "found.result")}))
    text = in_short(case_of(expected), called(("book", {"flight": "F8"})), wrong, Reply())
    (row,) = [line for line in lines(text) if line.endswith('"F8"')]
    assert shown in row
    assert "unresolved" not in text


def test_arguments_that_official_rules_did_not_come_to_are_not_called_right() -> None:
    expected = calls_of(("area", {"base": 10, "height": 5}))
    missing = reason("missing_argument", "calls[0].args.base", "the argument 'base' may not be left out", expected=10)
    verdict = Verdict(valid=False, reasons=(missing,), pairs=((0, 0),), error_type="simple_function_checker:x")
    text = in_short(case_of(expected), called(("area", {})), verdict, Reply())
    assert [line.split() for line in lines(text)[-2:]] == [
        ["✗", "base", "10", "(left", "out)"],
        ["height", "5", "(left", "out)"],
    ]


def test_right_arguments_are_marked_right_where_only_the_result_is_wrong() -> None:
    expected = calls_of(("get_weather", {"city": "Rome"}))
    calls = called(("get_weather", {"city": "Rome"}))
    wrong = invalid(reason("wrong_result", "calls[0].result.degrees", expected=20, got=25), pairs=((0, 0),))
    assert [line.split() for line in lines(in_short(case_of(expected), calls, wrong, Reply()))[-2:]] == [
        ["✓", "get_weather", "city:", '"Rome"', "city:", '"Rome"'],
        ["✗", "result.degrees", "20", "25"],
    ]
    full = in_full(case_of(expected), calls, wrong, Reply())
    assert '✓ expected get_weather(city: "Rome")' in full
    assert '✓ called   get_weather(city: "Rome")' in full


def test_a_wrong_argument_is_marked_beside_a_wrong_result() -> None:
    expected = calls_of(("get_weather", {"city": "Rome"}))
    reasons = (
        reason("wrong_value", "calls[0].args.city", expected="Rome", got="Oslo"),
        reason("wrong_result", "calls[0].result", expected=20, got=25),
    )
    text = in_short(
        case_of(expected), called(("get_weather", {"city": "Oslo"})), invalid(*reasons, pairs=((0, 0),)), Reply()
    )
    rows = [line.split() for line in lines(text)]
    assert ["✗", "city", '"Rome"', '"Oslo"'] in rows
    assert ["✗", "result", "20", "25"] in rows
