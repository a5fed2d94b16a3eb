from __future__ import annotations

import pytest

from pytest_fcall.suites.apibench.original_rule import extract_call_text


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("'api_call': 'hub.load(1)', 'api_provider': 'x'", "'hub.load(1)"),
        ("<<<api_call>>>: hub.load('u')\n<<<api_provider>>>: TF", "hub.load('u')"),
        ("<<<api_call>>> foo(1)", "> foo(1)"),
        ("api_call: f(1) and more", "f(1)"),
        ("api_call: f(1), api_call: g(2)", "f(1)"),
        ("api_call: no bracket", "no bracke"),
        ("api_call", ""),
        ("api_call) x: y", ""),
    ],
)
def test_the_field_is_cut_out_where_the_original_cuts(answer: str, code: str) -> None:
    assert extract_call_text(answer, whole=False) == code
    assert extract_call_text(answer, whole=True) == code


def test_without_a_field_the_whole_answer_is_judged_or_none_of_it() -> None:
    assert extract_call_text("hub.load('u')", whole=True) == "hub.load('u')"
    assert extract_call_text("hub.load('u')", whole=False) is None
