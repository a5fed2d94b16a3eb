from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.faulty_results import KINDS
from pytest_fcall.core import Case
from pytest_fcall.core.result_fault import ResultFault
from tests.unit.cases.reading import NOTHING, TOOLS, faults, read, with_cases

ASKED = "prompt: Weather in Oslo?\nexpect: [{get_weather: {city: Oslo}}]"


def with_faults(text: str, folder: Path, *, head: str = TOOLS) -> list[Case]:
    """The case and the same with each fault."""
    found = read(with_cases(f"id: it\n{text}", head=head), folder, NOTHING)
    assert found.faults == ()
    return [entry for entry in found.entries if isinstance(entry, Case)]


def test_a_case_is_asked_as_it_is_and_with_each_kind(tmp_path: Path) -> None:
    plain, *others = with_faults(f"{ASKED}\nfaults: {{tool: get_weather}}", tmp_path)
    assert plain.result_fault is None
    assert [each.id for each in others] == [f"it[fault={kind}]" for kind in KINDS]
    for each in others:
        assert (each.category, each.tags, each.mode, each.turns) == ("fault", ("fault",), "conversation", plain.turns)


def test_all_keys_are_read(tmp_path: Path) -> None:
    text = "{id: a, tool: get_weather, kind: error, times: always, recovery: [tells, {other_tool: book}], retries: 2, "
    _, only = with_faults(f"{ASKED}\nfaults: [{text}answer: Sorry, effect: true, message: no}}]", tmp_path)
    assert only.result_fault == ResultFault(
        "a.error", "error", ("get_weather",), None, ("tells", "other_tool"), ("book",), 2, "Sorry", True, "no"
    )


def test_defaults_concern_cases_that_may_call_the_tool(tmp_path: Path) -> None:
    head = f"{TOOLS}defaults: {{faults: {{tool: get_weather, kind: error}}}}\n"
    assert len(with_faults(ASKED, tmp_path, head=head)) == 2
    assert len(with_faults("prompt: Thanks!\nexpect: no_call", tmp_path, head=head)) == 1
    assert len(with_faults(f"{ASKED}\nfaults: none", tmp_path, head=head)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("never", "`faults` must be a mapping, a list of them, or `none`"),
        ("{kind: error}", "a fault needs a `tool`"),
        ("{tool: get_weather, kind: eror}", "`kind` cannot be `eror`"),
        ("{tool: get_weather, kind: []}", "`kind` is empty"),
        ("{tool: get_weather, times: often}", "`times` cannot be `often`"),
        ("{tool: get_weather, times: 0}", "`times`"),
        ("{tool: get_weather, recovery: []}", "`recovery` is empty"),
        ("{tool: get_weather, recovery: sleeps}", "`recovery` cannot be `sleeps`"),
        ("{tool: get_weather, recovery: {other_tool: 'b*'}}", "`other_tool` cannot be a glob"),
        ("{tool: get_weather, recovery: {other_tool: get_weather}}", "faulty itself"),
        ("{tool: get_weather, recovery: retries, times: always}", "no repetition can help"),
        ("{tool: get_weather, recovery: retries, times: 3, retries: 2}", "only 2 repetitions are right"),
        ("{tool: get_weather, kind: corrupt, message: no}", "a corrupt result has no `message`"),
        ("{tool: get_weather, kind: error, answer: {$from: a.args.b}}", "cannot use `$from`"),
        ("{tool: book, kind: error}", "no call of `book` is expected or allowed"),
        ("[{tool: get_weather, kind: error}, {tool: get_weather, kind: error}]", "two faults are named `error`"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    found = faults(f"{ASKED}\nfaults: {text}", tmp_path)
    assert any(message in each.message for each in found), [each.message for each in found]
