from __future__ import annotations

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.rest import RecordedResponses, ResponseForm, form_of, request_of


def row(parameters: Json, response: Json, address: str = "https://sea.example/tides") -> dict[str, Json]:
    return {"sources": [f"requests.get(url={address!r}, params={parameters!r})"], "response": response}


def keys(*names: str) -> ResponseForm:
    return ResponseForm(False, (frozenset(names),))


def form(
    rows: list[dict[str, Json]], parameters: Json, address: str = "https://sea.example/tides"
) -> ResponseForm | None:
    return RecordedResponses(rows).form(request_of(f"requests.get(url={address!r}, params={parameters!r})"))


def test_a_recorded_request_has_its_recorded_response() -> None:
    rows = [row({"port": "Oslo"}, '{"high": 1}'), row({"port": "Rome"}, '{"low": 1}')]
    assert form(rows, {"port": "Oslo"}) == keys("high")
    assert form(rows, {"port": "Turku"}) is None
    assert form(rows, {"port": "Oslo"}, "https://sea.example/waves") is None


def test_where_all_responses_are_alike_others_have_their_form() -> None:
    rows = [row({"port": "Oslo"}, {"high": 1}), row({"port": "Rome", "unit": "m"}, {"high": 2})]
    assert form(rows, {"port": "Turku"}) == form(rows, {}) == keys("high")


def test_the_form_follows_from_the_parameters_that_explain_it() -> None:
    """A parameter that may explain it, too, has to be the same."""
    rows = [row({"lat": 1, "brief": 1}, {"high": 1}), row({"lat": 2}, {"high": 1, "note": ""})]
    assert form(rows, {"lat": 3}) == keys("high", "note")
    assert form(rows, {"lat": 3, "brief": 0}) == keys("high")
    by_value = [row({"as": "json"}, {"a": 1}), row({"as": "list"}, [{"a": 1}]), row({"as": "json", "x": 1}, {"a": 2})]
    assert form(by_value, {"as": "list", "x": 7}) == ResponseForm(True, (frozenset("a"),))
    assert form(by_value, {"as": "text"}) is None


def test_rows_without_a_request_or_a_response_tell_nothing() -> None:
    rows: list[dict[str, Json]] = [
        {"response": {"a": 1}},
        {"sources": ["requests.get()"], "response": {"a": 1}},
        row({}, "{"),
        row({}, 3),
        row({}, [1]),
    ]
    assert form(rows, {}) is None


def test_an_empty_list_is_no_empty_object() -> None:
    assert form_of([]) != form_of({})
    assert form_of("a") is None
