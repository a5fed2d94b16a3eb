"""promptfoo's assertions as expectations: what they become, what is named, and that nothing is loosened."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.core import Case, FaultyCase, Json, RawCall, Reply
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.traces.case_files import NamedDraft, case_file_text
from pytest_fcall.traces.drafts import draft_of
from pytest_fcall.traces.files import records_of
from pytest_fcall.traces.record import Record, SkippedEntry
from tests.unit.traces.support import read_all

WEATHER: dict[str, Json] = {
    "type": "object",
    "properties": {
        "location": {"type": "string"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "days": {"type": "integer"},
        "where": {"type": "object"},
    },
    "required": ["location"],
}
SEARCH: dict[str, Json] = {"type": "object", "properties": {"q": {"type": "string"}}}
TIME: dict[str, Json] = {"type": "object", "properties": {}}
TOOLS: list[Json] = [
    {"type": "function", "function": {"name": name, "parameters": parameters}}
    for name, parameters in (("get_weather", WEATHER), ("search", SEARCH), ("get_time", TIME))
]
ANY: Json = {"$ignore": True}


def records_and_skipped(folder: Path, *tests: Mapping[str, Json], **more: Json) -> tuple[list[Record], list[str]]:
    """What is read of a configuration with these tests."""
    config = {
        "prompts": ["Weather in {{city}}?"],
        "providers": [{"id": "openai:chat:gpt-5.2", "config": {"tools": TOOLS}}],
        "tests": [{"vars": {"city": "Oslo"}, **test} for test in tests],
        **more,
    }
    path = folder / "promptfooconfig.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    entries = list(records_of(path))
    records = [each for each in entries if isinstance(each, Record)]
    return records, [each.reason for each in entries if isinstance(each, SkippedEntry)]


def javascript(value: str) -> dict[str, Json]:
    return {"type": "javascript", "value": value}


MAPPED: dict[str, tuple[list[dict[str, Json]], Json]] = {
    "a valid call": ([{"type": "is-valid-openai-tools-call"}, {"type": "is-json"}], {"expect": "any_call"}),
    "the name of the call": (
        [javascript("output[0].function.name === 'get_weather'")],
        {"expect": [{"get_weather": ANY}]},
    ),
    "an argument": (
        [javascript("output[0].function.name === 'search' && JSON.parse(output[0].function.arguments).q === 'x';")],
        {"expect": [{"search": {"q": "x"}}]},
    ),
    "an argument beside others": (
        [
            javascript('return output[0].function.name == "get_weather"'),
            javascript("JSON.parse(output[0].function.arguments).location.includes(context.vars.city)"),
        ],
        {"expect": [{"get_weather": {"location": {"$contains": "Oslo"}, "unit": ANY, "days": ANY, "where": ANY}}]},
    ),
    "two calls": (
        [
            javascript("output.length === 2"),
            javascript("output.tool_calls[0].function.name === 'search'"),
            javascript("output[1].function.name === 'get_time'"),
        ],
        {"expect": {"calls": [{"search": ANY}, {"get_time": ANY}], "order": "strict"}},
    ),
    "a transform of one assertion": (
        [{"type": "equals", "value": "get_weather", "transform": "output[0].function.name"}],
        {"expect": [{"get_weather": ANY}]},
    ),
    "all tools": (
        [{"type": "tool-call-f1", "value": "search, get_time", "threshold": 1}],
        {"expect": [{"search": ANY, "times": [1, None]}, {"get_time": ANY, "times": [1, None]}]},
    ),
    "a tool that is used": (
        [{"type": "trajectory:tool-used", "value": "sea*"} | {"value": ["search"]}],
        {"expect": {"calls": [{"search": ANY, "times": [1, None]}], "extra": "allow"}},
    ),
    "a tool that is used twice": (
        [{"type": "trajectory:tool-used", "value": {"pattern": "sea*", "min": 2}}],
        {"expect": {"calls": [{"search": ANY, "times": [2, None]}], "extra": "allow"}},
    ),
    "a tool that is not used": (
        [{"type": "not-trajectory:tool-used", "value": ["search"]}],
        {"expect": {"never": ["search"]}},
    ),
    "a sequence with arguments": (
        [
            {"type": "trajectory:tool-sequence", "value": ["search", "get_time"]},
            {"type": "trajectory:tool-args-match", "value": {"name": "search", "args": {"q": "x"}}},
        ],
        {"expect": {"calls": [{"search": {"q": "x"}}, {"get_time": ANY}], "order": "strict", "extra": "allow"}},
    ),
    "an exact sequence": (
        [{"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": ["search", {"name": "get_time"}]}}],
        {"expect": {"calls": [{"search": ANY}, {"get_time": ANY}], "order": "strict"}},
    ),
    "exact arguments": (
        [
            {
                "type": "trajectory:tool-args-match",
                "value": {
                    "name": "get_weather",
                    "args": {"location": "{{city}}", "where": {"a": 1}},
                    "mode": "exact",
                    "ignore": "day*",
                    "defaults": {"unit": "celsius"},
                },
            }
        ],
        {
            "expect": {
                "calls": [
                    {
                        "get_weather": {
                            "days": ANY,
                            "unit": {"$optional": "celsius"},
                            "location": "Oslo",
                            "where": {"a": 1},
                        }
                    }
                ],
                "extra": "allow",
            }
        },
    ),
    "texts": (
        [
            {"type": "icontains", "value": "{{city}}"},
            {"type": "not-contains", "value": "sorry"},
            {"type": "contains-any", "value": "cold, warm"},
        ],
        {
            "answer": {
                "$all": [
                    {"$regex": "(?is).*Oslo.*"},
                    {"$not": {"$contains": "sorry"}},
                    {"$any": [{"$contains": "cold"}, {"$contains": "warm"}]},
                ]
            }
        },
    ),
}


@pytest.mark.parametrize(("assertions", "keys"), MAPPED.values(), ids=MAPPED)
def test_an_assertion_becomes_an_expectation(tmp_path: Path, assertions: list[Json], keys: Json) -> None:
    (record,), skipped = records_and_skipped(tmp_path, {"assert": assertions})
    assert (record.expectation, record.skip, skipped) == (keys, "", [])


def test_a_transform_of_the_test_says_what_is_compared(tmp_path: Path) -> None:
    test: dict[str, Json] = {
        "options": {"transform": "JSON.parse(output[0].function.arguments).days"},
        "assert": [{"type": "equals", "value": "3"}],
    }
    records, skipped = records_and_skipped(tmp_path, test)
    assert not records
    assert skipped[0] == "no case can hold the assertion `equals`: arguments of a call whose tool is not named"


UNMAPPED: dict[str, tuple[dict[str, Json], str]] = {
    "a model's opinion": ({"type": "llm-rubric", "value": "is polite"}, "`llm-rubric`"),
    "a program": (javascript("output.foo(1)"), "`javascript`: `.` is not understood"),
    "a length": (javascript("output.length > 3"), "`javascript`: `>` is not understood"),
    "a part of the tools": ({"type": "tool-call-f1", "value": "a", "threshold": 0.5}, "`tool-call-f1`: its threshold"),
    "the most calls": (
        {"type": "trajectory:tool-used", "value": {"name": "search", "max": 2}},
        "`trajectory:tool-used`: the most calls of a tool, or none",
    ),
    "another file": ({"type": "contains", "value": "file://x.txt"}, "`contains`: a value in another file"),
    "a step of another kind": (
        {"type": "trajectory:tool-sequence", "value": [{"type": "reasoning", "name": "a"}]},
        "`trajectory:tool-sequence`: a step that is not one tool",
    ),
    "the cost": ({"type": "cost", "threshold": 0.1}, "`cost`"),
    "no type": ({"value": "x"}, "`an assertion without a type`"),
}


@pytest.mark.parametrize(("assertion", "reason"), UNMAPPED.values(), ids=UNMAPPED)
def test_what_no_case_can_hold_is_named_and_its_case_is_skipped(
    tmp_path: Path, assertion: dict[str, Json], reason: str
) -> None:
    valid: dict[str, Json] = {"type": "is-valid-openai-tools-call"}
    (record,), skipped = records_and_skipped(tmp_path, {"assert": [assertion]}, {"assert": [assertion, valid]})
    told = f"no case can hold the assertion {reason}"
    assert skipped == [told, "the test asserts nothing that a case can hold", told]
    assert record.expectation == {"expect": "any_call"}
    assert record.skip.endswith(f"promptfoo asserted: {reason}")


def test_each_assertion_that_is_left_out_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "more.yaml").write_text(
        "- vars: {city: Oslo}\n  assert:\n    - {type: contains, value: Oslo}\n\n    - {type: similar, value: x}\n",
        encoding="utf-8",
    )
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(
        "prompts: ['{{city}}?']\ndefaultTest:\n  assert:\n    - {type: latency, threshold: 5}\n"
        "tests: [file://more.yaml]\n",
        encoding="utf-8",
    )
    (record,), skipped = read_all(path)
    assert [each.place for each in skipped] == ["promptfooconfig.yaml:4", "more.yaml:5"]
    assert record.expectation == {"answer": {"$contains": "Oslo"}}


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ({"threshold": 0.5, "assert": [{"type": "is-json"}, {"type": "is-json"}]}, "the test passes by a score, *"),
        ({"assertScoringFunction": "file://score.js"}, "the test passes by a score, *"),
        ({"options": {"transformVars": "{...vars}"}}, "`transformVars` makes its variables by a program"),
    ],
)
def test_a_test_that_does_not_pass_by_its_assertions_is_left_out(
    tmp_path: Path, test: dict[str, Json], reason: str
) -> None:
    records, skipped = records_and_skipped(tmp_path, test)
    assert (records, [each[: len(reason) - 1] for each in skipped]) == ([], [reason.rstrip("*")[: len(reason) - 1]])


def test_sets_and_templates_of_assertions_are_read(tmp_path: Path) -> None:
    test: dict[str, Json] = {
        "options": {"prefix": "Hello. ", "suffix": " Thanks!"},
        "assert": [{"type": "assert-set", "assert": [{"$ref": "#/assertionTemplates/none"}]}, {"$ref": "#/x"}],
    }
    templates: Json = {"used": {"type": "trajectory:tool-used", "value": "search"}}
    other: dict[str, Json] = {"assert": [{"$ref": "#/assertionTemplates/used"}]}
    (record,), skipped = records_and_skipped(tmp_path, test, other, assertionTemplates=templates)
    assert record.expectation == {"expect": {"calls": [{"search": ANY, "times": [1, None]}], "extra": "allow"}}
    assert skipped == [
        *["no case can hold the assertion `an assertion without a type`"] * 2,
        "the test asserts nothing that a case can hold",
    ]


def test_an_output_that_a_transform_made_is_no_answer_of_the_model(tmp_path: Path) -> None:
    said = {"message": {"role": "assistant", "content": None, "tool_calls": [openai_call("search", {"q": "x"})]}}
    row: dict[str, Json] = {
        "prompt": {"raw": "Weather?"},
        "testCase": {"options": {"transform": "output[0].function.name"}},
        "response": {"output": "search"},
    }
    whole = {**row, "response": {"output": "search", "raw": {"choices": [said]}}}
    path = tmp_path / "out.json"
    path.write_text(json.dumps({"results": {"results": [row, whole]}}), encoding="utf-8")
    skipped, record = records_of(path)
    assert isinstance(skipped, SkippedEntry)
    assert skipped.reason == "a `transform` made the output, and what the model answered is not in the results"
    assert isinstance(record, Record)
    assert [each.call.name for each in draft_of(record).calls] == ["search"]


def openai_call(name: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
    return {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


# What promptfoo's documentation says of each assertion, written down once more.

Calls = Sequence[tuple[str, dict[str, Any]]]


def holds(assertion: Mapping[str, Any], calls: Calls) -> bool:
    value = assertion["value"]
    names = [name for name, _ in calls]
    match assertion["type"]:
        case "tool-call-f1":
            return set(names) == set(value)
        case "trajectory:tool-used":
            if isinstance(value, dict):
                return bool(names.count(value["name"]) >= value["min"])
            return all(name in names for name in value)
        case "not-trajectory:tool-used":
            return not any(name in names for name in value)
        case "trajectory:tool-sequence":
            if value["mode"] == "exact":
                return bool(names == value["steps"])
            rest = iter(names)
            return all(step in rest for step in value["steps"])
        case "trajectory:tool-args-match":
            return any(name == value["name"] and fits(arguments, value) for name, arguments in calls)
        case "javascript":
            return all(said(part, calls) for part in value.split(" && "))
    raise AssertionError(assertion)


def fits(arguments: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    wanted: Mapping[str, Any] = value["args"]
    return arguments == wanted if value["mode"] == "exact" else wanted.items() <= arguments.items()


def said(part: str, calls: Calls) -> bool:
    what, _, wanted = part.partition(" === ")
    if what == "output.length":
        return len(calls) == int(wanted)
    number = int(what.partition("[")[2][0])
    if number >= len(calls):
        return False
    name, arguments = calls[number]
    given: object = arguments.get("q") if what.startswith("JSON") else name
    return given == wanted.strip("'")


NAMES = st.sampled_from(["search", "get_time"])
SOME = st.lists(NAMES, min_size=1, max_size=3)
ARGUMENTS = st.sampled_from([{}, {"q": "x"}, {"q": "y"}])
CALLS = st.lists(
    st.one_of(st.tuples(st.just("search"), ARGUMENTS), st.tuples(st.just("get_time"), st.just({}))), max_size=4
)
COMPARISONS = st.one_of(
    st.builds("output.length === {}".format, st.integers(0, 3)),
    st.builds("output[{}].function.name === '{}'".format, st.integers(0, 2), NAMES),
    st.builds(
        "JSON.parse(output[{}].function.arguments).q === '{}'".format, st.integers(0, 1), st.sampled_from(["x", "y"])
    ),
)
ASSERTIONS = st.one_of(
    st.builds(lambda value: {"type": "tool-call-f1", "value": value}, SOME),
    st.builds(lambda value: {"type": "trajectory:tool-used", "value": value}, SOME),
    st.builds(
        lambda name, least: {"type": "trajectory:tool-used", "value": {"name": name, "min": least}},
        NAMES,
        st.integers(1, 2),
    ),
    st.builds(lambda value: {"type": "not-trajectory:tool-used", "value": value}, SOME),
    st.builds(
        lambda mode, steps: {"type": "trajectory:tool-sequence", "value": {"mode": mode, "steps": steps}},
        st.sampled_from(["exact", "in_order"]),
        SOME,
    ),
    st.builds(
        lambda mode, name, args: {
            "type": "trajectory:tool-args-match",
            "value": {"name": name, "args": args if name == "search" else {}, "mode": mode},
        },
        st.sampled_from(["exact", "partial"]),
        NAMES,
        ARGUMENTS,
    ),
    st.builds(lambda parts: javascript(" && ".join(parts)), st.lists(COMPARISONS, min_size=1, max_size=3)),
)


@given(st.lists(ASSERTIONS, min_size=1, max_size=3), st.lists(CALLS, min_size=8, max_size=20))
def test_nothing_passes_that_promptfoo_would_fail(
    tmp_path_factory: pytest.TempPathFactory, assertions: list[dict[str, Json]], answers: Iterable[Calls]
) -> None:
    folder = tmp_path_factory.mktemp("promptfoo", numbered=True)
    records, skipped = records_and_skipped(folder, {"assert": assertions})
    if skipped:
        return
    case = entry_of(records[0])
    if isinstance(case, FaultyCase):  # nothing passes it
        assert {fault.code for fault in case.faults} == {"unknown-argument"}, case
        return
    for calls in answers:
        if is_right(case, calls):
            assert all(holds(each, calls) for each in assertions), (records[0].expectation, calls)


def case_of(record: Record) -> Case:
    entry = entry_of(record)
    assert isinstance(entry, Case), entry
    return entry


def entry_of(record: Record) -> Case | FaultyCase:
    text = case_file_text([NamedDraft("a", draft_of(record))], "")
    tools = json.dumps([each["function"] for each in TOOLS if isinstance(each, dict)])
    (entry,) = read_case_text(f"tools: {tools}\n{text}", Path("a.fc.yaml"), root=Path()).entries
    return entry


def is_right(case: Case, calls: Calls) -> bool:
    raw = tuple(RawCall(name, json.dumps(arguments)) for name, arguments in calls)
    reply = Reply(text="" if raw else "Hello!", tool_calls=raw, finish="tool_calls" if raw else "stop")
    return judge_turn(reply, decode(reply), case.turns[0], MatchContext(tools=case.tools)).valid
