"""Mistakes outside the cases, and files that cannot be read. The mark `»` is where the fault must be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.scope import Extensions
from tests.unit.cases.reading import TOOLS, all_faults, ids, marked, read, with_cases

_FINE = "id: fine\nprompt: Hello?\nexpect: no_call"
_UNREADABLE = {
    "empty file": ("»", "no-cases", "the file is empty"),
    "only comments": ("»# nothing\n", "no-cases", "the file is empty"),
    "list at the top": ("»- a\n- b\n", "no-cases", "a mapping with `cases:`, not a list"),
    "text at the top": ("»hello\n", "no-cases", "not a string"),
    "no cases": ("»case:\n  - id: x\n", "no-cases", "no `cases:`"),
    "tab": ("cases:\n»\t- id: x\n", "yaml", "a tab is not allowed here"),
    "open quote": ("cases:\n  - id: »'x\n", "yaml", "not closed"),
    "open list": ("cases: [{id: x},\n»", "yaml", "a bracket above is not closed"),
    "colon in a text": ("cases:\n  - id: x\n    prompt: Note»: this\n", "yaml", "unexpected `:`"),
    "unknown alias": ("cases:\n  - id: »*x\n", "yaml", "the alias `*x` has no anchor"),
    "open list that more follows": ("cases: »[{id: x}\ntools: []\n", "yaml", "this list is not closed"),
    "escape": ('cases:\n  - id: "»\\q"\n', "yaml", "unknown escape"),
    "same anchor twice": ("cases:\n  - &a {id: x}\n  - »&a {id: y}\n", "yaml", "duplicate anchor"),
    "anchor in itself": ("cases: »&a\n  - {id: *a}\n", "yaml", "an alias of itself"),
    "second document": ("cases: []\n»---\ncases: []\n", "yaml", "second document"),
    "text may not begin so": ("cases:\n  - prompt: »@you\n", "yaml", "must not begin with `@`"),
    "misplaced item": ("cases:\n  - id: x\n  »b: 1\n", "yaml", "expected `- `"),
    "tag that does not fit a list": ("cases: »!!int [1]\n", "yaml", "the tag `!!int` does not fit here"),
    "tag that does not fit a text": ("cases: »!!seq a\n", "yaml", "the tag `!!seq` does not fit here"),
    "conflict": (
        "cases:\n»<<<<<<< HEAD\n  - id: x\n=======\n  - id: y\n>>>>>>> other\n",
        "merge-conflict",
        "an unresolved merge conflict",
    ),
    "conflict inside a case": (
        "cases:\n  - id: x\n    prompt: |\n»<<<<<<< HEAD\n      a\n=======\n      b\n>>>>>>> other\n",
        "merge-conflict",
        "an unresolved merge conflict",
    ),
    "control character": ("cases:\n  - id: a»\x07\n", "not-text", "\\x07"),
}


@pytest.mark.parametrize(("text", "code", "message"), _UNREADABLE.values(), ids=_UNREADABLE)
def test_a_file_that_cannot_be_read_says_why_and_where(tmp_path: Path, text: str, code: str, message: str) -> None:
    text, line, column = marked(text)
    with pytest.raises(UnreadableFile) as unreadable:
        read(text, tmp_path)
    fault = unreadable.value.fault
    assert message in fault.message
    assert (fault.code, fault.location.line, fault.location.column) == (code, line, column)
    assert fault.source == text.split("\n")[line - 1]
    assert f"shop.fc.yaml:{line}:{column}: " in str(unreadable.value)


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        pytest.param(b"cases:\0\x01\x02", "not-text", "binary", id="zeros"),
        pytest.param(b"\x89PNG\r\n\x1a\n\0", "not-text", "binary", id="picture"),
        pytest.param("cases: []".encode("utf-16"), "not-utf-8", "UTF-16", id="utf-16"),
        pytest.param("cases: [München]".encode("latin-1"), "not-utf-8", "byte 0xfc", id="latin-1"),
        pytest.param(b"cases: [" + b"[" * 200_000, "too-deep", "nested deeper than 100 levels", id="brackets"),
        pytest.param(b"cases:\n" + b"- " * 5000 + b"x", "too-deep", "nested deeper than 100 levels", id="dashes"),
        pytest.param(b"\xff" * 1000, "not-utf-8", "0xff", id="no text at all"),
    ],
)
def test_what_is_no_utf8_text_or_too_deep_is_said_in_words(
    tmp_path: Path, data: bytes, code: str, message: str
) -> None:
    path = tmp_path / "shop.fc.yaml"
    path.write_bytes(data)
    with pytest.raises(UnreadableFile) as unreadable:
        read_case_file(path, root=tmp_path)
    assert unreadable.value.fault.code == code
    assert message in unreadable.value.fault.message


def test_the_parsers_own_limit_of_depth_is_told_as_ours(tmp_path: Path) -> None:
    path = tmp_path / "shop.fc.yaml"
    path.write_text("cases: " + "[" * 2000, "utf-8")
    with pytest.raises(UnreadableFile) as unreadable:
        read_case_file(path, root=tmp_path)
    assert (unreadable.value.fault.code, unreadable.value.fault.hint) == ("too-deep", "")


def test_a_file_that_is_not_there_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_case_file(tmp_path / "gone.fc.yaml", root=tmp_path)


def test_a_file_beyond_the_limit_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.fc.yaml"
    with path.open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(UnreadableFile, match="larger than 64 MiB"):
        read_case_file(path, root=tmp_path)


@pytest.mark.parametrize("below", ["", "defaults: {tags: [late]}\n"])
def test_aliases_that_stand_for_more_than_a_million_values_are_refused(tmp_path: Path, below: str) -> None:
    layers = "".join(f"      - &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]\n" for i in range(1, 9))
    text = f"cases:\n  - id: x\n    prompt:\n      - &l0 [a, b]\n{layers}{below}"
    (fault,) = all_faults(text, tmp_path)
    assert fault.code == "too-large"
    assert "more than 1,000,000 values" in fault.message


@pytest.mark.parametrize("below", ["", "defaults: {tags: [late]}\n"])
def test_aliases_that_nest_too_deep_are_refused(tmp_path: Path, below: str) -> None:
    layers = "".join(f"  - &l{i} [*l{i - 1}]\n" for i in range(1, 3000))
    (fault,) = all_faults(f"cases:\n  - &l0 [a]\n{layers}{below}", tmp_path)
    assert fault.code == "too-deep"


def test_without_libyaml_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pytest_fcall.cases.yaml.composer", raising=False)
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    (fault,) = all_faults("cases: []", tmp_path)
    assert fault.code == "no-libyaml"
    assert "pip install" in fault.hint


@pytest.mark.parametrize("text", ["\ufeff" + with_cases(_FINE), with_cases(_FINE).replace("\n", "\r\n")])
def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path, text: str) -> None:
    assert ids(read(text, tmp_path).entries) == {"fine": True}


def test_places_are_right_in_a_file_with_windows_line_ends(tmp_path: Path) -> None:
    text, line, column = marked(with_cases(_FINE + "\n»promt: x"))
    (fault,) = all_faults("\ufeff" + text.replace("\n", "\r\n"), tmp_path)
    assert (fault.location.line, fault.location.column) == (line, column)
    assert fault.source == "    promt: x"


_ABOUT_ALL = {
    "unknown key of the file": ("»tool: []\n", "unknown-key", "`tool`"),
    "duplicate key of the file": ("defaults: {}\n»defaults: {}\n", "duplicate-key", "`defaults`"),
    "tools that are no list": ("tools: »{name: f}\n", "wrong-type", "`tools` must be a list"),
    "tool without a name": ("tools:\n  - »{parameters: {type: object}}\n", "bad-tool", "name"),
    "no source of tools": ("tools:\n  - {»pyhton: shop}\n", "unknown-key", "unknown tool source"),
    "entry that is no mapping": ("tools:\n  - »shop.tools\n", "wrong-type", "a mapping"),
    "unknown key beside a source": ("tools:\n  - {file: t.json, »onyl: [a]}\n", "unknown-key", "`onyl`"),
    "schema that is none": (
        "tools:\n  - {name: f, parameters: {type: object, properties: {a: {type: »strin}}}}\n",
        "bad-tool",
        "strin",
    ),
    "two tools of one name": ("tools:\n  - {name: f}\n  - {name: »f}\n", "duplicate-tool", "shop.fc.yaml:2"),
    "empty file of tools": ("tools:\n  - file: »empty.json\n", "bad-file", "`empty.json` is empty"),
    "empty entry": ("tools:\n  - »{}\n", "bad-tool", ""),
    "place in a file of tools": ("tools:\n  - file: »odd.json\n", "bad-tool", "[1].parameters"),
    "missing file of tools": ("tools:\n  - file: »no.json\n", "missing-file", "`no.json`"),
    "broken file of tools": ("tools:\n  - file: »broken.json\n", "bad-file", "broken.json"),
    "broken YAML of tools": ("tools:\n  - file: »broken.yaml\n", "bad-file", "broken.yaml:2:1"),
    "module that is not there": ("tools:\n  - python: »no_such_module_here:f\n", "bad-tool", "no_such_module_here"),
    "module that exits": ("tools:\n  - python: »exits_at_import\n", "bad-tool", ""),
    "empty python": ("tools:\n  - python: »''\n", "wrong-value", "`python` is empty"),
    "prefix": ("tools:\n  - {file: tools.json, as: »'a b'}\n", "wrong-value", "`a b`"),
    "python that is no text": ("tools:\n  - python: »7\n", "wrong-type", "a string"),
    "server that was not asked": (
        "tools:\n  - mcp: »{url: 'http://127.0.0.1:1/'}\n",
        "not-locked",
        "shop.tools.lock.json",
    ),
    "server without an address": ("tools:\n  - mcp: »{env: {}}\n", "missing-key", "`command` or a `url`"),
    "document that was not asked": ("tools:\n  - openapi: »https://example.org/pets\n", "not-locked", "lock"),
    "unknown tool in only": ("tools:\n  - {file: tools.json, only: [»sendd]}\n", "unknown-tool", "`sendd`"),
    "unknown operation": ("tools:\n  - {openapi: »api.yaml, operations: [nope]}\n", "bad-tool", "nope"),
    "source that fails": ("tools:\n  - mine: »7\n", "bad-tool", "seven is not good\\x1b"),
    "defaults that are no mapping": ("defaults: »[]\n", "wrong-type", "`defaults` must be a mapping"),
    "unknown key of the defaults": ("defaults: {»sytem: x}\n", "unknown-key", "`sytem`"),
    "default tag": ("defaults: {tags: [»skip]}\n", "reserved-tag", "`skip`"),
    "default clock": ("defaults: {now: »noon}\n", "bad-now", "`noon`"),
    "default system": ("defaults: {system: »'{now:%Q}'}\n", "bad-now", "%Q"),
    "default never": (TOOLS + "defaults: {never: [»pong]}\n", "unknown-tool", "`pong`"),
    "match that is no mapping": ("match: »[]\n", "wrong-type", "`match` must be a mapping"),
    "match rule": ("match: {'*.city': »exact}\n", "wrong-type", "a rule must be an operator"),
    "misspelt strings of a rule": ("match: {'*.city': {strings: »exakt}}\n", "wrong-value", "`exakt`"),
    "missing include": ("include: »no.tools.yaml\n", "missing-file", "`no.tools.yaml`"),
    "include of itself": ("include: [»shop.fc.yaml]\n", "bad-file", "includes itself"),
}


def _seven(spec: object, folder: Path) -> list[object]:
    raise ValueError("seven is\n  not good\x1b")


@pytest.mark.parametrize(("head", "code", "message"), _ABOUT_ALL.values(), ids=_ABOUT_ALL)
def test_a_mistake_about_all_cases_makes_each_of_them_faulty(
    tmp_path: Path, head: str, code: str, message: str
) -> None:
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("[", encoding="utf-8")
    (tmp_path / "empty.json").write_text("null", encoding="utf-8")
    (tmp_path / "odd.json").write_text('[{"name": "a"}, {"name": "b", "parameters": 7}]', encoding="utf-8")
    (tmp_path / "tools.json").write_text('[{"name": "send"}]', encoding="utf-8")
    (tmp_path / "api.yaml").write_text("openapi: 3.1.0\ninfo: {}\npaths: {}\n", encoding="utf-8")
    (tmp_path / "exits_at_import.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    text, line, column = marked(with_cases(_FINE, _FINE.replace("fine", "other"), head=head))
    found = read(text, tmp_path, Extensions(tool_sources={"mine": _seven}))  # type: ignore[dict-item]  # it gives nothing
    (fault,) = [fault for fault in found.faults if fault.code == code]
    assert (fault.location.path, fault.location.line, fault.location.column) == ("shop.fc.yaml", line, column)
    assert message in fault.message
    assert ids(found.entries) == {"fine": False, "other": False}


def test_a_mistake_in_a_default_concerns_only_the_cases_that_use_it(tmp_path: Path) -> None:
    own = _FINE.replace("fine", "own") + "\nsystem: Be kind."
    found = read(with_cases(_FINE, own, head="defaults: {system: [no, text]}\n"), tmp_path)
    assert ids(found.entries) == {"fine": False, "own": True}


def test_a_mistake_in_a_default_that_no_case_uses_is_an_item_of_its_own(tmp_path: Path) -> None:
    own = _FINE + "\nsystem: Be kind."
    found = read(with_cases(own, head="defaults: {system: [no, text]}\n"), tmp_path)
    assert ids(found.entries) == {"fine": True, "defaults": False}
    assert [fault.location.line for fault in found.faults] == [1]


def test_a_broken_tool_leaves_cases_alone_that_surely_do_not_need_it(tmp_path: Path) -> None:
    head = TOOLS + "  - {name: bad, parameters: 7}\n"
    only = _FINE.replace("fine", "only") + "\ntools: {only: [ping]}"
    found = read(with_cases(_FINE, only, head=head), tmp_path)
    assert ids(found.entries) == {"fine": False, "only": True}


def test_with_a_broken_tool_other_unknown_tools_are_not_held_against_a_case(tmp_path: Path) -> None:
    head = "tools:\n  - {name: bad, parameters: 7}\n"
    found = read(with_cases("id: a\nprompt: x\nexpect: [bad: ]", head=head), tmp_path)
    assert [fault.code for fault in found.faults] == ["bad-tool"]


_LISTS = {
    "tools: »shop:get_weather\n": "write `- python: shop:get_weather`",
    "tools: »tools.json\n": "write `- file: tools.json`",
    "tools: »shop\n": "begin each source, and each tool, with `- `",
    "tools:\n  - »shop.desk:Desk.book\n": "write `- python: shop.desk:Desk.book`",
}


@pytest.mark.parametrize(("text", "hint"), _LISTS.items(), ids=ascii)
def test_a_text_in_the_place_of_tools_is_followed_by_the_source_that_it_may_mean(
    tmp_path: Path, text: str, hint: str
) -> None:
    text, line, column = marked(text + "cases:\n  - {id: x, prompt: Hi, expect: no_call}\n")
    (fault,) = read(text, tmp_path).faults
    assert (fault.location.line, fault.location.column, fault.hint) == (line, column, hint)


def test_a_text_in_the_place_of_cases_is_not_to_be_put_into_brackets(tmp_path: Path) -> None:
    assert [fault.hint for fault in read("cases: hello\n", tmp_path).faults] == ["begin each case with `- `"]


def test_a_mistake_in_an_included_file_is_placed_there(tmp_path: Path) -> None:
    text, line, column = marked("tools:\n  - {name: f, parameters: {type: »objec}}\n")
    (tmp_path / "all.tools.yaml").write_text(text, encoding="utf-8")
    (fault,) = all_faults(with_cases(_FINE, head="include: all.tools.yaml\n"), tmp_path)
    assert (fault.location.path, fault.location.line, fault.location.column) == ("all.tools.yaml", line, column)
    assert fault.source == text.splitlines()[1]


def test_an_included_file_that_is_no_yaml_makes_the_cases_faulty(tmp_path: Path) -> None:
    (tmp_path / "all.tools.yaml").write_text("tools: [", encoding="utf-8")
    found = read(with_cases(_FINE, head="include: all.tools.yaml\n"), tmp_path)
    assert [(fault.code, fault.location.path) for fault in found.faults] == [("yaml", "all.tools.yaml")]
    assert ids(found.entries) == {"fine": False}


def test_files_may_include_one_another_without_end_only_once(tmp_path: Path) -> None:
    (tmp_path / "a.tools.yaml").write_text("include: b.tools.yaml\n", encoding="utf-8")
    (tmp_path / "b.tools.yaml").write_text("include: a.tools.yaml\n", encoding="utf-8")
    (fault,) = all_faults(with_cases(_FINE, head="include: a.tools.yaml\n"), tmp_path)
    assert (fault.code, fault.location.path) == ("bad-file", "b.tools.yaml")


_IDS = {
    "missing": ("»prompt: x\nexpect: no_call", "missing-key", "case_1"),
    "colons": ("id: »'a::b'\nprompt: x\nexpect: no_call", "bad-id", "a__b"),
    "brackets": ("id: »'a[b]'\nprompt: x\nexpect: no_call", "bad-id", "a_b_"),
    "line break": ('id: »"a\\nb"\nprompt: x\nexpect: no_call', "bad-id", "a_b"),
    "empty": ("id: »''\nprompt: x\nexpect: no_call", "bad-id", "case_1"),
    "nothing": ("id:» \nprompt: x\nexpect: no_call", "wrong-type", "case_1"),
    "number": ("id: »7\nprompt: x\nexpect: no_call", "wrong-type", "case_1"),
    "space": ("id: »' a'\nprompt: x\nexpect: no_call", "bad-id", "a"),
    "long": (f"id: »{'a' * 300}\nprompt: x\nexpect: no_call", "bad-id", "a" * 200),
    "no mapping": ("»just text", "wrong-type", "case_1"),
    "empty mapping": ("»{}", "missing-key", "case_1"),
}


@pytest.mark.parametrize(("text", "code", "name"), _IDS.values(), ids=_IDS)
def test_a_case_without_a_usable_id_gets_a_name_to_be_told_by(tmp_path: Path, text: str, code: str, name: str) -> None:
    text, line, column = marked(with_cases(text, "id: other\nprompt: x\nexpect: no_call"))
    found = read(text, tmp_path)
    assert ids(found.entries) == {name: False, "other": True}
    (fault,) = found.faults
    assert (fault.code, fault.location.line, fault.location.column) == (code, line, column)


def test_of_two_cases_with_one_id_the_first_runs_and_the_second_tells_where_it_is(tmp_path: Path) -> None:
    found = read(with_cases(_FINE, _FINE), tmp_path)
    (fault,) = found.faults
    first, second = found.entries
    assert ids(found.entries) == {"fine": True, f"fine@{second.location.line}": False}
    assert fault.code == "duplicate-id"
    assert f"first used in line {first.location.line}" in fault.message


def test_all_mistakes_of_a_file_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = with_cases(
        "id: a\nprompt: x\nexpect: [{pong: {}}]\nmax_step: 3",
        "id: b\nprompt: x\nexpect: [{book: {fligt: F7, seats: A}}]",
        _FINE,
        head=TOOLS + "match: {'*.x': 1}\n",
    )
    found = read(text, tmp_path)
    assert [fault.code for fault in found.faults] == [
        "wrong-type",
        "unknown-tool",
        "unknown-key",
        "unknown-argument",
        "forbidden-value",
    ]
