"""The language of case files, feature by feature."""

from __future__ import annotations

import gc
import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cases.case import plan_request
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import (
    CallPattern,
    Case,
    Condition,
    ConversationSettings,
    Expectation,
    ExpectedCall,
    Json,
    MatchRule,
    Operator,
    Pattern,
    Samples,
    StubResult,
    Tool,
    request_digest,
)
from pytest_fcall.schema.sources.lock_file import LockEntry, lock_path, write_lock
from tests.unit.cases.reading import TOOLS, case, faults, ids, read, with_cases

_NOW = "now: 2026-11-21T16:30:00-08:00\n"


def expect(text: str, folder: Path) -> Expectation:
    found = case(f"prompt: Hello?\nexpect: {text}\n", folder).turns[0].expect
    assert found is not None
    return found


def answer(text: str, folder: Path) -> Pattern:
    return case(f"prompt: Hello?\nanswer: {text}\n", folder).turns[0].answer


def said(text: str, folder: Path) -> list[dict[str, Any]]:
    found = case(f"{text}\nexpect: no_call", folder)
    return [dict(message) for message in found.turns[0].messages]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("NO", "NO"),
        ("yes", "yes"),
        ("off", "off"),
        ("18:30", "18:30"),
        ("01234", "01234"),
        ("+4712345678", "+4712345678"),
        ("+1.5", "+1.5"),
        ("2026-11-22", "2026-11-22"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("=", "="),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("7", 7),
        ("-7", -7),
        ("0", 0),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1E-2", -0.01),
        ("'7'", "7"),
        ('"true"', "true"),
        ("!!str 7", "7"),
        ("!!int '7'", 7),
        ("!!float 7", 7.0),
        ("Ärger 😀", "Ärger 😀"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(tmp_path: Path, written: str, value: Json) -> None:
    found = answer(f"[{written}]", tmp_path)
    assert found == [value]
    assert isinstance(found, list)
    assert type(found[0]) is type(value)


def test_a_question_mark_before_a_comma_is_text(tmp_path: Path) -> None:
    found = read("cases:\n  - {prompt: Weather in Oslo?, id: x, expect: no_call}\n", tmp_path)
    (only,) = found.entries
    assert isinstance(only, Case)
    assert only.turns[0].messages[0]["content"] == "Weather in Oslo?"


def test_anchors_aliases_and_merge_keys_work(tmp_path: Path) -> None:
    text = with_cases(
        "&a\nid: a\nprompt: &p Hello?\ntags: [x]\nexpect: no_call",
        "<<: *a\nid: b\ntags: [y]",
        "<<: [{tags: [z]}, *a]\nid: c\nprompt: *p",
    )
    a, b, c = read(text, tmp_path).entries
    assert isinstance(a, Case)
    assert isinstance(b, Case)
    assert isinstance(c, Case)
    assert [one.tags for one in (a, b, c)] == [("x",), ("y",), ("z",)]
    assert b.turns == a.turns == c.turns


def test_a_quoted_merge_sign_is_a_key_like_any_other(tmp_path: Path) -> None:
    assert answer("{'<<': 1}", tmp_path) == {"<<": 1}


def test_keys_are_texts_as_they_are_written(tmp_path: Path) -> None:
    assert answer("{1: a, true: b, NO: c, 2026-01-01: d}", tmp_path) == {
        "1": "a",
        "true": "b",
        "NO": "c",
        "2026-01-01": "d",
    }


@pytest.mark.parametrize("below", ["", "defaults: {tags: [late]}\n"])
def test_it_does_not_matter_whether_cases_stand_last(tmp_path: Path, below: str) -> None:
    cases = [f"id: c{i}\nprompt: Hello {i}?\nexpect: no_call" for i in range(5)]
    found = read(with_cases(*cases) + below, tmp_path)
    assert ids(found.entries) == {f"c{i}": True for i in range(5)}
    tags = {entry.tags for entry in found.entries if isinstance(entry, Case)}
    assert tags == ({("late",)} if below else {()})


def test_a_case_knows_its_line(tmp_path: Path) -> None:
    found = case("prompt: Hello?\nexpect: no_call", tmp_path)
    line = found.location.line
    assert found.location.path == "shop.fc.yaml"
    assert (tmp_path / "shop.fc.yaml").read_text().splitlines()[line - 1].strip() == "id: it"


class TestExpect:
    def test_a_list_is_one_stage_of_calls(self, tmp_path: Path) -> None:
        assert expect("[{get_weather: {city: Oslo}}, {ping: {}}]", tmp_path) == Expectation(
            stages=((ExpectedCall("get_weather", {"city": "Oslo"}), ExpectedCall("ping", {})),)
        )

    @pytest.mark.parametrize("written", ["no_call", "[]", "{calls: []}", "{calls: no_call}"])
    def test_no_call(self, tmp_path: Path, written: str) -> None:
        assert expect(written, tmp_path) == Expectation("no_call")

    @pytest.mark.parametrize("written", ["any_call", "{calls: any_call}"])
    def test_any_call(self, tmp_path: Path, written: str) -> None:
        assert expect(written, tmp_path) == Expectation("any_call")

    def test_the_keys_of_a_mapping(self, tmp_path: Path) -> None:
        found = expect(
            "{calls: [{ping: {}}], order: strict, extra: allow, parallel: free, "
            "allow: [ping, 'get_*'], never: [{book: {flight: {$regex: 'X.*'}}}]}",
            tmp_path,
        )
        assert found == Expectation(
            stages=((ExpectedCall("ping", {}),),),
            order="strict",
            extra="allow",
            parallel="free",
            allow=(CallPattern("ping"), CallPattern("get_*")),
            never=(CallPattern("book", {"flight": Operator("regex", "X.*")}),),
        )

    def test_alternatives(self, tmp_path: Path) -> None:
        found = expect("{any_of: [no_call, {calls: [{ping: {}}], extra: allow}]}", tmp_path)
        assert found.kind == "any_of"
        assert found.alternatives == (
            Expectation("no_call"),
            Expectation(stages=((ExpectedCall("ping", {}),),), extra="allow"),
        )

    def test_only_never_leaves_everything_else_free(self, tmp_path: Path) -> None:
        assert expect("{never: [ping]}", tmp_path) == Expectation(extra="allow", never=(CallPattern("ping"),))

    def test_then_begins_a_stage(self, tmp_path: Path) -> None:
        found = expect("[{ping: }, {then: [{ping: }, {ping: }]}, {then: [{ping: }]}]", tmp_path)
        assert [len(stage) for stage in found.stages] == [1, 2, 1]

    def test_what_stands_beside_a_call(self, tmp_path: Path) -> None:
        found = expect(
            "[{get_weather: {city: Oslo}, args: open, as: w, returns: {t: -3}}, "
            "{ping: , times: 2, returns_each: [1, null]}, {ping: , times: [0, null], raises: 503}]".replace(
                "503", "'503 try again'"
            ),
            tmp_path,
        )
        assert found.stages[0] == (
            ExpectedCall("get_weather", {"city": "Oslo"}, open=True, name="w", stub=StubResult(({"t": -3},))),
            ExpectedCall("ping", {}, times=(2, 2), stub=StubResult((1, None), each=True)),
            ExpectedCall("ping", {}, times=(0, None), stub=StubResult(raises="503 try again")),
        )

    def test_any_arguments(self, tmp_path: Path) -> None:
        assert expect("[{get_weather: {$ignore: true}}]", tmp_path).stages[0][0].arguments is None

    def test_a_tool_may_be_named_like_a_word_that_stands_beside_calls(self, tmp_path: Path) -> None:
        found = case("prompt: x\nexpect: [{times: {}}]", tmp_path, head="tools: [{name: times}]\n")
        assert found.turns[0].expect == Expectation(stages=((ExpectedCall("times", {}),),))

    def test_in_a_strict_order_a_call_may_speak_of_the_one_above(self, tmp_path: Path) -> None:
        found = expect(
            "{order: strict, calls: [{ping: , as: a}, {book: {flight: {$from: 'a.result[0].id'}}}]}", tmp_path
        )
        assert found.stages[0][1].arguments == {"flight": Operator("from", "a.result[0].id")}

    def test_an_argument_that_a_match_rule_ignores_need_not_be_named(self, tmp_path: Path) -> None:
        text = "prompt: x\nexpect: [{book: {}}]\nmatch: {'*.flight': {$ignore: true}}"
        assert case(text, tmp_path).rules.match == (MatchRule("*.flight", Operator("ignore", True)),)

    def test_a_tool_that_is_open_takes_any_argument(self, tmp_path: Path) -> None:
        head = "tools: [{name: f, parameters: {type: object, additionalProperties: true}}]\n"
        assert case("prompt: x\nexpect: [{f: {anything: 1}}]", tmp_path, head=head)


@pytest.mark.parametrize(
    ("written", "operator"),
    [
        ("{$any: [a, {$gt: 1}]}", Operator("any", ["a", Operator("gt", 1)])),
        ("{$all: [{$contains: a}]}", Operator("all", [Operator("contains", "a")])),
        ("{$not: {a: 1}}", Operator("not", {"a": 1})),
        ("{$optional: null}", Operator("optional", None)),
        ("{$ignore: true}", Operator("ignore", True)),
        ("{$regex: '[a-z]+'}", Operator("regex", "[a-z]+")),
        ("{$text: a}", Operator("text", "a")),
        ("{$approx: 42.1, within: 10%}", Operator("approx", 42.1, {"within": "10%"})),
        ("{$approx: 2, within: 0.5}", Operator("approx", 2, {"within": 0.5})),
        ("{$between: [1, 2.5]}", Operator("between", [1, 2.5])),
        ("{$date: Tomorrow}", Operator("date", "tomorrow")),
        ("{$date: +3d}", Operator("date", "+3d")),
        ("{$date: 2026-11-22}", Operator("date", "2026-11-22")),
        ("{$datetime: '2026-11-22T15:00:00Z'}", Operator("datetime", "2026-11-22T15:00:00Z")),
        (
            "{$datetime: {day: friday, from: 12:00, to: 17:00}}",
            Operator("datetime", {"day": "friday", "from": "12:00", "to": "17:00"}),
        ),
        ("{$type: [integer, null]}", Operator("type", ["integer", "null"])),
        ("{$subset: {a: {$gt: 1}}}", Operator("subset", {"a": Operator("gt", 1)})),
        ("{$unordered: []}", Operator("unordered", [])),
        ("{$each: {$type: string}}", Operator("each", Operator("type", "string"))),
        ("{$json: {a: 1}}", Operator("json", {"a": 1})),
        ("{$judge: is polite}", Operator("judge", "is polite")),
        ("{$literal: {$gt: 1, $x: 2}}", Operator("literal", {"$gt": 1, "$x": 2})),
    ],
)
def test_operators(tmp_path: Path, written: str, operator: Operator) -> None:
    assert answer(written, tmp_path) == operator
    assert answer(f"{{deep: [{written}]}}", tmp_path) == {"deep": [operator]}


def test_operators_of_other_packages_take_any_operand_and_options(tmp_path: Path) -> None:
    found = case(
        "prompt: x\nanswer: {$iban: {$any: [DE, AT]}, strict: true}",
        tmp_path,
        extensions=Extensions(comparators=frozenset({"iban"})),
    )
    assert found.turns[0].answer == Operator("iban", Operator("any", ["DE", "AT"]), {"strict": True})


class TestSaid:
    def test_system_comes_first(self, tmp_path: Path) -> None:
        assert said("system: Be kind.\nprompt: Hello?", tmp_path) == [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hello?"},
        ]

    def test_the_prompt_follows_a_thread(self, tmp_path: Path) -> None:
        thread = "messages: [{role: user, content: a}, {role: assistant, content: b}]"
        assert [message["content"] for message in said(f"{thread}\nprompt: c", tmp_path)] == ["a", "b", "c"]

    def test_a_threads_own_system_message_wins_over_the_default(self, tmp_path: Path) -> None:
        text = "messages: [{role: system, content: mine}, {role: user, content: x}]\nexpect: no_call"
        found = case(text, tmp_path, head="defaults: {system: theirs}\n")
        assert [message["content"] for message in found.turns[0].messages] == ["mine", "x"]

    def test_a_thread_of_tool_calls(self, tmp_path: Path) -> None:
        call = '{id: c1, type: function, function: {name: f, arguments: "{}"}}'
        found = said(
            f"messages: [{{role: user, content: x}}, {{role: assistant, content: null, tool_calls: [{call}]}}, "
            "{role: tool, tool_call_id: c1, content: done}]",
            tmp_path,
        )
        assert found[1:] == [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "content": "done", "tool_call_id": "c1"},
        ]

    @pytest.mark.parametrize("name", ["t.json", "t.yaml"])
    @pytest.mark.parametrize("wrapped", [True, False])
    def test_a_thread_from_a_file(self, tmp_path: Path, name: str, wrapped: bool) -> None:
        thread = [{"role": "user", "content": "NO\n\ttab"}]
        (tmp_path / name).write_text(json.dumps({"messages": thread} if wrapped else thread), encoding="utf-8")
        assert said(f"messages: {{file: {name}}}", tmp_path) == thread

    def test_a_prompt_from_a_file_takes_the_clock_and_the_row(self, tmp_path: Path) -> None:
        (tmp_path / "p.md").write_bytes(b"Book {words} on {now:%d.%m.}, { other }.\r\n")
        text = f"{_NOW}matrix: [{{id: a, words: eco}}]\nprompt: {{file: p.md}}\nexpect: no_call"
        (only,) = read(with_cases(f"id: it\n{text}"), tmp_path).entries
        assert isinstance(only, Case)
        assert only.turns[0].messages[0]["content"] == "Book eco on 21.11., { other }."

    def test_a_picture_is_told_by_its_content(self, tmp_path: Path) -> None:
        data = b"\x89PNG\r\n\x1a\n rest"
        (tmp_path / "a.png").write_bytes(data)
        (part,) = said("prompt: [{image: a.png}]", tmp_path)[0]["content"]
        assert part["image_file"] == {
            "path": str((tmp_path / "a.png").resolve()),
            "media_type": "image/png",
            "sha256": hashlib.sha256(data).hexdigest(),
        }

    def test_parts_in_openais_form_are_kept(self, tmp_path: Path) -> None:
        part = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
        (message,) = said(f"prompt: [Look., {json.dumps(part)}]", tmp_path)
        assert message == {"role": "user", "content": [{"type": "text", "text": "Look."}, part]}

    def test_turns(self, tmp_path: Path) -> None:
        found = case(
            "system: Be kind.\nenvironment: shop:make\nturns:\n  - {user: a, expect: [{ping: , as: p, returns: 1}]}\n"
            "  - {user: b, answer: {$from: p.result}, state: {x: {$gt: 1}}, result: ok}",
            tmp_path,
        )
        first, second = found.turns
        assert [message["content"] for message in first.messages] == ["Be kind.", "a"]
        assert second.messages == ({"role": "user", "content": "b"},)
        assert second.answer == Operator("from", "p.result")
        assert second.state == {"x": Operator("gt", 1)}
        assert second.result == "ok"
        assert found.mode == "conversation"


class TestClock:
    @pytest.mark.parametrize(
        ("form", "text"),
        [
            ("{now:%A %d %B %Y}", "Saturday 21 November 2026"),
            ("{now:%a %b %y %j}", "Sat Nov 26 325"),
            ("{now:%H:%M:%S %I %p}", "16:30:00 04 PM"),
            ("{now:%Y-%m-%d %z}", "2026-11-21 -0800"),
            ("{now:%u %V %%}", "6 47 %"),
            ("{now}", "2026-11-21T16:30:00-08:00"),
            ("{nowhere} {n ow} {} {'a': 1}", "{nowhere} {n ow} {} {'a': 1}"),
        ],
    )
    def test_braces(self, tmp_path: Path, form: str, text: str) -> None:
        assert said(f"{_NOW}prompt: {json.dumps(form)}", tmp_path)[0]["content"] == text

    def test_a_default_system_is_told_the_clock_of_the_case(self, tmp_path: Path) -> None:
        head = 'defaults: {system: "{now:%A}", now: 2026-11-21T16:30:00-08:00}\n'
        texts = "id: a\nprompt: x\nexpect: no_call", "id: b\nprompt: x\nexpect: no_call\nnow: 2026-11-22"
        found = [entry for entry in read(with_cases(*texts, head=head), tmp_path).entries if isinstance(entry, Case)]
        assert [one.turns[0].messages[0]["content"] for one in found] == ["Saturday", "Sunday"]

    def test_a_default_system_from_a_file_too(self, tmp_path: Path) -> None:
        (tmp_path / "s.md").write_text("It is {now:%H} o'clock.", encoding="utf-8")
        head = "defaults: {system: {file: s.md}}\n"
        clocks = "2026-11-21T16:30:00-08:00", "2026-11-22T00:30:00Z"
        texts = [f"id: c{i}\nprompt: x\nexpect: no_call\nnow: {now}" for i, now in enumerate(clocks)]
        found = [entry for entry in read(with_cases(*texts, head=head), tmp_path).entries if isinstance(entry, Case)]
        assert [one.turns[0].messages[0]["content"] for one in found] == ["It is 16 o'clock.", "It is 00 o'clock."]

    def test_without_an_offset_it_is_utc(self, tmp_path: Path) -> None:
        found = case("prompt: x\nexpect: no_call\nnow: 2026-11-21T16:30:00", tmp_path)
        assert found.rules.now == datetime(2026, 11, 21, 16, 30, tzinfo=UTC)

    def test_without_a_clock_it_is_the_time_of_the_run(self, tmp_path: Path) -> None:
        now = datetime(2026, 1, 2, 3, 4, tzinfo=timezone(timedelta(hours=5)))
        (tmp_path / "a.fc.yaml").write_text(
            "cases: [{id: a, prompt: '{now:%H:%M}', expect: no_call}]", encoding="utf-8"
        )
        (only,) = read_case_file(tmp_path / "a.fc.yaml", root=tmp_path, now=now).entries
        assert isinstance(only, Case)
        assert only.rules.now == now
        assert only.turns[0].messages[0]["content"] == "03:04"


class TestMatrix:
    def test_each_row_is_a_case(self, tmp_path: Path) -> None:
        text = (
            "id: w\nmatrix: [{id: eco, words: economy, days: 3}, {id: 7, words: other, days: 4}]\n"
            'prompt: "{words}, {days} days, { unknown }"\n'
            'expect: [{get_weather: {city: "{words}", days: "{days}"}}]'
        )
        found = read(with_cases(text), tmp_path)
        assert ids(found.entries) == {"w[eco]": True, "w[7]": True}
        eco = found.entries[0]
        assert isinstance(eco, Case)
        assert eco.turns[0].messages[0]["content"] == "economy, 3 days, { unknown }"
        assert eco.turns[0].expect is not None
        assert eco.turns[0].expect.stages[0][0].arguments == {"city": "economy", "days": 3}

    def test_rows_without_an_id_are_counted(self, tmp_path: Path) -> None:
        text = "id: w\nmatrix: [{x: a}, {x: b}]\nprompt: '{x}'\nexpect: no_call"
        assert ids(read(with_cases(text), tmp_path).entries) == {"w[0]": True, "w[1]": True}

    def test_a_name_alone_may_be_any_value(self, tmp_path: Path) -> None:
        text = "id: w\nmatrix: [{x: [1, {$gt: 2}]}]\nprompt: x\nanswer: '{x}'"
        (only,) = read(with_cases(text), tmp_path).entries
        assert isinstance(only, Case)
        assert only.turns[0].answer == [1, Operator("gt", 2)]

    def test_a_number_in_quotes_is_text_where_text_is_wanted(self, tmp_path: Path) -> None:
        text = "id: w\nmatrix: [{x: 7}]\nprompt: '{x}'\nresult: '{x}'"
        (only,) = read(with_cases(text), tmp_path).entries
        assert isinstance(only, Case)
        assert only.turns[0].messages[0]["content"] == "7"
        assert only.turns[0].result == 7

    def test_names_may_stand_in_keys(self, tmp_path: Path) -> None:
        text = "id: w\nmatrix: [{tool: ping}]\nprompt: x\nexpect: [{'{tool}': {}}]"
        assert ids(read(with_cases(text), tmp_path).entries) == {"w[0]": True}

    def test_a_column_of_braces_leaves_braces_in_a_text(self, tmp_path: Path) -> None:
        text = "id: w\nmatrix: [{x: a, y: '{y}'}]\nprompt: '{x} {y}'\nexpect: no_call"
        (only,) = read(with_cases(text), tmp_path).entries
        assert isinstance(only, Case)
        assert only.turns[0].messages[0]["content"] == "a {y}"

    def test_what_a_row_brings_is_not_filled_again(self, tmp_path: Path) -> None:
        text = "id: w\nmatrix: [{x: 'a {y}', y: b}]\nprompt: 'Say {x}.'\nexpect: no_call"
        (only,) = read(with_cases(text), tmp_path).entries
        assert isinstance(only, Case)
        assert only.turns[0].messages[0]["content"] == "Say a {y}."

    def test_defaults_take_each_row_and_other_cases_none(self, tmp_path: Path) -> None:
        text = "id: w\nmatrix: [{x: a}, {x: b}]\nprompt: hi\nexpect: no_call"
        head = 'defaults: {system: "Say {x}."}\n'
        found = read(with_cases(text, "id: v\nprompt: hi\nexpect: no_call", head=head), tmp_path).entries
        systems = [entry.turns[0].messages[0]["content"] for entry in found if isinstance(entry, Case)]
        assert systems == ["Say a.", "Say b.", "Say {x}."]

    def test_one_faulty_row_leaves_the_others_alone(self, tmp_path: Path) -> None:
        text = "id: w\nmatrix: [{id: a, u: celsius}, {id: b, u: kelvin}]\nprompt: x\n" + (
            "expect: [{get_weather: {city: Oslo, unit: '{u}'}}]"
        )
        assert ids(read(with_cases(text), tmp_path).entries) == {"w[a]": True, "w[b]": False}


def test_defaults_and_cases_add_up_or_stand_for_one_another(tmp_path: Path) -> None:
    head = TOOLS + (
        "defaults:\n  tags: [a, b]\n  strings: relaxed\n  samples: 3\n  decoder: json\n"
        "  settings: {temperature: 0, seed: 1}\n  never: ['x_*']\n  xfail: later\n  stubs: {ping: 1}\n"
    )
    found = case(
        "prompt: x\nexpect: no_call\ntags: [b, c]\nstrings: exact\nsamples: {count: 5, rule: rate>=0.8}\n"
        "settings: {seed: 2, reasoning_effort: low}\nxfail: {reason: now, models: 'a:*'}\nstubs: {book: 2}\n"
        "skip: [one, {reason: two, models: [a, b]}]\ncategory: mine",
        tmp_path,
        head=head,
    )
    assert found.tags == ("b", "c", "a")
    assert found.rules.strings == "exact"
    assert found.samples == Samples(5, "rate>=0.8")
    assert found.settings == {"temperature": 0, "seed": 2, "reasoning_effort": "low"}
    assert found.rules.never == (CallPattern("x_*"),)
    assert found.xfail == (Condition("now", ("a:*",)), Condition("later"))
    assert found.skip == (Condition("one"), Condition("two", ("a", "b")))
    assert found.decoder == "json"
    assert found.conversation == ConversationSettings(stubs={"ping": 1, "book": 2})
    assert found.category == "mine"


def test_what_stands_behind_the_tools(tmp_path: Path) -> None:
    found = case(
        "prompt: x\nexpect: no_call\nenvironment: shop.fake:make\nsetup: {user: Ana}\nunmatched: null\nmax_steps: 4",
        tmp_path,
    )
    assert found.conversation == ConversationSettings("shop.fake:make", {"user": "Ana"}, {}, None, 4)
    assert found.mode == "conversation"


@pytest.mark.parametrize("name", ["shop.fake", "shop", "python", "http"])
def test_an_environment_may_be_a_module_or_what_the_tools_came_from(name: str, tmp_path: Path) -> None:
    head = "tools: [{python: json:dumps}]\n"
    found = case(f"prompt: x\nexpect: no_call\nenvironment: {name}", tmp_path, head=head)
    assert found.conversation == ConversationSettings(name)


def test_tools_know_what_they_were_read_from_also_behind_a_prefix(tmp_path: Path) -> None:
    head = "tools: [{python: 'json:dumps'}, {python: 'json:loads', as: text}]\n"
    dumps, loads = case("prompt: x\nexpect: no_call", tmp_path, head=head).tools
    assert dumps.origin == {"python": "json:dumps"}
    assert (loads.name, loads.origin) == ("text__loads", {"name": "loads", "python": "json:loads"})


def test_a_tool_may_be_chosen_by_name(tmp_path: Path) -> None:
    found = case("prompt: x\nexpect: any_call\nsettings: {tool_choice: ping}", tmp_path)
    assert found.settings == {"tool_choice": {"type": "function", "function": {"name": "ping"}}}


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ("{only: [ping]}", ["ping"]),
        ("{only: 'b*'}", ["book"]),
        ("{without: [ping, 'get_*']}", ["book"]),
        ("{only: []}", []),
        ("{only: ['*'], without: [book]}", ["get_weather", "ping"]),
    ],
)
def test_a_case_may_take_tools_away(tmp_path: Path, tools: str, names: list[str]) -> None:
    found = case(f"prompt: x\nexpect: no_call\ntools: {tools}", tmp_path)
    assert [tool.name for tool in found.tools] == names


@pytest.mark.parametrize(
    ("body", "category"),
    [
        ("tools: {only: [ping]}\nexpect: [{ping: }]", "simple"),
        ("expect: [{ping: }]", "multiple"),
        ("expect: [{ping: }, {ping: }]", "parallel"),
        ("expect: [{ping: , times: 2}]", "parallel"),
        ("expect: [{ping: }, {book: {flight: F7}}]", "parallel_multiple"),
        ("expect: no_call", "irrelevance"),
        ("expect: any_call", "relevance"),
        ("expect: {any_of: [no_call, {calls: [{ping: }, {ping: }]}]}", "parallel"),
        ("expect: [{ping: }, {then: [{ping: }]}]", "conversation"),
        ("expect: [{ping: , returns: 1}]", "conversation"),
        ("expect: [{ping: }]\nstubs: {ping: 1}", "conversation"),
        ("answer: x", "irrelevance"),
    ],
)
def test_the_category_is_told_by_the_expectation(tmp_path: Path, body: str, category: str) -> None:
    found = case(f"prompt: x\n{body}", tmp_path)
    assert found.category == category
    assert found.mode == ("conversation" if category == "conversation" else "request")


def test_rules_of_the_case_come_before_those_of_the_file_and_those_before_included_ones(tmp_path: Path) -> None:
    (tmp_path / "all.tools.yaml").write_text("match: {'*.a': {strings: exact}}\n", encoding="utf-8")
    head = TOOLS + "include: all.tools.yaml\nmatch: {'*.city': {strings: relaxed}}\n"
    found = case("prompt: x\nexpect: no_call\nmatch: {get_weather.city: {$text: Oslo}}", tmp_path, head=head)
    assert found.rules.match == (
        MatchRule("get_weather.city", Operator("text", "Oslo")),
        MatchRule("*.city", strings="relaxed"),
        MatchRule("*.a", strings="exact"),
    )


class TestTools:
    def test_included_files_bring_tools_and_defaults(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "tools.json").write_text('[{"name": "far"}]', encoding="utf-8")
        (tmp_path / "sub" / "all.tools.yaml").write_text(
            "include: more.tools.yaml\ntools: [{file: tools.json}]\ndefaults: {tags: [far], system: far}\n",
            encoding="utf-8",
        )
        (tmp_path / "sub" / "more.tools.yaml").write_text("tools: [{name: farther}]\n", encoding="utf-8")
        head = "include: [sub/all.tools.yaml, sub/more.tools.yaml]\ntools: [{name: near}]\ndefaults: {system: near}\n"
        text = with_cases("id: a\nprompt: x\nexpect: no_call", head=head)
        found = read(text, tmp_path)
        (only,) = found.entries
        assert isinstance(only, Case)
        assert [tool.name for tool in only.tools] == ["near", "far", "farther"]
        assert only.tags == ("far",)
        assert only.turns[0].messages[0]["content"] == "near"
        assert [path.name for path in found.included] == ["all.tools.yaml", "more.tools.yaml"]

    def test_tools_of_bedrock_may_stand_in_a_file_or_be_written_out(self, tmp_path: Path) -> None:
        tools = {
            "tools": [{"toolSpec": {"name": "far", "inputSchema": {"json": {"type": "object"}}}}, {"cachePoint": {}}]
        }
        (tmp_path / "tools.json").write_text(json.dumps({"toolConfig": tools}), encoding="utf-8")
        head = """
tools:
  - file: tools.json
  - toolSpec:
      name: near
      inputSchema: {json: {type: object, properties: {city: {type: string}}, required: [city]}}
"""
        found = case("prompt: x\nexpect: [{near: {city: Oslo}}]", tmp_path, head=head)
        assert [tool.name for tool in found.tools] == ["far", "near"]

    def test_python_sources_are_found_below_the_root_folder(self, tmp_path: Path) -> None:
        (tmp_path / "shop_below_root.py").write_text("def search(city: str) -> list:\n    'Find.'\n", encoding="utf-8")
        found = case(
            "prompt: x\nexpect: [{search: {city: Oslo}}]", tmp_path, head="tools: [{python: shop_below_root}]\n"
        )
        assert [tool.name for tool in found.tools] == ["search"]

    def test_locked_tools_are_picked_and_renamed(self, tmp_path: Path) -> None:
        source: dict[str, Json] = {"mcp": {"command": ["server"]}}
        entry = LockEntry(source, (Tool("search"), Tool("get_page"), Tool("drop")))
        write_lock(lock_path(tmp_path / "shop.fc.yaml"), [entry])
        head = "tools: [{mcp: {command: [server]}, as: wiki, only: [search, 'get_*']}]\n"
        found = case("prompt: x\nexpect: [{wiki__search: }]", tmp_path, head=head)
        assert [tool.name for tool in found.tools] == ["wiki__search", "wiki__get_page"]

    def test_sources_of_other_packages_are_read_from_the_folder_of_the_file(self, tmp_path: Path) -> None:
        asked: list[tuple[Json, Path]] = []

        def graphql(spec: Json, folder: Path) -> list[Tool]:
            asked.append((spec, folder))
            return [Tool("query")]

        found = case(
            "prompt: x\nexpect: [{g__query: }]",
            tmp_path,
            head="tools: [{graphql: {schema: a.graphql}, as: g}]\n",
            extensions=Extensions(tool_sources={"graphql": graphql}),
        )
        assert [tool.name for tool in found.tools] == ["g__query"]
        assert asked == [({"schema": "a.graphql"}, tmp_path)]


def test_the_request_of_a_case(tmp_path: Path) -> None:
    found = case(f"{_NOW}prompt: x\nexpect: no_call\nsettings: {{seed: 2}}", tmp_path)
    request = plan_request(found, {"seed": 1, "temperature": 0}, sample=3)
    assert request.messages == ({"role": "user", "content": "x"},)
    assert request.settings == {"seed": 2, "temperature": 0}
    assert (request.sample, request.now, request.tools) == (3, found.rules.now, found.tools)
    assert len(request_digest("m", request)) == 64


def test_what_a_suite_proposes_gives_way_to_what_anybody_says(tmp_path: Path) -> None:
    found = replace(
        case("prompt: x\nexpect: no_call\nsettings: {seed: 2}", tmp_path),
        proposed_settings={"temperature": 0.001, "max_tokens": 9, "seed": 1},
    )
    request = plan_request(found, {"max_tokens": 5})
    assert request.settings == {"temperature": 0.001, "max_tokens": 5, "seed": 2}
    assert request.proposed == {"temperature"}


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(tmp_path: Path, enabled: bool) -> None:
    was_enabled = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        faults("prompt: x", tmp_path)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
