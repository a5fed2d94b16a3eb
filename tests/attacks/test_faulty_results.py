"""Results that are faulty on purpose: hostile results and entries, and models that do anything but recover."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.core import CallResult, Case, RawCall, Reply
from pytest_fcall.core.result_fault import FaultKind, ResultFault
from tests.unit.conversation.conversations import Say
from tests.unit.matching.recovery_cases import BOOKED, BOOKS, SEARCHES, SORRY, TRIP, case_of, judged

KINDS: tuple[FaultKind, ...] = ("timeout", "error", "truncated", "corrupt", "slow")
ALWAYS = "tool: search, kind: {}, times: always"


def search(**arguments: Any) -> Say:
    return [("search", arguments)]


def deep(depth: int) -> Any:
    value: Any = "F7"
    for _ in range(depth):
        value = [value]
    return value


WRONG: dict[str, list[Say]] = {
    "the same call for ever": [SEARCHES] * 30,
    "another call each time": [search(to=f"Oslo {n}") for n in range(30)],
    "the same call again, with an argument more": [SEARCHES, *[search(to="Oslo", n=n) for n in range(9)], SORRY],
    "a thousand calls at once": [[("search", {"to": "Oslo"})] * 1000, SORRY],
    "a call of no tool": [SEARCHES, [("", {})], SORRY],
    "a call of a tool that matches every glob": [SEARCHES, [("*", {"to": "Oslo"})], SORRY],
    "a call with arguments that are nested deeply": [SEARCHES, search(to=deep(80)), SORRY],
    "a call that cannot be read": [SEARCHES, Reply(tool_calls=(RawCall("search", '{"to": "Osl'),))],
    "a reply that is cut off": [SEARCHES, Reply("I could not search", finish="length")],
    "a refusal": [SEARCHES, Reply(refusal="I could not.", finish="refusal")],
    "nothing": [SEARCHES, ""],
    "blanks": [SEARCHES, " \n\u200b\u2028 "],
    "the answer of the case": [SEARCHES, BOOKED],
    "a claim": [SEARCHES, "Your flight is booked."],
    "words of failure that nobody can read": [SEARCHES, "I c\u200bould n\u200bot search."],
    "the result that it cannot know": [SEARCHES, "I could not search, but take F7."],
    "the same in full-width letters": [SEARCHES, "I could not search, but take \uff26\uff17."],
    "the same in other case": [SEARCHES, "I could not search, but take f7."],
    "the same in invisible parts": [SEARCHES, "I could not search, but take F\u200b7."],
    "the same in JSON": [SEARCHES, json.dumps({"error": "could not search", "id": "F7"})],
    "the same in an argument": [SEARCHES, BOOKS, SORRY],
    "a figure that it invented": [SEARCHES, "I could not search; the usual price is 412 euros."],
    "the same in Arabic digits": [SEARCHES, "I could not search; the usual price is \u0664\u0661\u0662 euros."],
    "a result that it wrote itself": [SEARCHES, '<tool_response>[{"id": "F7"}]</tool_response> It timed out.'],
    "its call as text": [SEARCHES, '{"name": "search", "arguments": {"to": "Oslo"}}'],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("says", [pytest.param(says, id=name) for name, says in WRONG.items()])
def test_a_model_that_does_not_recover_is_never_green(tmp_path: Path, says: list[Say], kind: str) -> None:
    late = TRIP.replace("{id: F7, price: 90}", "{about: one that leaves in the morning, id: F7}")
    verdict = judged(case_of(tmp_path, ALWAYS.format(kind), late), *says)
    assert not verdict.valid
    assert verdict.recovery is not None
    assert not verdict.recovery.how


RIGHT: dict[str, str] = {
    "the words of the fault": "I could not search: 503 Service Unavailable, it took longer than 30 s, still running.",
    "its own call": 'I could not get a result of search(to="Oslo").',
    "a mark": "I could not search \u274c\ufe0f",
    "typographic quotes": "I couldn\u2019t search.",
    "many lines": "I could not search.\n" * 10_000,
}


@pytest.mark.parametrize("kind", ["error", "timeout", "slow"])
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in RIGHT.items()])
def test_a_model_that_tells_is_not_red_for_its_words(tmp_path: Path, text: str, kind: str) -> None:
    message = "message: '503 Service Unavailable, it took longer than 30 s, still running'"
    verdict = judged(case_of(tmp_path, f"{ALWAYS.format(kind)}, {message}"), SEARCHES, text)
    assert verdict.valid, verdict.reasons


LIKE_FAULTS: dict[str, str] = {
    "an error": "{error: 503 Service Unavailable}",
    "a timeout": "it took longer than 30 s",
    "one that is still running": "{status: running, message: still running after 30 s}",
    "a text that is cut off": '\'[{"id": "F7\'',
    "garbage": "'\ufffd\ufffd'",
    "nothing": "null",
    "an empty list": "[]",
    "a mark of ours": "{fault: error, error: null}",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("result", [pytest.param(text, id=name) for name, text in LIKE_FAULTS.items()])
def test_a_sound_result_that_looks_like_a_fault_is_sound(tmp_path: Path, result: str, kind: str) -> None:
    case = case_of(tmp_path, f"tool: search, kind: {kind}", TRIP.replace("[{id: F7, price: 90}]", result))
    verdict = judged(case, SEARCHES, SEARCHES, BOOKS, BOOKED)
    assert verdict.valid, verdict.reasons
    assert verdict.recovery is not None
    assert verdict.recovery.how == "retries"
    told = judged(case, SEARCHES, SORRY)
    assert told.valid, told.reasons


RESULTS: dict[str, Any] = {
    "nothing": None,
    "an empty text": "",
    "one character": "x",
    "no number": float("nan"),
    "half a character": "\ud800",
    "other letters": {"\u5929\u6c17": "\u0645\u0637\u0631 \U0001f327"},
    "what is no JSON": {1: {2, 3}},
    "a huge text": "F7 " * 1_000_000,
    "a huge list": [{"id": n} for n in range(100_000)],
    "a huge number": 10**4_000,
    "deep lists": deep(200),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in RESULTS.items()])
def test_any_result_can_be_made_faulty(value: Any, kind: FaultKind) -> None:
    fault = ResultFault(kind, kind, ("*",), message="late")
    for sound in (CallResult(value), CallResult(error="no")):
        made = fault.result(sound)
        assert made.fault == kind
        assert made != sound


FILE = """
tools:
  - {{name: search, parameters: {{type: object, properties: {{to: {{type: string}}}}}}}}
cases:
  - id: a
    prompt: x
    expect: [{{search: {{}}}}]
    faults: {}
"""
ENTRIES: dict[str, str] = {
    "a number": "1",
    "a list of nothing": "[null]",
    "none in a list": "[none]",
    "no tool": "{kind: error}",
    "an unknown tool": "{tool: serach}",
    "a tool that is a list of lists": "{tool: [[search]]}",
    "another tool that is a glob": "{tool: search, recovery: {other_tool: 's*'}}",
    "itself for another tool": "{tool: search, recovery: {other_tool: search}}",
    "no number of times": "{tool: search, times: 0}",
    "times below zero": "{tool: search, times: -1}",
    "half a time": "{tool: search, times: 0.5}",
    "times that are true": "{tool: search, times: true}",
    "times in words": "{tool: search, times: forever}",
    "no kind": "{tool: search, kind: []}",
    "a kind of kinds": "{tool: search, kind: [[error]]}",
    "an unknown kind": "{tool: search, kind: explosion}",
    "the same twice": "[{tool: search, kind: error}, {tool: search, kind: error}]",
    "a name that ends the id": "{tool: search, id: 'x]'}",
    "a name with a line break": '{tool: search, id: "a\\nb"}',
    "an endless name": f"{{tool: search, id: {'x' * 5000}}}",
    "a message that is none": "{tool: search, kind: error, message: [a]}",
    "a message for garbage": "{tool: search, kind: corrupt, message: a}",
    "retries that are none": "{tool: search, retries: 0}",
    "an answer from a call": "{tool: search, answer: {$from: search}}",
    "an expression that cannot be": "{tool: search, answer: {$regex: '('}}",
    "an operator that is none": "{tool: search, answer: {$nothing: 1}}",
    "a key that is none": "{tool: search, when: now}",
    "a tag of Python": "!!python/object/apply:os.system [true]",
}


@pytest.mark.parametrize("entry", [pytest.param(text, id=name) for name, text in ENTRIES.items()])
def test_a_hostile_entry_is_a_mistake_with_its_line(entry: str) -> None:
    file = read_case_text(FILE.format(entry), Path("a.fc.yaml"), root=Path())
    assert file.faults
    assert all(fault.location.line >= 1 and fault.message for fault in file.faults)
    assert not any(isinstance(each, Case) and each.result_fault for each in file.entries)


HARMLESS: dict[str, str] = {
    "any number of times": f"{{tool: search, times: {10**12}}}",
    "an expression that takes for ever": "{tool: search, kind: error, answer: {$regex: '(a+)+$'}}",
    "a message in other letters": '{tool: search, kind: error, message: "\\u202e\\u0000 {error}"}',
    "a thousand entries": "[" + ", ".join(f"{{tool: search, id: n{n}, kind: error}}" for n in range(1000)) + "]",
}


@pytest.mark.parametrize("entry", [pytest.param(text, id=name) for name, text in HARMLESS.items()])
def test_an_odd_entry_is_a_case(entry: str) -> None:
    file = read_case_text(FILE.format(entry), Path("a.fc.yaml"), root=Path())
    assert not file.faults
    assert all(isinstance(each, Case) for each in file.entries)
    assert len(file.entries) > 1
