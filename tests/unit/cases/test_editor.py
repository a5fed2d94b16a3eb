from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator, meta

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.editor.case_file import editor_schema
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile
from pytest_fcall.cases.node_values import value
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.core import OPERATORS, Json

ROOT = Path(__file__).parents[3]


def plain(text: str) -> Json:
    """A case file as the plain values that an editor sees."""
    source = SourceFile("x.fc.yaml", text)
    root = read_yaml(source)
    return None if root is None else value(root, Faults(source))


def errors(text: str, schema: dict[str, Json] | None = None) -> list[str]:
    validator = Draft202012Validator(schema or editor_schema())
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(plain(text))]


def faults(text: str, folder: Path) -> list[str]:
    path = folder / "a.fc.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        return [fault.message for fault in read_case_file(path, root=folder).faults]
    except UnreadableFile as error:
        return [error.fault.message]


def case_with(line: str) -> str:
    return f"""
tools: [{{name: f, parameters: {{type: object, properties: {{x: {{}}, y: {{}}}}}}}}, {{name: get_g}}]
cases:
  - id: a
    prompt: hello
    {line}
    {"" if line.startswith("expect") else "expect: no_call"}
"""


def expecting(pattern: str) -> str:
    return case_with(f"expect: [{{f: {{x: {pattern}}}}}]")


NEEDS_FILES = {
    "only tools, to be shared": "tools: [{python: shop.tools}]",
    "every source": """
include: [a.tools.yaml]
tools:
  - python: shop.tools:search
  - python: [shop.tools:book, shop.models:Cancel]
    only: book
  - file: tools/weather.json
    without: ["get_*"]
  - openapi: specs/pets.yaml
    operations: [listPets]
  - mcp: {command: [server, --stdio], env: {MODE: test}}
    as: wiki
    only: [search]
  - mcp: {url: "http://127.0.0.1:7001/mcp"}
    as: jira
cases: [{id: a, prompt: hello, expect: any_call}]
""",
    "a thread from a file": "cases: [{id: a, messages: {file: thread.json}, prompt: {file: a.md}, expect: no_call}]",
    "a picture": "cases: [{id: a, prompt: [Keep this., {image: a.png}], expect: no_call}]",
}

GOOD = {
    "relations that vary cases": """
defaults: {variants: all}
cases:
  - {id: a, prompt: hello, expect: no_call, variants: none}
  - {id: b, prompt: hello, expect: no_call, variants: [typos, tool_order: 3, dates: {count: 2, samples: 4}]}
  - {id: c, prompt: hello, expect: no_call, variants: [distractors: {from: catalogue, tools: 8, near: true}]}
""",
    "the smallest case": "cases: [{id: a, prompt: hello, expect: no_call}]",
    "tools written out": """
tools:
  - {name: a, description: b, parameters: {type: object, properties: {c: {type: string}}, required: [c]}}
  - {name: b, input_schema: {type: object}}
  - {name: c, inputSchema: {type: object}, annotations: {readOnlyHint: true}}
  - {type: function, function: {name: d, parameters: {type: object}, strict: true}}
  - {type: function, name: e, parameters: {type: object}, strict: false}
  - toolSpec: {name: f, inputSchema: {json: {type: object}}}
cases: [{id: a, prompt: hello, expect: any_call}]
""",
    "all defaults": """
tools:
  - {name: send, parameters: {type: object, properties: {amount: {type: number}}}}
  - {name: delete_all}
defaults:
  system: "Today is {now:%A}."
  now: 2026-11-21T16:30:00-08:00
  tags: [prod, smoke]
  category: parallel
  never: ["delete_*", {send: {amount: {$gt: 100}}}]
  strings: relaxed
  profile: strict
  samples: {count: 4, rule: rate>=0.5}
  settings: {temperature: 0, reasoning_effort: low}
match:
  "*.key": {$ignore: true}
  "*.city": {strings: relaxed}
cases: [{id: a, prompt: hello, expect: no_call}]
""",
    "every key of expect": case_with("""expect:
      calls: [{f: {x: 1}}, f: ]
      order: strict
      extra: allow
      parallel: free
      allow: [get_g, "get_*"]
      never: [{f: {x: {$lt: 0}}}]"""),
    "alternatives": case_with("expect: {any_of: [no_call, {calls: [f: {x: 1}]}]}"),
    "what stands beside a call": case_with("""expect:
      - f: {x: 1}
        args: open
        returns: [{id: 1}]
        as: first
      - f: {$ignore: true}
        times: [1, null]
        raises: 503 try again
      - f:
        times: 3
        returns_each: [1, 2, 3]
      - then:
          - f: {x: {$from: "first.result[0].id"}}
      - then: [{f: {y: 2}}]"""),
    "turns": """
tools: [{name: f}]
cases:
  - id: a
    turns:
      - user: Do it.
        expect: [{f: }]
      - user: [And this., "too."]
        expect: no_call
        answer: {$judge: is polite}
""",
    "messages": """
cases:
  - id: a
    messages:
      - {role: system, content: Be kind.}
      - {role: user, content: [{type: text, text: hello}, there]}
      - {role: assistant, content: null, tool_calls: [{id: c1, type: function, function: {name: f, arguments: "{}"}}]}
      - {role: tool, tool_call_id: c1, content: done}
    prompt: Well?
    expect: no_call
""",
    "skip in words": case_with("skip: not yet"),
    "xfail in words, by model": case_with('xfail: [{reason: weak, models: ["local:*"]}, {reason: slow, models: a:b}]'),
    "samples with a rule": case_with("samples: {count: 5, rule: rate>=0.8}"),
    "fewer tools": case_with("tools: {without: [f]}"),
    "a matrix": case_with("""expect: [{f: {x: "{n}", y: {$gt: "{n}"}}}]
    matrix: [{id: de, q: Wie?, n: 1}, {id: 2, q: なに, n: 2}]"""),
    "rows without ids": case_with("matrix: [{q: what}, {q: why}]"),
    "a world": case_with("""environment: shop.fake:make
    setup: {orders: 3}
    stubs: {f: {ok: true}}
    unmatched: {error: unknown}
    max_steps: 5
    state: {orders: {$ge: 3}}
    result: {$type: object}"""),
    "operators within operators": expecting("{$all: [{$contains: a}, {$any: [{$regex: b.*}, {$not: {$text: C}}]}]}"),
    "a tolerance": expecting("{$approx: 42.1, within: 10%}"),
    "a span of a day": expecting("{$datetime: {day: 2026-11-22, from: 12:00, to: 17:00}}"),
    "days": expecting("[{$date: today}, {$date: friday}, {$date: +3d}, {$date: -2w}, {$date: 2026-01-31}]"),
    "types": expecting('[{$type: string}, {$type: [integer, "null"]}]'),
    "a literal dollar": expecting("{$literal: {$any: 1}}"),
}

FAULTY = {
    "no cases in the list": "cases: []",
    "a list": "- id: a",
    "an unknown key of the file": "case: []\ncases: [{id: b, prompt: hello, expect: any_call}]",
    "an unknown key of a case": case_with("promt: hello"),
    "an unknown key of a turn": "cases: [{id: a, turns: [{user: hello, expects: no_call}]}]",
    "an unknown key of defaults": "defaults: {promt: x}\ncases: [{id: a, prompt: hello, expect: no_call}]",
    "no id": "cases: [{prompt: hello, expect: no_call}]",
    "nothing said": "cases: [{id: a, expect: no_call}]",
    "nothing expected": "cases: [{id: a, prompt: hello}]",
    "turns beside a prompt": "cases: [{id: a, prompt: hello, turns: [{user: hello, expect: no_call}]}]",
    "turns beside an expectation": "cases: [{id: a, expect: no_call, turns: [{user: hello, expect: no_call}]}]",
    "an id with brackets": "cases: [{id: 'a[b]', prompt: hello, expect: no_call}]",
    "no rows": case_with("matrix: []"),
    "a message without a role": "cases: [{id: a, messages: [{content: hello}], expect: no_call}]",
    "a message from nobody": "cases: [{id: a, messages: [{role: me, content: hello}], expect: no_call}]",
    "an id of no text": "cases: [{id: [a], prompt: hello, expect: no_call}]",
    "an id with colons": "cases: [{id: 'a::b', prompt: hello, expect: no_call}]",
    "a prompt of no text": "cases: [{id: a, prompt: {text: hello}, expect: no_call}]",
    "a prompt that braces made a mapping": case_with("system: {name}"),
    "tools of no list": "tools: {python: shop.tools}\ncases: [{id: a, prompt: hello, expect: no_call}]",
    "an unknown source": "tools: [{pyhton: shop.tools}]\ncases: [{id: a, prompt: hello, expect: no_call}]",
    "an unknown key of a source": "tools: [{file: a.json, onyl: b}]\ncases: [{id: a, prompt: hi, expect: no_call}]",
    "two ways to one server": "tools: [{mcp: {command: [a], url: b}}]\ncases: [{id: a, prompt: hi, expect: no_call}]",
    "an unknown key of tools": case_with("tools: {omly: [f]}"),
    "an unknown word": case_with("expect: nocall"),
    "an unknown key of expect": case_with("expect: {cals: []}"),
    "an unknown order": case_with("expect: {calls: [f: ], order: strictly}"),
    "an unknown extra": case_with("expect: {calls: [f: ], extra: yes}"),
    "a list in the list of calls": case_with("expect: [[{f: }]]"),
    "an alternative without words": case_with("expect: {any_of: [[{f: }]]}"),
    "a call without a tool": case_with("expect: [{as: first}]"),
    "arguments of no mapping": case_with("expect: [{f: [1]}]"),
    "an unknown word of args": case_with("expect: [{f: , args: opne}]"),
    "times of no number": case_with("expect: [{f: , times: often}]"),
    "times with three numbers": case_with("expect: [{f: , times: [1, 2, 3]}]"),
    "then of no list": case_with("expect: [{f: }, {then: {f: }}]"),
    "then in then": case_with("expect: [{f: }, {then: [{then: [{f: }]}]}]"),
    "calls and alternatives": case_with("expect: {calls: [{f: }], any_of: [no_call]}"),
    "alternatives in an alternative": case_with("expect: {any_of: [{any_of: [no_call]}]}"),
    "no word of calls": case_with("expect: {order: strict}"),
    "a rule for no parameter": "match: {city: {$ignore: true}}\ncases: [{id: a, prompt: hello, expect: no_call}]",
    "then beside a call": case_with("expect: [{f: , then: [{f: }]}]"),
    "an unknown operator": expecting("{$anny: [a]}"),
    "an unknown operator deep inside": expecting("[{a: {$all: [{$contians: b}]}}]"),
    "two operators in one mapping": expecting("{$gt: 1, $lt: 3}"),
    "an operator beside a key": expecting("{$gt: 1, b: 3}"),
    "an unknown option": expecting("{$approx: 1, withn: 2}"),
    "any of no list": expecting("{$any: a}"),
    "any of nothing": expecting("{$any: []}"),
    "a bound of no number": expecting("{$gt: x}"),
    "between one number": expecting("{$between: [1]}"),
    "an unknown day": expecting("{$date: someday}"),
    "a span without a day": expecting("{$datetime: {from: 12:00}}"),
    "an unknown type": expecting("{$type: strng}"),
    "ignore of false": expecting("{$ignore: false}"),
    "an operator for all arguments": case_with("expect: [{f: {$any: [{x: 1}]}}]"),
    "a rule of no operator": 'match: {"*.x": 3}\ncases: [{id: a, prompt: hello, expect: no_call}]',
    "an unknown rule": 'match: {"*.x": {string: relaxed}}\ncases: [{id: a, prompt: hello, expect: no_call}]',
    "an unknown way to compare": case_with("strings: loose"),
    "an unknown profile": case_with("profile: bfc"),
    "a tag of no word": case_with("tags: [two words]"),
    "a clock of no time": case_with("now: yesterday"),
    "skip without a reason": case_with("skip: true"),
    "xfail without a reason": case_with('xfail: {models: ["local:*"]}'),
    "an unknown key of xfail": case_with("xfail: {reason: weak, model: local}"),
    "no samples": case_with("samples: 0"),
    "an unknown rule of samples": case_with("samples: {count: 3, rule: most}"),
    "a rate of nothing": case_with("samples: {count: 3, rule: rate>=0}"),
    "settings of no mapping": case_with("settings: [1]"),
    "a matrix of no list": case_with("matrix: {id: a}"),
    "no steps": case_with("max_steps: 0"),
}


def table(files: Mapping[str, str]) -> list[object]:
    return [pytest.param(text, id=name) for name, text in files.items()]


def parts(schema: Json) -> Iterator[Mapping[str, Json]]:
    """Every mapping in a schema."""
    if isinstance(schema, Mapping):
        yield schema
        for below in schema.values():
            yield from parts(below)
    elif isinstance(schema, list):
        for below in schema:
            yield from parts(below)


def test_the_schema_is_valid_itself() -> None:
    meta.validate(editor_schema(["iban"], ["graphql"]))


def test_the_schema_is_the_same_each_time() -> None:
    assert json.dumps(editor_schema()) == json.dumps(editor_schema())


def test_every_reference_leads_somewhere() -> None:
    schema = editor_schema()
    defined = schema["$defs"]
    assert isinstance(defined, Mapping)
    wanted = {str(part["$ref"]).removeprefix("#/$defs/") for part in parts(schema) if "$ref" in part}
    assert wanted == set(defined)


def test_every_key_is_explained() -> None:
    for part in parts(editor_schema()):
        if part.get("type") == "object" and isinstance(keys := part.get("properties"), Mapping):
            for name, about in keys.items():
                assert isinstance(about, Mapping)
                assert "description" in about or "$ref" in about, name


def test_every_operator_is_offered_with_its_meaning() -> None:
    match editor_schema()["$defs"]:
        case {"value": {"properties": {"$text": {"description": str(meaning)}, **others}}}:
            assert {"$text", *others} == {f"${name}" for name in OPERATORS}
            assert meaning.startswith("The same to a reader")
        case defined:
            pytest.fail(f"no operators in {defined}")


@pytest.mark.parametrize("text", table(GOOD | NEEDS_FILES))
def test_a_good_file_is_accepted(text: str) -> None:
    assert errors(text) == []


@pytest.mark.parametrize("text", table(FAULTY))
def test_a_faulty_file_is_rejected(text: str) -> None:
    assert errors(text)


@pytest.mark.parametrize("text", table(GOOD))
def test_the_reader_finds_nothing_wrong_with_a_good_file(text: str, tmp_path: Path) -> None:
    assert faults(text, tmp_path) == []


@pytest.mark.parametrize("text", table(FAULTY))
def test_the_reader_finds_a_fault_in_a_faulty_file_too(text: str, tmp_path: Path) -> None:
    assert faults(text, tmp_path)


@pytest.mark.parametrize("path", sorted((ROOT / "cases").glob("*.fc.yaml")), ids=lambda path: path.name)
def test_an_example_case_file_is_accepted(path: Path) -> None:
    assert errors(path.read_text(encoding="utf-8")) == []


def test_operators_of_other_packages_are_known() -> None:
    own = expecting("{$iban: DE, strict: true}")
    assert errors(own)
    assert errors(own, editor_schema(comparators=["iban"])) == []
    assert errors(expecting("{$iban: DE, $any: [x]}"), editor_schema(comparators=["iban"]))


def test_tool_sources_of_other_packages_are_known() -> None:
    own = "tools: [{graphql: schema.graphql, as: shop}]\ncases: [{id: a, prompt: hello, expect: no_call}]"
    assert errors(own)
    assert errors(own, editor_schema(tool_sources=["graphql"])) == []
