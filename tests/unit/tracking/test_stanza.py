from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from pytest_fcall.core import Call, Json
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest, parse_stanza, stanza_to_json
from tests.unit.tracking.stanzas import STANZAS


@given(STANZAS)
def test_a_stanza_survives_its_way_through_json(stanza: Stanza) -> None:
    assert parse_stanza(json.dumps(stanza_to_json(stanza))) == stanza


def test_what_is_empty_is_left_out() -> None:
    assert stanza_to_json(Stanza("oslo", True, calls=())) == {"case": "oslo", "valid": True, "calls": []}


def test_the_wires_id_of_a_call_is_not_kept() -> None:
    stanza = Stanza("oslo", True, calls=(Call("get_weather", {"city": "Oslo"}, "call_7f3"),))

    assert stanza_to_json(stanza)["calls"] == [{"name": "get_weather", "arguments": {"city": "Oslo"}}]


def test_tools_are_named_again_only_where_they_are_others() -> None:
    asked = [{"tool:a": "1"}, {"tool:a": "1", "system": "2"}, {}, {"tool:a": "1"}]
    stanza = Stanza("oslo", True, wire=tuple(StanzaRequest("m", (), digests) for digests in asked))
    kept: Any = stanza_to_json(stanza)["wire"]

    assert [request.get("tools", "as before") for request in kept] == [{"a": "1"}, "as before", {}, {"a": "1"}]
    assert [request.get("digests", "none") for request in kept] == ["none", {"system": "2"}, "none", "none"]
    assert parse_stanza(json.dumps({"case": "oslo", "valid": True, "wire": kept})) == stanza


def test_fields_of_later_versions_are_left_out() -> None:
    assert parse_stanza(json.dumps({"case": "oslo", "valid": True, "mood": "good"})) == Stanza("oslo", True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "the stanza is not a mapping"),
        ([], "the stanza is not a mapping"),
        ({}, "`case` is missing"),
        ({"case": 1, "valid": True}, "`case` is not a string"),
        ({"case": "oslo"}, "`valid` is missing"),
        ({"case": "oslo", "valid": 1}, "`valid` is not true or false"),
        ({"case": "oslo", "valid": True, "reasons": "no"}, "`reasons` is not a list"),
        ({"case": "oslo", "valid": True, "reasons": [["kind"]]}, "`reasons` must be a list of pairs"),
        ({"case": "oslo", "valid": True, "calls": {}}, "`calls` is not a list"),
        ({"case": "oslo", "valid": True, "calls": [7]}, "a call is not a mapping"),
        ({"case": "oslo", "valid": True, "calls": [{"arguments": {}}]}, "`name` is missing"),
        ({"case": "oslo", "valid": True, "calls": [{"name": "f", "arguments": "{}"}]}, "`arguments` is not a mapping"),
        ({"case": "oslo", "valid": True, "steps": [[1], [-1]]}, "`steps` must be a list of lists of numbers"),
        ({"case": "oslo", "valid": True, "wire": {}}, "`wire` is not a list"),
        ({"case": "oslo", "valid": True, "wire": ["m"]}, "a request of `wire` is not a mapping"),
        ({"case": "oslo", "valid": True, "wire": [{}]}, "`model` is missing"),
        ({"case": "oslo", "valid": True, "wire": [{"model": "m", "calls": 1}]}, "`calls` is not a list"),
        ({"case": "oslo", "valid": True, "wire": [{"model": "m", "tools": {"a": 1}}]}, "`tools` is not a mapping to"),
        ({"case": "oslo", "valid": True, "samples": [5, 3]}, r"`samples` must be \[right, asked"),
        ({"case": "oslo", "valid": True, "samples": [0, 0]}, r"`samples` must be \[right, asked"),
        ({"case": "oslo", "valid": True, "samples": [1, 10**400]}, r"`samples` must be \[right, asked"),
        ({"case": "oslo", "valid": True, "samples": [False, True]}, r"`samples` must be \[right, asked"),
        ({"case": "oslo", "valid": True, "digests": {"prompt": 7}}, "`digests` is not a mapping to strings"),
        ({"case": "oslo", "valid": True, "provenance": "home"}, "`provenance` is not a mapping"),
    ],
)
def test_what_is_no_stanza_is_refused_by_the_name_of_its_field(data: Json, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_stanza(json.dumps(data))


def test_a_stanza_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(ValueError, match="it is nested too deeply"):
        parse_stanza("[" * 100_000)


def test_a_case_that_was_asked_once_has_a_rate_of_all_or_nothing() -> None:
    assert Stanza("a", valid=True).rate == (1, 1)
    assert Stanza("a", valid=False).rate == (0, 1)
    assert Stanza("a", valid=False, samples=(2, 5)).rate == (2, 5)


def test_no_case_was_asked_more_often_than_numbers_are_read() -> None:
    assert parse_stanza(json.dumps({"case": "oslo", "valid": True, "samples": [1, 10**12]})).rate == (1, 10**12)
    with pytest.raises(ValueError, match=r"`samples` must be"):
        parse_stanza(json.dumps({"case": "oslo", "valid": True, "samples": [1, 10**12 + 1]}))


def test_a_forbidden_call_is_told_from_other_reasons() -> None:
    wrong = Stanza("a", valid=False, reasons=(("wrong_value", "calls[0].args.city"),))
    assert not wrong.has_forbidden_call
    assert wrong._replace(reasons=(*wrong.reasons, ("forbidden_call", "calls[1]"))).has_forbidden_call
