"""What a case may ask for under `profile: bfcl`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cases.reading import TOOLS, case, faults

BFCL = f"{TOOLS}defaults: {{profile: bfcl}}\n"

KNOWN = {
    "no call": "no_call",
    "any call": "any_call",
    "plain values": "[{book: {flight: F7, seats: [1A, 1B], who: {name: Ola, age: 40}}}, ping: ]",
    "alternatives": "[{get_weather: {city: {$any: [Oslo, Bergen]}, days: {$optional: 3}}}]",
    "alternatives for the keys of an object": "[{book: {flight: F7, who: {name: {$any: [Ola, Kari]}}}}]",
    "a literal": "[{book: {flight: {$literal: $any}}}]",
}
BEYOND = {
    "`order: strict`": "{calls: [{get_weather: {city: Oslo}}], order: strict}",
    "`extra: allow`": "{calls: [{get_weather: {city: Oslo}}], extra: allow}",
    "`allow`": "{calls: [{get_weather: {city: Oslo}}], allow: [ping]}",
    "`never`": "{never: [ping]}",
    "`any_of`": "{any_of: [no_call, {calls: [ping: ]}]}",
    "`then`": "[ping: , then: [{get_weather: {city: Oslo}}]]",
    "`times` of `ping`": "[{ping: , times: 2}]",
    "`args: open` of `get_weather`": "[{get_weather: {city: Oslo}, args: open}]",
    "`$ignore` of `ping`": "[ping: {$ignore: true}]",
    "`$ignore` in `days` of `get_weather`": "[{get_weather: {city: Oslo, days: {$ignore: true}}}]",
    "`$regex` in `city` of `get_weather`": "[{get_weather: {city: {$optional: {$any: [Oslo, {$regex: B.*}]}}}}]",
    "`$any` in `seats` of `book`": "[{book: {flight: F7, seats: [{$any: [1A, 1B]}]}}]",
    "`$gt` in `who` of `book`": "[{book: {flight: F7, who: {name: Ola, age: {$gt: 30}}}}]",
}


@pytest.mark.parametrize("expect", KNOWN.values(), ids=KNOWN)
def test_what_the_official_checker_knows_may_be_asked_for(expect: str, tmp_path: Path) -> None:
    assert case(f"prompt: x\nexpect: {expect}", tmp_path, head=BFCL).rules.profile == "bfcl"


@pytest.mark.parametrize(("name", "expect"), BEYOND.items(), ids=BEYOND)
def test_what_it_has_no_rule_for_is_a_fault_that_names_it(name: str, expect: str, tmp_path: Path) -> None:
    (fault,) = faults(f"prompt: x\nexpect: {expect}", tmp_path, head=BFCL)
    assert (fault.code, fault.message) == ("beyond-bfcl", f"{name} is not supported by `profile: bfcl`")
    assert "plain values, `$any` and `$optional`" in fault.hint
    assert fault.source.startswith("    expect:")


@pytest.mark.parametrize("expect", BEYOND.values(), ids=BEYOND)
def test_the_profile_strict_knows_it(expect: str, tmp_path: Path) -> None:
    assert faults(f"prompt: x\nprofile: strict\nexpect: {expect}", tmp_path, head=BFCL) == ()


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("`match`", BFCL + 'match: {"*.city": {$ignore: true}}\n'),
        ("`never`", f"{TOOLS}defaults: {{profile: bfcl, never: [ping]}}\n"),
    ],
)
def test_rules_of_the_whole_file_are_not_passed_over_in_silence(name: str, head: str, tmp_path: Path) -> None:
    (fault,) = faults("prompt: x\nexpect: no_call", tmp_path, head=head)
    assert fault.message == f"{name} is not supported by `profile: bfcl`"
