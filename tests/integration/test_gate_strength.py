"""The gate `strength`: what it bounds is known without any reply, wherever the cases run."""

from __future__ import annotations

import json

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.integration.command import fcall
from tests.integration.conftest import Shop

CASES = """
cases:
  - id: strong
    prompt: '[{"name": "get_weather", "arguments": {"city": "Paris"}}]'
    expect: [{get_weather: {city: Paris}}]
  - id: weak
    prompt: '[{"name": "get_weather", "arguments": {"city": "Rome"}}]'
    expect: [{get_weather: {city: {$type: string}}}]
  - id: judged
    prompt: Hello
    answer: {$judge: it is polite}
"""


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_the_strength_of_the_cases_is_bounded_and_the_weakest_are_named(shop: Shop, workers: str) -> None:
    shop.cases(CASES)
    result = shop.ask("--fc-gate=strength>=80% and strength>=99%", workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "weakest cases: weak * %; `fcall strength` says why",
            "gate strength>=80%  *holds: 1 case not measured",
            "gate strength>=99%  *does not hold: 1 case not measured",
        ]
    )


def test_without_such_a_gate_nothing_is_measured(shop: Shop) -> None:
    shop.cases(CASES)
    result = shop.ask("--fc-gate=accuracy>=10%")
    assert "weakest" not in result.stdout.str()
    (path,) = run_paths(shop.pytester.path)
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert all(row["strength"] is None for row in kept["results"]["results"])


def test_shards_are_merged_to_the_strength_of_the_whole(shop: Shop) -> None:
    shop.cases(CASES)
    shop.pytester.makeini("[pytest]\nfc_gates = strength >= 99%\n")
    for number in (1, 2):
        shop.ask(f"--fc-shard={number}/2")
    paths = [str(path) for path in run_paths(shop.pytester.path)]
    merged = fcall(shop.pytester.path, "merge", *paths)
    assert merged.returncode == 1
    (line,) = [line for line in merged.stdout.splitlines() if line.startswith("gate strength")]
    whole = shop.ask()
    assert line in whole.outlines


def test_cases_of_which_nothing_is_known_leave_it_inconclusive(shop: Shop) -> None:
    impossible = "{get_weather: {city: {$regex: '(?=x)y'}}}"
    shop.cases(f"cases:\n  - {{id: unknown, prompt: Hello, expect: {{any_of: [{{calls: [{impossible}]}}]}}}}\n")
    result = shop.ask("--fc-gate=strength>=10%")
    result.assert_outcomes(failed=1)
    assert result.ret == 10
    result.stdout.fnmatch_lines(["gate strength>=10%  -  inconclusive: the strength of no case is known"])
