from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from pytest_fcall.conversation.environments.context import HostRefused, Hosts, is_host
from pytest_fcall.conversation.environments.http import HttpRequest, NotSendable, http_request_of
from pytest_fcall.core import Call, Json, Tool

JSON = {"Content-Type": "application/json"}


def operation(parameters: dict[str, Json], **more: Json) -> Tool:
    sending: dict[str, Json] = {"method": "post", "path": "/x", "parameters": parameters, **more}
    return Tool("x", origin={"openapi": sending})


def request(tool: Tool, arguments: dict[str, Json]) -> HttpRequest:
    return http_request_of(Call(tool.name, arguments), tool, "http://a.example/v1/")


@pytest.mark.parametrize(
    ("style", "value", "query"),
    [
        ({}, "a b", "q=a+b"),
        ({}, True, "q=true"),
        ({}, 1.5, "q=1.5"),
        ({}, None, ""),
        ({}, [1, "b"], "q=1&q=b"),
        ({}, [], ""),
        ({"explode": False}, [1, "b"], "q=1%2Cb"),
        ({"style": "pipeDelimited"}, ["a", "b"], "q=a%7Cb"),
        ({"style": "spaceDelimited"}, ["a", "b"], "q=a+b"),
        ({}, {"from": 1, "to": 2}, "from=1&to=2"),
        ({"explode": False}, {"from": 1, "to": 2}, "q=from%2C1%2Cto%2C2"),
        ({"style": "deepObject", "explode": True}, {"from": 1}, "q%5Bfrom%5D=1"),
        ({"media_type": "application/json"}, {"from": [1]}, "q=%7B%22from%22%3A+%5B1%5D%7D"),
    ],
)
def test_values_stand_in_a_query_as_the_document_says(style: dict[str, Json], value: Json, query: str) -> None:
    tool = operation({"q": {"in": "query", "name": "q", **style}})
    assert request(tool, {"q": value}).url.partition("?")[2] == query


def test_an_argument_goes_by_the_name_on_the_wire() -> None:
    tool = operation({"query_id": {"in": "query", "name": "id"}, "header_id": {"in": "header", "name": "id"}})
    assert request(tool, {"query_id": 1, "header_id": [2, 3]}) == HttpRequest(
        "POST", "http://a.example/v1/x?id=1", {"id": "2,3"}
    )


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", '{"name": "a b", "n": [1, 2]}'),
        ("application/x-www-form-urlencoded", "name=a+b&n=1&n=2"),
        ("application/vnd.api+json; v=1", '{"name": "a b", "n": [1, 2]}'),
    ],
)
def test_a_body_is_written_in_its_media_type(kind: str, body: str) -> None:
    tool = operation({"name": {"in": "body", "name": "name"}}, media_type=kind)
    assert request(tool, {"name": "a b", "n": [1, 2]}) == HttpRequest(
        "POST", "http://a.example/v1/x", {"Content-Type": kind}, body
    )


def test_a_body_may_be_one_argument() -> None:
    tool = operation({"body": {"in": "body", "name": "body", "whole": True}}, media_type="application/json")
    assert request(tool, {"body": [1]}) == HttpRequest("POST", "http://a.example/v1/x", JSON, "[1]")


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        (operation({}), {"y": 1}, "`x` has no argument `y`"),
        (operation({}, path="/x/{id}"), {}, "the argument `id` is missing"),
        (operation({"id": {"in": "path", "name": "id"}}, path="/x/{id}"), {"id": ".."}, "cannot be a part of a path"),
        (operation({"id": {"in": "path", "name": "id"}}, path="/x/{id}"), {"id": ""}, "cannot be a part of a path"),
        (operation({"h": {"in": "header", "name": "h"}}), {"h": "a\r\nHost: b"}, "contains a character"),
        (operation({"h": {"in": "header", "name": "Host"}}), {"h": "b.example"}, "`Host` is not a header"),
        (operation({"q": {"in": "query", "name": "q"}}), {"q": float("nan")}, "are not JSON"),
        (operation({}, media_type="application/json"), {"q": float("inf")}, "are not JSON"),
        (operation({}, media_type="multipart/form-data"), {"q": 1}, "multipart/form-data is not supported"),
        (Tool("search"), {}, "`search` is not a request"),
        (Tool("requests.get"), {"url": 7}, "a request needs `url`"),
        (Tool("requests.get"), {"url": "http://a.example", "auth": ["me", "pw"]}, "nothing else"),
        (Tool("requests.get"), {"url": "http://a.example", "headers": {"A:B": "c"}}, "`A:B` is not a header"),
        (Tool("GET /x/{id}"), {}, "the argument `id` is missing"),
    ],
)
def test_what_is_no_request_is_told_in_words(tool: Tool, arguments: dict[str, Json], told: str) -> None:
    with pytest.raises(NotSendable) as refused:
        request(tool, arguments)
    assert told in str(refused.value)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(_VALUES)
def test_no_argument_leads_out_of_its_place_in_the_path(value: Json) -> None:
    tool = operation({"id": {"in": "path", "name": "id"}}, path="/pets/{id}/name")
    try:
        url = URL(request(tool, {"id": value}).url)
    except NotSendable:
        return
    assert url.host == "a.example"
    assert url.raw_path.startswith("/v1/pets/")
    assert url.raw_path.endswith("/name")
    assert url.raw_path.count("/") == 4
    assert not url.raw_query_string


@given(_VALUES, st.sampled_from(["query", "header", "body", "path"]), st.sampled_from(["", "application/json"]))
def test_any_value_makes_a_request_or_is_refused_in_words(value: Json, place: str, kind: str) -> None:
    tool = operation({"v": {"in": place, "name": "v"}}, path="/x/{v}" if place == "path" else "/x", media_type=kind)
    with suppress(NotSendable):
        assert request(tool, {"v": value}).url.startswith("http://a.example/v1/x")


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://a.example/x", "a.example"),
        ("https://A.Example/x", "a.EXAMPLE"),
        ("http://a.example:8000", "a.example:8000"),
        ("http://a.example:8000", "a.example:*"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("http://bücher.example", "xn--bcher-kva.example"),
    ],
)
def test_a_host_is_allowed_by_name_and_port(url: str, allowed: str) -> None:
    assert is_host(allowed)
    Hosts((allowed,)).check(URL(url))
    with pytest.raises(HostRefused):
        Hosts().check(URL(url))


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://a.example:8000", "a.example"),
        ("http://a.example:8000", "a.example:8001"),
        ("http://b.a.example", "a.example"),
        ("http://a.example.evil.example", "a.example"),
        ("http://a.example@evil.example", "a.example"),
        ("http://a.example:80@evil.example", "a.example"),
        ("http://evil.example#a.example", "a.example"),
        ("http://evil.example\\@a.example", "evil.example"),
        ("http://127.0.0.1", "localhost"),
        ("http://0x7f000001", "127.0.0.1"),
        ("file:///etc/passwd", "a.example"),
        ("//a.example/x", "a.example"),
        ("gopher://a.example", "a.example:*"),
    ],
)
def test_what_only_looks_like_an_allowed_host_is_refused(url: str, allowed: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Hosts((allowed,)).check(URL(url))


@pytest.mark.parametrize("text", ["", "http://a.example", "a.example/x", "a b", "user@a.example", "a:b", "::1"])
def test_what_names_no_host(text: str) -> None:
    assert not is_host(text)
