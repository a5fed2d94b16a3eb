"""Case files, answers and texts that are endless, or stand for what is: a fault with its place, at once."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.core import Fault, Json, Tool
from pytest_fcall.core.bounded_text import compiled_expression, normal_form
from pytest_fcall.core.files import MOST_BYTES
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.suites.json_files import BrokenFile, open_lines, read_json, read_lines
from pytest_fcall.tracking.run_accounts import read_accounts
from tests.unit.matching.language import judged

TOOL = "tools: [{name: f, parameters: {type: object, properties: {x: {}}}}]\n"
MARKS = "a" + "\u0316\u0300" * 200_000
"""Marks in a row, which a normal form sorts by insertion."""


def value(text: str) -> str:
    """A case that expects this value."""
    return f"{TOOL}cases:\n  - id: a\n    prompt: hi\n    expect:\n      - f: {{x: {text}}}\n"


def nested(open_: str, close: str, depth: int) -> str:
    return open_ * depth + "1" + close * depth


def faults(content: str | bytes, folder: Path) -> list[Fault]:
    """What is told of a case file with this content: each fault has a place in it."""
    path = folder / "a.fc.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    try:
        found = list(read_case_file(path, root=folder).faults)
    except UnreadableFile as unreadable:
        found = [unreadable.fault]
    lines = len(path.read_bytes().splitlines()) + 1
    assert all(fault.location.path == "a.fc.yaml" and 1 <= fault.location.line <= lines for fault in found)
    return found


REFUSED: dict[str, tuple[str | bytes, str, str]] = {
    "repeats of repeats": (value("{$regex: '(a{9999}){9999}'}"), "bad-operand", "more than 20,000 characters"),
    "repeats of repeats of repeats": (value("{$regex: '(((a{50}){50}){50}){50}'}"), "bad-operand", "20,000"),
    "one repeat": (value("{$regex: 'a{999999999}'}"), "bad-operand", "20,000"),
    "a number of repeats without an end": (value("{$regex: 'a{" + "9" * 9_000 + "}'}"), "bad-operand", "20,000"),
    "repeats behind a comment": (value('{$regex: "(?x) # [\\n (a{999}){999} # ]"}'), "bad-operand", "20,000"),
    "repeats behind a set": (value("{$regex: '[[]{2}(a{999}){999}'}"), "bad-operand", "20,000"),
    "groups in groups": (value("{$regex: '" + "(" * 4_000 + ")" * 4_000 + "'}"), "bad-operand", "valid"),
    "a long expression": (value("{$regex: '" + "a" * 10_001 + "'}"), "bad-operand", "longer than 10,000"),
    "operators, 95 deep": (value(nested("{$not: ", "}", 95)), "too-deep", "100 levels"),
    "operators in lists, 95 deep": (value(nested("{$any: [", "]}", 48)), "too-deep", "100 levels"),
    "brackets": ("cases: " + "[" * 100_000, "too-deep", "100 levels"),
    "braces": ("cases: " + "{a: " * 100_000, "too-deep", "100 levels"),
    "keys that ask": ("? " * 100_000, "too-deep", "100 levels"),
    "aliases of aliases": (
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
        "too-large",
        "more than 1,000,000 values",
    ),
    "merges of merges": (
        "a0: &a0 {k: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)),
        "too-large",
        "more than 1,000,000 values",
    ),
    "an integer of 10,000 digits": (value("1" * 10_000), "wrong-value", "too many digits"),
    "a hexadecimal of 10,000 digits": (value("0x" + "f" * 10_000), "wrong-value", "too many digits"),
    "a float beyond all": (value("1e999999"), "wrong-value", "not a JSON number"),
    "a float below all": (value("-1e999999"), "wrong-value", "not a JSON number"),
    "no number": (value(".nan"), "wrong-value", "not a JSON number"),
    "an infinity": (value("-.inf"), "wrong-value", "not a JSON number"),
    "a day that is none": (value("{$date: '9999-99-99'}"), "bad-operand", "is not a day"),
    "a year that is none": (value("{$date: '0000-01-01'}"), "bad-operand", "is not a day"),
    "a time that is none": (f"{TOOL}defaults: {{now: 99999-01-01}}\ncases: []", "bad-now", "is not a date and time"),
    "a key twice": (TOOL + TOOL + "cases: [{id: a, prompt: a, expect: no_call}]", "duplicate-key", "`tools`"),
    "a tab": ("cases:\n\t- id: a", "yaml", "a tab is not allowed"),
    "UTF-16": (value("1").encode("utf-16"), "not-utf-8", "UTF-16"),
    "UTF-16 without a mark": (value("1").encode("utf-16-le"), "not-text", "binary"),
    "UTF-32": (value("1").encode("utf-32"), "not-utf-8", "UTF-16"),
    "zeros": (b"cases:\0", "not-text", "binary"),
    "half of a pair": (b"cases: \xed\xa0\x80", "not-utf-8", "0xed"),
    "half of a pair as an escape": (value('"\\ud800"'), "yaml", "not a character"),
    "beyond Unicode": (value('"\\U00110000"'), "yaml", "not a character"),
    "a program as a tag": ('cases: !!python/object/apply:os.system ["id"]', "unknown-tag", "os.system"),
    "many documents": ("---\n" * 100_000, "yaml", "second document"),
    "references of references": (
        "tools:\n  - name: f\n    parameters:\n      properties: {x: {$ref: '#/$defs/a9'}}\n      $defs:\n"
        + "".join(
            f"        a{n}: {{anyOf: [{{$ref: '#/$defs/a{n + 1}'}}, {{$ref: '#/$defs/a{n + 1}'}}]}}\n"
            for n in range(9, 50)
        )
        + "        a50: {type: integer}\ncases: [{id: a, prompt: a, expect: [{f: {x: a}}]}]",
        "bad-tool",
        "more than 10,000 schemas",
    ),
    "repeats of repeats in a schema": (
        "tools: [{name: f, parameters: {properties: {x: {pattern: '(a{9999}){9999}'}}}}]\ncases: "
        "[{id: a, prompt: a, expect: [{f: {x: a}}]}]",
        "bad-tool",
        "not a valid regular expression",
    ),
    "a schema of this machine": (
        "tools: [{name: f, parameters: {properties: {x: {$ref: 'file:///etc/passwd'}}}}]\ncases: "
        "[{id: a, prompt: a, expect: [{f: {x: a}}]}]",
        "bad-tool",
        "not loaded",
    ),
}


@pytest.mark.parametrize(("content", "code", "told"), REFUSED.values(), ids=REFUSED)
def test_it_is_a_fault(tmp_path: Path, content: str | bytes, code: str, told: str) -> None:
    found = faults(content, tmp_path)
    assert code in {fault.code for fault in found}
    assert told in " ".join(fault.message for fault in found)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lambda: "".join(f"k{n}: 1\n" for n in range(1_100_000)), id="keys"),
        pytest.param(lambda: "cases:\n- [" + "1," * 2_100_000 + "]", id="items of a case"),
        pytest.param(lambda: "cases:\n  - id: a\n" + "    prompt: x\n" * 1_100_000, id="one key again and again"),
    ],
)
def test_more_values_than_can_be_held_are_a_fault(tmp_path: Path, content: Callable[[], str]) -> None:
    (fault,) = faults(content(), tmp_path)
    assert (fault.code, fault.message) == ("too-large", "there are more than 2,000,000 values")


@pytest.mark.nightly
def test_many_names_that_are_all_misspelt_are_compared_in_time(tmp_path: Path) -> None:
    tail = "x" * 40
    tools = "".join(f"  - {{name: tool_number_{n}_{tail}}}\n" for n in range(2_000))
    cases = "".join(f"  - {{id: c{n}, prompt: x, expect: [{{tool_numbr_{n}_{tail}: {{}}}}]}}\n" for n in range(200))
    found = faults(f"tools:\n{tools}cases:\n{cases}", tmp_path)
    assert found[7].hint == f"did you mean `tool_number_7_{tail}`?"


FINE = {
    "a byte order mark": "\ufeff" + value("1"),
    "operators, 90 deep": value(nested("{$not: ", "}", 90)),
    "a float with a million digits": value("0." + "1" * 1_000_000),
    "a float that is nearly nothing": value("1e-999999"),
    "dates in no calendar": f"defaults: {{now: 9999-12-31T23:59:59-23:59}}\n{value('{$date: +999999w}')}",
    "dates before all": f"defaults: {{now: 0001-01-01T00:00:00+23:59}}\n{value('{$date: -999999d}')}",
    "marks in a row": value(f"'{MARKS}'"),
    "counts of repeats that may be none": value("{$regex: '(?:a{0,9999}){0,9999}'}"),
    "counts side by side": value(r"{$regex: '(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}){20}'}"),
    "counts in a set": value("{$regex: '[a{9999}{9999}]{3}'}"),
    "counts that are written out": value(r"{$regex: '\(a{99}\){99}'}"),
}


@pytest.mark.parametrize("content", FINE.values(), ids=FINE)
def test_it_is_only_strange(tmp_path: Path, content: str) -> None:
    assert faults(content, tmp_path) == []


JUDGED: dict[str, tuple[Any, Json]] = {
    "a match that goes back for ever": ({"$regex": "(a+)+b"}, "a" * 5_000),
    "alternatives that are the same": ({"$regex": "(a|a)*b"}, "a" * 5_000),
    "marks in a row": ("abc", MARKS),
    "marks in a row, read": ({"$text": "abc"}, MARKS),
    "marks in a row, searched": ({"$contains": "abc"}, MARKS),
    "marks in a row, normalised": ({"$normalised": "abc"}, MARKS),
    "signs that stand for many": ({"$text": "abc"}, "\ufdfa" * 20_000),
    "number words": ({"$text": "abc"}, "one hundred and " * 20_000),
    "numbers": ({"$number": 5}, "1," * 100_000),
    "one number": ({"$number": 5}, "9" * 1_000_000),
    "a day beyond all": ({"$date": "+999999w"}, "2026-01-01"),
    "a year beyond all": ({"$date": "tomorrow"}, "99999-01-01"),
    "nearly infinite": ({"$approx": 1e308, "within": "50%"}, -1e308),
    "operators, 90 deep": (json.loads(nested('{"$each": ', "}", 90)), json.loads(nested("[", "]", 90))),
}


@pytest.mark.parametrize(("expected", "got"), JUDGED.values(), ids=JUDGED)
def test_it_is_judged_and_is_wrong(expected: Any, got: Json) -> None:
    tools = [Tool("f", parameters={"properties": {"x": {}}})]
    assert not judged([{"f": {"x": got}}], [{"f": {"x": expected}}], tools=tools).valid


def test_marks_in_a_row_are_left_in_their_order_where_they_are_many() -> None:
    assert normal_form("NFC", "e\u0301" * 2_000) == "é" * 2_000
    assert normal_form("NFC", "a\u0300\u0316") == "à\u0316"
    assert normal_form("NFC", MARKS) == MARKS
    assert normal_form("NFKC", f"{'x' * 700}{MARKS}") == f"{'x' * 700}{MARKS}"
    assert normal_form("NFC", "a" + "\u0300\u0316" * 200) != "a" + "\u0300\u0316" * 200


@pytest.mark.parametrize("written", ["(", "a{2,1}", "(?P<n>", "\\", "[", "(?(1)", "*"])
def test_what_is_no_expression_is_a_value_error(written: str) -> None:
    with pytest.raises(ValueError, match="is not a valid regular expression"):
        compiled_expression(written)


def test_references_that_lead_on_and_on_are_refused() -> None:
    chain: dict[str, Json] = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(5_000)}
    parameters: dict[str, Json] = {"properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": {**chain, "a5000": {}}}
    with pytest.raises(SchemaError):
        tool_schema(Tool("f", parameters=parameters))


def test_references_in_a_circle_are_none_too_many() -> None:
    tree: Json = {"type": "object", "properties": {"l": {"$ref": "#/$defs/t"}, "r": {"$ref": "#/$defs/t"}}}
    parameters: dict[str, Json] = {
        "properties": {"x": {"$ref": "#/$defs/t"}},
        "$defs": {"t": {"anyOf": [tree, {"type": "null"}]}},
    }
    schema = tool_schema(Tool("f", parameters=parameters))
    assert schema.check({"x": {"l": {"l": None, "r": None}}}) == []
    assert schema.check({"x": {"l": {"l": 1}}})


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_a_line_without_an_end_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("gz"):
        with gzip.open(path, "wb", 1) as packed:
            for _ in range(80):
                packed.write(bytes(2**20))
    else:
        with path.open("wb") as file:
            file.truncate(20 * 2**30)
    with open_lines(path) as stream, pytest.raises(BrokenFile, match="a line is longer than 64 MiB"):
        list(read_lines(stream))


def test_a_document_that_is_packed_is_bounded_by_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fcall.suites.json_files.MOST_KEPT_BYTES", 2**20)
    path = tmp_path / "data.json.gz"
    path.write_bytes(gzip.compress(b" " * 2**21))
    with pytest.raises(OSError, match="larger than 1 MiB"):
        read_json(path)


def test_an_account_of_a_run_is_bounded_by_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "run.accounts.gz"
    with gzip.open(path, "wb", 1) as packed:
        packed.write(b'{"nodeid": "a"}\n')
        for _ in range(MOST_BYTES // 2**20 + 8):
            packed.write(bytes(2**20))
    assert list(read_accounts(path)) == [("a", {"nodeid": "a"})]
